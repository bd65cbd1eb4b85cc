// SPDX-License-Identifier: Apache-2.0
// runtime: the stand-in for a runtime at the far end of a run. It answers as the documented one does and
// writes into the books what it was asked for and what it accepted; a mood says how it treats a request.
//
//   bearer-json   accepts whatever comes, as often as it comes
//   hermes        drops repeats of a key itself
import { startRuntime } from '../e2e/runtimes.mjs'
import { pause } from '../e2e/until.mjs'
import { budget, timeout } from './times.mjs'

export const kinds = { once: 'grok', idempotent: 'hermes' }

/** What a mood does with a request: how long it thinks, whether it accepts, how it answers. */
const moods = {
  accept: {},
  slow: { before: () => 300 },
  late: { before: dice => dice.between(budget, budget + 700) }, // the gateway has given up by then
  hang: { before: () => timeout + 2000, takes: false, answers: false },
  acceptAndHang: { answers: false },
  acceptAndReset: { resets: true },
  reset: { takes: false, resets: true },
  refuse: { status: 403 },
  broken: { status: 500 },
  gone: { status: 410 },
  throttle: { status: 429, headers: { 'retry-after': '1' } },
  down: { status: 503, headers: { 'retry-after': '2' } }
}
export const moodNames = Object.keys(moods)

/** Starts one. `mood(dice)` names the mood of the next request. */
export async function startCountingRuntime(t, kind, books, dice, mood) {
  const runtime = await startRuntime(t, kinds[kind])
  runtime.behave((request, response) => serve(runtime, request, response, { books, dice, kind, ...moods[mood(dice)] }), { always: true })
  return runtime
}

async function serve(runtime, request, response, { books, dice, kind, before, takes = true, answers = true, resets = false, status, headers }) {
  const id = request.json?.delivery_id
  const asked = books.ask(id, kind)
  if (before) await pause(before(dice))
  let answer = { status, headers, body: { error: 'not now' } }
  if (status !== undefined) {
    asked.denied = true
  } else if (takes) {
    answer = await runtime.take(request)
    if (answer.run) books.accept(id, kind)
    else if (answer.status !== 200) books.complain(`the runtime was asked wrongly: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  if (resets) return request.socket.resetAndDestroy()
  if (!answers) return
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
  response.end(JSON.stringify(answer.body))
}
