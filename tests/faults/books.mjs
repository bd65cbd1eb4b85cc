// SPDX-License-Identifier: Apache-2.0
// books: what both ends of a run saw, and the promises held against it.
//
// The sender's end: every try at a wake and its answer. The runtime's end: every request, and which
// it accepted. Between them the record that each gateway kept of its store's answers, and its metrics.
// Nothing here talks to anything, so the check itself can be checked with made-up books.
import { hold, lease, now, slack } from './times.mjs'

export class Books {
  tries = [] // { message, id, group, began, ended, status, code }
  asked = [] // { id, at, target, denied }: what reached a runtime; denied: it answered that it takes nothing
  accepted = [] // { id, at, target }
  messages = new Set()
  record = [] // { at, pid, what, step, key, owner, answer }
  scrapes = new Map() // pid -> { values, last } of its /metrics; last: nothing was counted after it
  losses = [] // { from, until }: when the store may have lost what it had acknowledged
  complaints = []
  lag = 0 // how much later than it was a time may be noted
  healthy = Infinity // when the last fault was over

  complain(what) {
    this.complaints.push(what)
  }

  /** `group`: tries that were made at the same time have the same. */
  try(message, id, group) {
    this.messages.add(message)
    const entry = { message, id, group, began: now() }
    this.tries.push(entry)
    return entry
  }

  ask(id, target) {
    const entry = { id, at: now(), target }
    this.asked.push(entry)
    return entry
  }

  accept(id, target, at = now()) {
    this.accepted.push({ id, at, target })
  }

  readRecord(text) {
    for (const line of text.split('\n')) {
      const [at, pid, what, step, key, owner, answer] = line.split(' ')
      if (answer !== undefined) this.record.push({ at: Number(at) / 1000, pid: Number(pid), what, step, key, owner, answer })
    }
  }
}

const causes = ['ended_lease', 'ended_hold']

function grouped(list, name) {
  const groups = new Map()
  for (const entry of list) {
    const key = name(entry)
    if (!groups.has(key)) groups.set(key, [])
    groups.get(key).push(entry)
  }
  return groups
}

/** P1: a 2xx says that it was accepted, before that was said. */
function checkTrue(books, acceptances, complain) {
  for (const { id, status, code, ended } of books.tries) {
    if (status === undefined || status < 200 || status > 299) continue
    if (code !== 'relayed' && code !== 'duplicate') complain(`P1: ${id} was answered ${status} as "${code}"`)
    if (!acceptances.get(id)?.some(({ at }) => at <= ended)) complain(`P1: ${id} was answered ${status}, and nothing accepted it`)
  }
}

/** The exceptions that the gateways met: a repeat that a target took, or of which the process that claimed
 * it never learned what became (`counted` is false then: it died); and a settlement after another's. */
function exceptionsOf(books) {
  const repeats = new Map() // owner of a claim -> what it repeats
  const exceptions = []
  for (const { pid, what, key, owner, answer } of books.record) {
    const id = key.slice(key.lastIndexOf('/') + 1)
    if (what === 'claim' && causes.includes(answer)) repeats.set(owner, { id, pid, cause: answer, counted: false })
    if (what === 'deliver' && answer === 'accepted') met(repeats, owner, true)
    if (what === 'deliver' && answer === 'ambiguous') met(repeats, owner, true)
    if (what === 'release') met(repeats, owner, false)
    if (what === 'settle' && answer === 'lost') exceptions.push({ id, pid, cause: 'lost_claim', counted: true })
  }
  return [...exceptions, ...repeats.values()]
}

function met(repeats, owner, taken) {
  const repeat = repeats.get(owner)
  if (!repeat) return
  if (taken) repeat.counted = true
  else if (!repeat.counted) repeats.delete(owner)
}

/** P2: accepted twice only where an exception was counted for this wake, or the store lost it. */
function checkOnce(books, acceptances, { idempotent, excepts }, totals, complain) {
  const exceptions = grouped(exceptionsOf(books), ({ id }) => id)
  for (const [id, list] of acceptances) {
    list.sort((a, b) => a.at - b.at)
    const lost = books.losses.length ? list.filter((entry, i) => i > 0 && books.losses.some(loss => loss.until >= list[i - 1].at && loss.from <= entry.at)).length : 0
    const counted = (exceptions.get(id) ?? []).map(({ cause }) => cause)
    const doubled = list.length - 1
    totals.doubled += doubled
    for (const cause of counted.slice(0, doubled - lost)) totals.doubledBy[cause] = (totals.doubledBy[cause] ?? 0) + 1
    for (const cause of new Set(counted))
      if (doubled > lost && !excepts.includes(cause)) complain(`P2: ${id} was accepted ${list.length} times, which ${cause} does not excuse: nothing in this run brings that about`)
    if (lost) totals.doubledBy.store_loss = (totals.doubledBy.store_loss ?? 0) + lost
    if (idempotent && doubled > 0) complain(`P2: ${id} was accepted ${list.length} times by a runtime that drops repeats`)
    if (doubled > counted.length + lost)
      complain(`P2: ${id} was accepted ${list.length} times (${list.map(({ target, at }) => `${target} ${at.toFixed(0)}`)}), of which ${counted.length} are counted exceptions and ${lost} a loss of the store`)
    if (doubled > 0 && new Set(list.map(({ target }) => target === 'room')).size > 1 && counted.length + lost === 0)
      complain(`P2: ${id} was both taken and fired`)
  }
}

