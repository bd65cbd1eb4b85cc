// SPDX-License-Identifier: Apache-2.0
// selftest: the check, checked. Made-up books with one fault each must be complained about, and so must
// what a gateway does from which a guard was taken away.
import { Books, check } from './books.mjs'
import { hold, lease, slack } from './times.mjs'

const id = 'd0000000-0000-4000-8000-000000000001'
const key = `relay/runtime/${id}`
const answered = (over = {}) => ({ message: 0, id, group: 1, began: 100, ended: 200, status: 200, code: 'relayed', ...over })

/** Books of one wake that was accepted and answered as it should; `spoil` makes them otherwise. */
function made(spoil) {
  const books = new Books()
  books.healthy = 0
  books.messages.add(0)
  books.tries.push(answered())
  books.asked.push({ id, at: 140, target: 'once' })
  books.accept(id, 'once', 150)
  books.record.push({ at: 130, pid: 1, what: 'claim', key, owner: 'ann', answer: 'claimed' })
  books.scrapes.set(1, { values: {}, last: true })
  spoil(books)
  return books
}

function acceptAgain(books, target = 'once', at = 150 + lease) {
  if (target !== 'room') books.asked.push({ id, at, target })
  books.accept(id, target, at)
}

function count(books, answer) {
  const cause = answer === 'lost' ? 'lost_claim' : answer
  const entry = { at: 140 + lease, pid: 1, key, owner: 'bob' }
  if (answer === 'lost') books.record.push({ ...entry, what: 'settle', answer })
  else books.record.push({ ...entry, what: 'claim', answer }, { ...entry, what: 'deliver', answer: 'accepted' })
  books.scrapes.get(1).values[`wakegate_repeats_total{route="relay",cause="${cause}"}`] = 1
}

const free = lease + hold + slack + 1

/** Another's claim, so old, comes to a try that is refused. */
function comeLate(books, age) {
  const entry = { pid: 1, key, owner: 'old' }
  books.asked.push({ id, at: 160, target: 'once', denied: true })
  books.record.push({ ...entry, at: 160 - age, what: 'claim', answer: 'claimed' }, { ...entry, at: 165, what: 'deliver', answer: 'refused' })
}

function denied(books, ...times) {
  times.forEach((began, i) => books.tries.push(answered({ began, group: 2 + i, status: 503, code: 'held' })))
}

/** What is wrong with the books, and how the complaint begins; undefined: nothing is. */
const cases = {
  'all is well': [() => {}],
  'a double that nobody counted': [books => acceptAgain(books), 'P2'],
  'a double that the next claim counted': [books => (acceptAgain(books), count(books, 'ended_lease'))],
  'a double after a hold': [books => (acceptAgain(books), count(books, 'ended_hold'))],
  'a double that the settlement counted': [books => (acceptAgain(books), count(books, 'lost'))],
  'a double that was claimed and given back': [books => (acceptAgain(books), count(books, 'ended_lease'), (books.record.at(-1).what = 'release'), (books.scrapes.get(1).values = {})), 'P2'],
  'two doubles and one count': [books => (acceptAgain(books), acceptAgain(books, 'once', 150 + 2 * lease), count(books, 'ended_lease')), 'P2'],
  'a double by a cause that the run has no fault for': [books => (acceptAgain(books), count(books, 'lost')), 'P2', { excepts: ['ended_lease'] }],
  'a double across a loss of the store': [books => (acceptAgain(books), books.losses.push({ from: 1000, until: 1500 }))],
  'a double after a loss of the store': [books => (acceptAgain(books), books.losses.push({ from: 20, until: 100 })), 'P2'],
  'a counted double of a runtime that drops repeats': [books => (acceptAgain(books), count(books, 'ended_lease')), 'P2', { idempotent: true }],
  'a wake that is taken and fired': [books => acceptAgain(books, 'room'), 'P2'],
  'a second try inside the hold': [books => books.asked.push({ id, at: 140 + hold / 2, target: 'once' }), 'P2'],
  'a second try by a process that slept through its lease': [books => comeLate(books, lease + 1)],
  'a second try by a process that slept a little': [books => comeLate(books, lease - 1), 'P2'],
  'the same where nothing stops a process': [books => comeLate(books, lease + 1), 'P2', { excepts: ['ended_lease'] }],
  'a second try after a refusal': [books => ((books.asked[0].denied = true), books.asked.push({ id, at: 160, target: 'once' }))],
  'a 2xx for what nobody accepted': [books => (books.accepted = []), 'P1'],
  'a 2xx before the acceptance': [books => (books.accepted[0].at = 300), 'P1'],
  'a wake that was lost': [books => ((books.accepted = []), (books.tries = [answered({ status: 503, code: 'in_flight' })])), 'P3'],
  'an id that does not become free': [books => denied(books, free, free + 5000), 'P3'],
  'an id that is held for a while': [books => denied(books, free - 200, free - 100)],
  'a counter that counts too little': [books => (count(books, 'ended_lease'), (books.scrapes.get(1).values = {})), 'counters'],
  'a counter that counts too much': [books => (count(books, 'ended_lease'), (books.record = [])), 'counters']
}

function checkMade() {
  const wrong = Object.entries(cases).flatMap(([name, [spoil, begins, options]]) => {
    const { complaints } = check(made(spoil), options)
    const found = begins ? complaints.some(text => text.startsWith(begins)) : complaints.length === 0
    return found ? [] : [`${name}: ${complaints.join('; ') || 'no complaint'}`]
  })
  return wrong.join('\n') || undefined
}

/** A guard, the scenario that needs it, and what the run must complain about without it. */
const guards = [
  ['claim', 'calm', /^P2: .* was asked for again/],
  ['hold', 'runtime', /^P2: .* was asked for again/],
  ['release', 'runtime', /^P1: .* nothing accepted it/],
  ['withdraw', 'rooms', /^P2: .* was both taken and fired/]
]

/** The tests: each resolves to a complaint, or to nothing. `run(scenario, seed, { env })`. */
export function selftests(run, smoke) {
  const broken = guards.slice(0, smoke ? 1 : guards.length).map(([guard, scenario, wanted]) => ({
    name: `a gateway without its ${guard} is found out`,
    async test() {
      const found = []
      for (const seed of [1, 2, 3, 4]) { // a race that the guard decides may not come up at once
        const { complaints } = await run(scenario, seed, { env: { FAULTS_BREAK: guard } })
        if (complaints.some(text => wanted.test(text))) return
        found.push(...complaints)
      }
      return `nothing like ${wanted} among: ${found.join('; ') || 'no complaint'}`
    }
  }))
  return [{ name: 'made-up books', test: async () => checkMade() }, ...broken]
}
