// SPDX-License-Identifier: Apache-2.0
// raw_socket: exact bytes over a socket, and what comes back, taken apart but never repaired.
import net from 'node:net'
import { framed } from './wakes.mjs'

export const bytes = (...parts) => Buffer.concat(parts.flat().map(part => (Buffer.isBuffer(part) ? part : Buffer.from(part, 'latin1'))))

/** One request as bytes. `fields` are pairs, so that a name can come twice; `length: false` leaves
 * Content-Length out, `host: null` Host. */
export function rawRequest({ method = 'POST', target = '/wake/relay', version = 'HTTP/1.1', host = 'x', fields = [], body = '', length = true, eol = '\r\n' } = {}) {
  const content = Buffer.from(body)
  const lines = [`${method} ${target} ${version}`]
  if (host !== null) lines.push(`Host: ${host}`)
  for (const [name, value] of fields) lines.push(`${name}: ${value}`)
  if (length) lines.push(`Content-Length: ${content.length}`)
  return bytes(lines.map(line => line + eol), eol, content)
}

/** The parts of a request with a genuine wake, for rawRequest. */
export function genuine(dialect, wake, options) {
  const { headers, body } = framed(dialect, wake, options)
  return { fields: Object.entries(headers), body: Buffer.from(body) }
}

export const chunk = (data, size = Buffer.byteLength(data).toString(16)) => bytes(`${size}\r\n`, Buffer.from(data), '\r\n')
/** `body` in chunks of `size` bytes, with the end. */
export function chunked(body, size = 100) {
  const content = Buffer.from(body)
  const parts = []
  for (let at = 0; at < content.length; at += size) parts.push(chunk(content.subarray(at, at + size)))
  return bytes(parts, '0\r\n\r\n')
}

/** Takes one answer off the front of `data`: { answer, rest }, or undefined when it is not all there.
 * An answer to HEAD has no body. */
function takeAnswer(data, isHead, closed) {
  const end = data.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [line, ...lines] = data.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(line)?.[1])
  if (!status) throw new Error(`no status line: ${line}`)
  const headers = {}
  for (const text of lines) {
    const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? []
    if (!name) throw new Error(`no header: ${text}`)
    headers[name.toLowerCase()] = value
  }
  let rest = data.subarray(end + 4)
  const length = isHead || status < 200 ? 0 : headers['content-length'] === undefined ? undefined : Number(headers['content-length'])
  if (length === undefined ? !closed : rest.length < length) return undefined
  const text = rest.subarray(0, length ?? rest.length).toString()
  rest = rest.subarray(length ?? rest.length)
  let json
  try {
    json = JSON.parse(text)
  } catch {}
  return { answer: { status, headers, text, json }, rest }
}

export class RawSocket {
  answers = []
  interim = []
  closed = false
  #rest = Buffer.alloc(0)
  #heads = []
  #waiting = new Set()

  constructor(url) {
    const at = new URL(url)
    this.socket = net.connect({ host: at.hostname.replace(/^\[|\]$/g, ''), port: Number(at.port), allowHalfOpen: true })
    this.socket.on('data', data => this.#take(Buffer.concat([this.#rest, data])))
    this.socket.on('end', () => this.#over())
    this.socket.on('error', () => this.#over())
    this.socket.on('close', () => this.#over())
  }

  get connected() {
    return new Promise(resolve => (this.socket.connecting ? this.socket.once('connect', resolve).once('close', resolve) : resolve()))
  }

  write(data, { head = false } = {}) {
    if (head) this.#heads.push(this.answers.length)
    this.socket.write(data)
  }

  #take(data) {
    this.#rest = data
    for (;;) {
      const taken = takeAnswer(this.#rest, this.#heads.includes(this.answers.length), this.closed)
      if (!taken) break
      this.#rest = taken.rest
      ;(taken.answer.status < 200 && taken.answer.status !== 101 ? this.interim : this.answers).push(taken.answer)
    }
    this.#tell()
  }

  #over() {
    if (this.closed) return
    this.closed = true
    this.#take(this.#rest)
  }

  #tell() {
    for (const look of this.#waiting) look()
  }

  /** Waits until `condition(this)`; fails after `limit` ms. */
  until(condition, what, limit = 20_000) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(() => reject(new Error(`waited ${limit} ms in vain for ${what}; got ${JSON.stringify(this.answers)}`))), limit)
      const end = then => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        then()
      }
      const look = () => condition(this) && end(() => resolve(this))
      this.#waiting.add(look)
      look()
    })
  }

  /** Its `count`th final answer, or undefined when the connection ended before. */
  async answer(count = 1, limit) {
    await this.until(() => this.closed || this.answers.length >= count, `answer ${count}`, limit)
    return this.answers[count - 1]
  }

  ended(limit) {
    return this.until(() => this.closed, 'the end of the connection', limit)
  }

  halfClose() {
    this.socket.end()
  }

  reset() {
    this.socket.resetAndDestroy()
  }

  destroy() {
    this.socket.destroy()
  }
}

/** Sends `data` on a connection of its own; resolves to its first answer (undefined: none came). */
export async function say(url, data, { head = false } = {}) {
  const socket = new RawSocket(url)
  socket.write(data, { head })
  const answer = await socket.answer()
  socket.destroy()
  return answer
}