/** A try at `at` by a process that had stopped for longer than its lease, between its last look at the time
 * and the request: its claim is older than that, and what became of its delivery was told later. */
function cameAfterItsLease(books, id, at) {
  const mine = books.record.filter(({ key }) => key.endsWith(id))
  return mine.some(
    later => later.what === 'deliver' && later.at >= at && mine.some(one => one.what === 'claim' && one.owner === later.owner && at - one.at >= lease)
  )
}

/** P2: an unclear outcome is followed by no second try before its hold is over. */
function checkHolds(books, { excepts }, complain) {
  for (const [id, list] of grouped(books.asked, ({ id }) => id))
    list.forEach((later, i) => {
      const earlier = list[i - 1]
      if (!earlier || earlier.denied) return
      if (books.losses.some(({ from, until }) => until >= earlier.at && from <= later.at)) return
      if (excepts.includes('lost_claim') && cameAfterItsLease(books, id, later.at)) return
      if (later.at - earlier.at < hold - 50 - books.lag)
        complain(`P2: ${id} was asked for again ${(later.at - earlier.at).toFixed(0)} ms after a try that was not denied`)
    })
}

/** P3: what was not accepted came again; in a healthy house nothing stands in its way. A try may meet
 * a machine that is too busy for these times, but not each. */
function checkFree(books, acceptances, totals, complain) {
  const free = books.healthy + lease + hold + slack
  for (const [message, list] of grouped(books.tries, ({ message }) => message)) {
    if (list.some(({ id }) => acceptances.has(id))) continue
    totals.lost++
    complain(`P3: the wake of message ${message} was lost; its tries: ${list.map(t => `${t.began.toFixed(0)} ${t.status} ${t.code}`)}`)
  }
  for (const [id, list] of grouped(books.tries.filter(({ began }) => began > free), ({ id }) => id)) {
    const groups = [...grouped(list, ({ group }) => group).values()]
    const failed = groups.map(group => !group.some(({ status }) => status === 200))
    totals.late += failed.filter(Boolean).length
    if (failed.length > 1 && failed.every(Boolean))
      complain(`P3: ${id} has not become free; its tries: ${list.map(({ began, status, code }) => `${(began - books.healthy).toFixed(0)} ms after the last fault ${status} ${code}`)}`)
  }
  for (const [id, list] of grouped(books.tries, ({ id }) => id)) {
    const last = list.at(-1)
    if (last.status >= 200 && last.status < 300 && !acceptances.has(id)) complain(`P3: ${id} ended with ${last.status} and was never accepted`)
  }
}

/** The counters say what the record says: exactly, of a process that lived until it was last asked. */
function checkCounters(books, totals, complain) {
  const exceptions = exceptionsOf(books)
  for (const [pid, { values, last }] of books.scrapes) {
    const recorded = { ended_lease: 0, ended_hold: 0, lost_claim: 0 }
    for (const { cause } of exceptions.filter(one => one.pid === pid && one.counted)) recorded[cause]++
    for (const cause of Object.keys(recorded)) {
      const counted = Object.entries(values).reduce(
        (sum, [name, value]) => (name.startsWith('wakegate_repeats_total{') && name.includes(`cause="${cause}"`) ? sum + value : sum),
        0
      )
      totals.counted[cause] = (totals.counted[cause] ?? 0) + counted
      if (last ? counted !== recorded[cause] : counted > recorded[cause])
        complain(`counters: process ${pid} counted ${counted} of ${cause}, and its store said ${recorded[cause]}`)
    }
  }
}

/** Holds P1 to P3 against the books. `excepts`: the causes of doubles that the run's faults can bring
 * about. Returns { complaints, totals }. */
export function check(books, { idempotent = false, excepts = [...causes, 'lost_claim'] } = {}) {
  const complaints = [...books.complaints]
  const complain = what => complaints.push(what)
  const acceptances = grouped(books.accepted, ({ id }) => id)
  const totals = { doubled: 0, doubledBy: {}, lost: 0, late: 0, counted: {} }
  checkTrue(books, acceptances, complain)
  checkOnce(books, acceptances, { idempotent, excepts }, totals, complain)
  if (!idempotent) checkHolds(books, { excepts }, complain)
  checkFree(books, acceptances, totals, complain)
  checkCounters(books, totals, complain)
  return {
    complaints,
    totals: {
      messages: books.messages.size,
      ids: new Set(books.tries.map(({ id }) => id)).size,
      tries: books.tries.length,
      ok: books.tries.filter(({ status }) => status === 200).length,
      asked: books.asked.length,
      accepted: books.accepted.length,
      ...totals
    }
  }
}

/** What both ends and the stores saw of one wake, in order, as text. */
export function story(books, id) {
  const lines = [
    ...books.tries.filter(one => one.id === id).flatMap(({ began, ended, status, code }) => [
      [began, 'the sender tries'],
      [ended, `the sender has ${status ?? 'no answer'} ${code}`]
    ]),
    ...books.asked.filter(one => one.id === id).map(({ at, target, denied }) => [at, `the runtime (${target}) is asked${denied ? ', and says no' : ''}`]),
    ...books.accepted.filter(one => one.id === id).map(({ at, target }) => [at, `accepted (${target})`]),
    ...books.record.filter(one => one.key.endsWith(id)).map(({ at, pid, what, answer }) => [at, `process ${pid}: ${what}: ${answer}`])
  ]
  return lines.sort(([a], [b]) => a - b).map(([at, text]) => `${at.toFixed(0)} ${text}`)
}
