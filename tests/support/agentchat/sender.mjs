// SPDX-License-Identifier: Apache-2.0
// sender: when AgentChat wakes one agent, by its contract, version 1, sections 3.5 and 5: cycles and their
// retries, spacing, invites, the rungs of what is unanswered. Messages are never carried; the sender only
// knows which conversations have some.
//
//   message, remind, invite     something new: a fresh delivery_id, unless a cycle waits for its first try
//   pull                        the agent came and read; answer: it gave a verdict; both count as "at work"
//   put, remove, test           what the API does with the subscription
//
// `post(subscription, wake, attempt)` sends one wake and resolves to the status, 0 where there was no answer.
import crypto from 'node:crypto'
import * as times from './times.mjs'

export class Sender {
  subscription
  /** Every wake that was sent: { id, reason, step, attempt, at, status, handle, conversations }. */
  wakes = []
  #conversations = new Map()
  #invites = new Map()
  #cycle
  #ladder
  #lastWake = -Infinity
  #unpulled = 0
  #lastActive = -Infinity
  #timer
  #sending
  #closed = false

  constructor(handle, post, minute) {
    this.handle = handle
    this.post = post
    this.minute = minute
  }

  // --- what happens at AgentChat

  message(id, from) {
    const one = this.#conversations.get(id) ?? { unread: 0 }
    this.#conversations.set(id, { ...one, from, unread: one.unread + 1, undelivered: true, unanswered: true })
    this.#ladder = { since: Date.now(), spent: 1 }
    this.#renew('messages')
  }

  /** A defer reminder of the conversation comes due. It starts no ladder. */
  remind(id) {
    this.#conversations.get(id).reminded = true
    this.#renew('reminder')
  }

