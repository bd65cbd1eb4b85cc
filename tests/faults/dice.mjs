// SPDX-License-Identifier: Apache-2.0
// dice: every random choice of a fault run, so that a seed makes the same plan again. Each part of a
// run draws from dice of its own, named after it, so that none depends on who happens to draw first.
import crypto from 'node:crypto'

export class Dice {
  #state

  constructor(name) {
    this.name = name
    this.#state = crypto.createHash('sha256').update(name).digest().readUInt32LE(0)
  }

  /** Dice for a part of this part. */
  of(part) {
    return new Dice(`${this.name}/${part}`)
  }

  /** From 0 up to and without 1 (mulberry32). */
  roll() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  chance(probability) {
    return this.roll() < probability
  }

  between(low, high) {
    return low + this.roll() * (high - low)
  }

  whole(low, high) {
    return Math.floor(this.between(low, high + 1))
  }

  pick(list) {
    return list[Math.floor(this.roll() * list.length)]
  }

  shuffle(list) {
    const out = [...list]
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.whole(0, i)
      ;[out[i], out[j]] = [out[j], out[i]]
    }
    return out
  }

  uuid() {
    const hex = crypto.createHash('sha256').update(`${this.name}/${this.roll()}`).digest('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  }
}
