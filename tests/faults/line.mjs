// SPDX-License-Identifier: Apache-2.0
// line: a TCP connection's way through the harness, which can be cut, slowed and blocked, and whose
// far end can be another one.
import { once } from 'node:events'
import net from 'node:net'
import { pause } from '../e2e/until.mjs'

export class Line {
  #pairs = new Set()
  #delay = 0
  #refuses = false
  #deaf = false
  #server

  /** `port`: where it leads; may be set later. */
  constructor(port) {
    this.to = port
  }

  async open() {
    this.#server = net.createServer({ allowHalfOpen: true }, near => this.#connect(near)).listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = this.#server.address().port
    return this
  }

  #connect(near) {
    near.on('error', () => {})
    if (this.#refuses || !this.to) return near.resetAndDestroy()
    const far = net.connect({ port: this.to, host: '127.0.0.1', allowHalfOpen: true })
    const pair = { near, far }
    this.#pairs.add(pair)
    far.setNoDelay(true)
    near.setNoDelay(true)
    const over = () => {
      this.#pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    far.on('error', () => near.resetAndDestroy())
    for (const [from, to] of [[near, far], [far, near]]) {
      let before = Promise.resolve()
      const inOrder = what => (before = before.then(() => this.#delay && pause(this.#delay)).then(what))
      from.on('data', chunk => inOrder(() => !to.destroyed && !(to === near && this.#deaf) && to.write(chunk)))
      from.on('end', () => inOrder(() => to.end()))
      from.on('close', () => inOrder(over))
    }
  }

  /** Every connection dies; `refuse`: and no new one is made until mend(). */
  cut({ refuse = false } = {}) {
    this.#refuses = refuse
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy()
      far.resetAndDestroy()
    }
    this.#pairs.clear()
  }

  /** Each piece takes so much longer. */
  slow(ms) {
    this.#delay = ms
  }

  /** What is asked gets through, and no answer comes back. */
  deafen() {
    this.#deaf = true
  }

  /** Nothing gets through, and nobody is told. */
  block() {
    for (const { near, far } of this.#pairs) {
      near.pause()
      far.pause()
    }
  }

  mend() {
    this.#refuses = this.#deaf = false
    this.#delay = 0
    for (const { near, far } of this.#pairs) {
      near.resume()
      far.resume()
    }
  }

  close() {
    this.cut({ refuse: true })
    this.#server.close()
  }
}
