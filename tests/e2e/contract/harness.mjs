// SPDX-License-Identifier: Apache-2.0
// harness: one exchange of the response contract, looked at from all sides: the answer, the counters,
// the target, and what the id is worth afterwards.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { genuine, RawSocket, rawRequest, say } from '../raw_socket.mjs'

/** The counters that an exchange moves, by the text of their series. */
async function counters(gateway, route) {
  const families = /^wakegate_(wakes_total|requests_refused_total|request_timeouts_total|proofs_total)\{/
  const values = Object.entries(await gateway.metrics())
  return Object.fromEntries(values.filter(([name]) => families.test(name) && (!route || name.includes(`route="${route}"`))))
}

const moved = (before, after) =>
  Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]).filter(([, by]) => by !== 0))

/** What the counters must have done for `expect`. */
function wantedCounters(route, expect) {
  const said = expect.counted ?? expect.said
  const wanted = {}
  if (expect.reason) wanted[`wakegate_requests_refused_total{reason="${expect.reason}"}`] = 1
  else if (expect.timedOut) wanted[`wakegate_request_timeouts_total{part="${expect.timedOut}"}`] = 1
  else wanted[`wakegate_wakes_total{route="${route}",code="${said}"}`] = 1
  for (const result of [expect.proof ?? []].flat()) wanted[`wakegate_proofs_total{route="${route}",result="${result}"}`] = 1
  return wanted
}

const isRefusal = name => /^wakegate_(wakes_total|requests_refused_total)\{/.test(name)

async function checkCounters(gateway, route, before, expect, onlyRoute) {
  const matches = now => {
    const shown = Object.fromEntries(Object.entries(now).filter(([name]) => expect.proof || !name.startsWith('wakegate_proofs')))
    if (expect.malformed) return assert.deepEqual(Object.entries(shown).map(([name, by]) => [isRefusal(name), by]), [[true, 1]], JSON.stringify(shown))
    assert.deepEqual(shown, wantedCounters(route, expect))
  }
  for (let tries = 0; ; tries++) { // a refusal by the HTTP library is counted when its connection is over
    try {
      return matches(moved(before, await counters(gateway, onlyRoute && route)))
    } catch (error) {
      if (tries === 100) throw error
    }
    await sleep(20)
  }
}

export function checkAnswer(answer, expect) {
  if (expect.malformed) {
    if (answer) assert.ok(answer.status >= 400, `status ${answer.status}`)
    return
  }
  assert.ok(answer, 'an answer')
  assert.equal(answer.status, expect.status, answer.text)
  if (expect.said === undefined) return
  assert.match(answer.headers['content-type'], /^application\/json/)
  const { status, code, message, delivery_id: id, run, ...more } = answer.json
  assert.deepEqual(more, {})
  assert.equal(expect.status < 300 ? status : code, expect.said)
  if (expect.status < 300) assert.equal(typeof id, 'string')
  else assert.ok(typeof message === 'string' && message.length > 10, 'a message')
  if (expect.run) assert.equal(run, expect.run)
  assert.equal(answer.headers.allow, expect.allow)
  const after = answer.headers['retry-after']
  if (!expect.retryAfter) return assert.equal(after, undefined)
  const [least, most] = expect.retryAfter
  assert.match(after ?? '', /^\d+$/)
  assert.ok(Number(after) >= least && Number(after) <= most, `Retry-After: ${after}, not in ${least}..${most}`)
}

/** Of what is right either way, the one that the answer's status speaks of. */
const theOne = (expect, answer) => (expect.either ? (expect.either.find(({ status }) => status && status === answer?.status) ?? expect.either.at(-1)) : expect)

/** Sends `data` to `route` and holds the program to `expect`. `runtime` is where its wakes go.
 * `onlyRoute`: other exchanges go on meanwhile. Resolves to the answer, and to what was expected of it. */
export async function exchange({ gateway, route, runtime, data, expect: wanted, head = false, goAhead = false, onlyRoute = false }) {
  const before = await counters(gateway, onlyRoute && route)
  const began = runtime?.requests.length
  const socket = new RawSocket(gateway.url)
  try {
    const rest = goAhead ? data.indexOf('\r\n\r\n') + 4 : data.length
    socket.write(data.subarray(0, rest), { head })
    if (goAhead) {
      await socket.until(() => socket.interim.length > 0 || socket.closed, 'a go-ahead')
      socket.write(data.subarray(rest))
    }
    const answer = await socket.answer()
    const expect = theOne(wanted, answer)
    checkAnswer(answer, expect)
    assert.equal(socket.interim.some(({ status }) => status === 100), goAhead, 'a go-ahead')
    if (expect.closed) await socket.ended()
    assert.equal(socket.answers.length, answer ? 1 : 0, 'one answer')
    await checkCounters(gateway, route, before, expect, onlyRoute)
    if (runtime) assert.equal(runtime.requests.length - began, expect.sent, 'requests that reached the target')
    return { answer, expect }
  } finally {
    socket.destroy()
  }
}

/** Sends `wake` as it should be and expects `said`: what its id is worth. */
export async function worth({ gateway, route, dialect, wake, said }) {
  const answer = await say(gateway.url, rawRequest({ target: `/wake/${route}`, ...genuine(dialect, wake) }))
  assert.equal(answer?.json?.status ?? answer?.json?.code, said, `the id afterwards: ${answer?.text}`)
}

/** Those rows of a table that say so are about a pitfall that somebody else fell into. */
export const title = row => (row.reports ? `${row.name} (${row.reports.join(', ')})` : row.name)
