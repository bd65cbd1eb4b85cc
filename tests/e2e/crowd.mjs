// SPDX-License-Identifier: Apache-2.0
// crowd: senders of genuine wakes that go on until they are told to stop, each wake under an id of its
// own; and a count of what came of them, from both ends.
import { newWake } from './wakes.mjs'

const id = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/

export class Crowd {
  accepted = new Set() // ids that were answered 2xx
  begun = 0
  #going = true
  #flying = new Set()

  /** `deliver(wake, serial)` resolves when the wake is answered 2xx. */
  constructor(senders, deliver) {
    this.over = Promise.all(Array.from({ length: senders }, () => this.#send(deliver)))
    this.over.catch(() => (this.#going = false))
  }

  async #send(deliver) {
    while (this.#going) {
      const wake = newWake()
      const flight = deliver(wake, this.begun++)
      this.#flying.add(flight)
      await flight.finally(() => this.#flying.delete(flight))
      this.accepted.add(wake.delivery_id)
    }
  }

  /** Waits until all that fly now have landed. */
  landed() {
    return Promise.all([...this.#flying])
  }

  /** Waits until `count` more were answered than now. */
  async more(count) {
    const goal = this.accepted.size + count
    while (this.accepted.size < goal && this.#going) await this.landed()
    if (!this.#going) await this.over
  }

  stop() {
    this.#going = false
    return this.over
  }

  /** What the runtime's runs say: ids that were accepted and never ran, ids that ran twice. */
  count(runs) {
    const ran = new Map()
    for (const { request } of runs) {
      const [which] = id.exec(request.body)
      ran.set(which, (ran.get(which) ?? 0) + 1)
    }
    return {
      lost: [...this.accepted].filter(which => !ran.has(which)),
      doubled: [...ran].filter(([, times]) => times > 1).map(([which]) => which)
    }
  }
}