  invite(id) {
    this.#invites.set(id, { told: false })
    this.#ladder = { since: Date.now(), spent: 1 }
    if (this.#cycle?.attempt > 0) this.#renew(this.#cycle.reason)
    else if (!this.#cycle) this.#inviteWake()
    this.#look()
  }

  /** The agent comes and pulls its messages. */
  pull() {
    for (const one of this.#conversations.values()) Object.assign(one, { undelivered: false, reminded: false })
    this.#unpulled = 0
    this.#lastActive = Date.now()
    this.#end()
    this.#look()
  }

  /** The agent records a verdict, or answers an invite. */
  answer(id) {
    this.#lastActive = Date.now()
    this.#invites.delete(id)
    const one = this.#conversations.get(id)
    if (one) Object.assign(one, { unread: 0, unanswered: false, undelivered: false, reminded: false })
    this.#look()
  }

  // --- the subscription

  put(subscription) {
    const before = this.subscription
    const same = before?.url === subscription.url && before?.dialect === subscription.dialect
    this.subscription = subscription
    if (!same && this.#cycle) this.#cycle = this.#fresh(this.#cycle.reason, Date.now())
    else if (!this.#cycle && this.#waiting()) this.#cycle = this.#fresh('messages', this.#soonest())
    this.#look()
  }

  remove() {
    this.subscription = this.#cycle = undefined
    this.#look()
  }

  /** Sends a test wake now. */
  async test() {
    this.#lastWake = Date.now()
    return this.#send({ delivery_id: crypto.randomUUID(), reason: 'test', test: true, conversations: [] }, 1)
  }

  /** Nothing is sent any more; resolves when what was being sent is over. */
  async close() {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#sending
  }

  // --- rules

  get running() {
    return this.#cycle && { id: this.#cycle.id, attempt: this.#cycle.attempt }
  }

  #ms(minutes) {
    return minutes * this.minute
  }

  #waiting() {
    return [...this.#conversations.values()].some(one => one.undelivered || one.reminded)
  }

  #unanswered() {
    return this.#invites.size > 0 || [...this.#conversations.values()].some(one => one.unanswered)
  }

  #soonest() {
    const step = Math.min(Math.max(this.#unpulled - 1, 0), times.spacings.length - 1)
    return Math.max(Date.now(), this.#lastWake + this.#ms(times.spacings[step]))
  }

  #fresh(reason, due) {
    return { id: crypto.randomUUID(), reason, attempt: 0, due, began: Date.now() }
  }

  /** Something new: what waits for its first try carries it, anything else begins again. */
  #renew(reason) {
    if (this.subscription && !(this.#cycle?.attempt === 0 && this.#cycle.reason !== 'invite')) this.#cycle = this.#fresh(reason, this.#soonest())
    this.#look()
  }

  #inviteWake() {
    if (this.subscription) this.#cycle = this.#fresh('invite', Date.now())
  }

  /** The cycle is over. An invite that no accepted wake told of gets one of its own. */
  #end() {
    this.#cycle = undefined
    if ([...this.#invites.values()].some(invite => !invite.told)) this.#inviteWake()
  }

  #look() {
    clearTimeout(this.#timer)
    if (this.#closed || this.#sending || !this.subscription) return
    const due = this.#cycle ? this.#cycle.due : this.#rungDue()
    if (due === undefined) return
    this.#timer = setTimeout(() => this.#act(), Math.max(0, due - Date.now()))
    this.#timer.unref?.()
  }

  #rungDue() {
    const next = this.#ladder && Object.keys(times.rungs).map(Number).find(rung => rung > this.#ladder.spent)
    if (!next || !this.subscription.rewake || !this.#unanswered()) return undefined
    return Math.max(this.#ladder.since + this.#ms(times.rungs[next]), this.#lastActive + this.#ms(times.atWork), this.#ladder.notBefore ?? 0)
  }

  #act() {
    this.#sending = (this.#cycle ? this.#try(this.#cycle) : this.#rung(this.#ladder)).finally(() => {
      this.#sending = undefined
      this.#look()
    })
  }

  async #try(cycle) {
    const over = Date.now() - cycle.began >= this.#ms(times.cycle)
    const idle = cycle.reason === 'invite' ? this.#invites.size === 0 : !this.#waiting()
    if (over || idle) {
      this.#end()
      return
    }
    cycle.attempt++
    this.#lastWake = Date.now()
    const untold = [...this.#invites.values()]
    const unpulled = this.#unpulled
    const status = await this.#send({ delivery_id: cycle.id, reason: cycle.reason, conversations: cycle.reason === 'invite' ? [] : this.#named() }, cycle.attempt)
    cycle.due = Date.now() + this.#ms(times.retries[Math.min(cycle.attempt, times.retries.length) - 1])
    if (!isAccepted(status)) return
    for (const invite of untold) invite.told = true
    if (this.#unpulled === unpulled && this.#cycle) this.#unpulled++
  }

  /** The latest rung that is due, once. */
  async #rung(ladder) {
    const due = Object.keys(times.rungs).map(Number).filter(rung => Date.now() >= ladder.since + this.#ms(times.rungs[rung]))
    const step = Math.max(...due)
    if (!Number.isFinite(step)) return
    const conversations = this.#named(one => one.unanswered)
    const status = await this.#send({ delivery_id: crypto.randomUUID(), reason: 'unanswered', step, conversations }, 1)
    if (isAccepted(status)) ladder.spent = step
    else ladder.notBefore = Date.now() + this.#ms(times.look)
  }

  #named(which = one => one.undelivered || one.reminded) {
    return [...this.#conversations].filter(([, one]) => which(one)).map(([id, one]) => ({ id, unread: one.unread, latest_sender: one.from }))
  }

  async #send(facts, attempt) {
    const { conversations, reason } = facts
    const said = conversations.map(one => `${one.latest_sender}: ${one.unread} unread in ${one.id}`).join('; ') || reason
    const wake = {
      type: 'agentchat.wake',
      version: 1,
      ...facts,
      handle: this.handle,
      summary: `AgentChat wake for ${this.handle}: ${said}.`,
      ts: new Date().toISOString()
    }
    const entry = { id: wake.delivery_id, reason, step: facts.step, attempt, at: Date.now(), conversations }
    this.wakes.push(entry)
    entry.status = await this.post(this.subscription, wake, attempt)
    return entry.status
  }
}

const isAccepted = status => status >= 200 && status < 300
