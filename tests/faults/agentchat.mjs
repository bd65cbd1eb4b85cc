// SPDX-License-Identifier: Apache-2.0
// agentchat: the sender, by its contract (version 1, sections 3.5 and 5), with time compressed.
//
//   A message starts a wake cycle: one delivery_id, tried again after 1, 5, 30 minutes and 3 hours, and
//   every 3 hours then until the cycle is a day old. A 2xx acknowledges the wake; where the agent does
//   not come to read, the cycle goes on under the same id.
//   What is unanswered then is brought by the next rung: a fresh id with reason "unanswered". A rung that
//   did not reach the agent is not lost: the next look sends it, under a fresh id again.
//
// The agent comes when a runtime accepted its wake, most of the time. Tries go to any gateway, and
// sometimes to two at once, as a proxy does that loses its patience.
import { framed, newWake } from '../e2e/wakes.mjs'
import { request } from '../e2e/http.mjs'
import { pause } from '../e2e/until.mjs'
import { budget, ladder, now, slack } from './times.mjs'

const daysTries = ladder.length + 6
const mostMessages = 400

export class AgentChat {
  constructor(house, dice, books) {
    this.house = house
    this.dice = dice
    this.books = books
  }

  /** Messages come, one every `mean` ms, until stop(); resolves when all their wakes are over. */
  async run(mean) {
    const messages = []
    while (!this.#stopped && messages.length < mostMessages) {
      const message = messages.length
      messages.push(this.#message(message, this.dice.of(`message ${message}`)))
      await pause(this.dice.between(0, 2 * mean))
    }
    await Promise.all(messages)
  }

  stop() {
    this.#stopped = true
  }

  #stopped = false
  #group = 0

  async #message(message, dice) {
    let reached = await this.#cycle(message, dice.uuid(), dice)
    const rungs = reached && dice.chance(0.3) ? 1 : 0 // read, and left unanswered
    for (let rung = 0; (!reached || rung < rungs) && !this.house.over; rung++) {
      if (rung > 3) return
      await pause(dice.between(500, ladder[1]))
      const { ok } = await this.#try(message, dice.uuid(), dice, { reason: 'unanswered', step: Math.min(rung + 2, 4), conversations: [] })
      reached = ok || reached
    }
  }

  /** One cycle; true when the agent came. */
  async #cycle(message, id, dice) {
    for (let attempt = 0; attempt < daysTries && !this.house.over; attempt++) {
      if (attempt > 0) await pause(ladder[Math.min(attempt, ladder.length) - 1])
      const { ok } = await this.#try(message, id, dice, {})
      if (ok && dice.chance(0.75)) return true
    }
    return this.books.accepted.some(entry => entry.id === id)
  }

  async #try(message, id, dice, over) {
    const gateways = dice.shuffle(this.house.doors).slice(0, dice.chance(0.15) ? 2 : 1)
    const group = ++this.#group
    const answers = await Promise.all(gateways.map(url => this.#post(url, this.books.try(message, id, group), over)))
    return { ok: answers.some(({ status }) => status >= 200 && status < 300) }
  }

  async #post(url, entry, over) {
    const wake = newWake({ delivery_id: entry.id, ...over })
    try {
      const { status, json } = await request(`${url}/wake/relay`, { ...framed('agentchat', wake), timeout: budget + 2 * slack })
      entry.status = status
      entry.code = json?.status ?? json?.code
    } catch (error) {
      entry.code = error.code ?? error.message
    }
    entry.ended = now()
    return entry
  }
}
