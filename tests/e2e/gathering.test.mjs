// SPDX-License-Identifier: Apache-2.0
// "quiet": wakes of one route that come together are one delivery. The cases of the unit test, in real
// time, and what only a whole gateway can show.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import { route, startGateway, trigger } from './gateway.mjs'
import { startRuntime } from './runtimes.mjs'
import { pause, until } from './until.mjs'
import { newWake } from './wakes.mjs'

const cases = JSON.parse(fs.readFileSync(new URL('../unit/data/gathering.json', import.meta.url)))
const slower = 3 // than the cases say, so that a busy machine keeps their order
const quiet = `${400 * slower}ms`

const outcomes = {
  accepted: [200, 'relayed'],
  duplicate: [200, 'duplicate'],
  refused: [502, 'target_refused'],
  ambiguous: [504, 'target_timeout'],
  paced: [503, 'paced'],
  resting: [503, 'resting'],
  held: [503, 'held']
}
const endings = {
  accepted: (_, response) => response.writeHead(200).end(),
  refused: (_, response) => response.writeHead(400).end(),
  ambiguous: request => request.socket.resetAndDestroy()
}

function wakeOf(id, reason = 'messages') {
  return newWake({
    reason,
    delivery_id: id,
    conversations: [{ id, unread: 1, latest_sender: '@example-scout' }],
    summary: `Wake ${id}.`,
    ...(reason === 'test' && { test: true }),
    ...(reason === 'unanswered' && { step: 2 })
  })
}

function expectOutcome(got, outcome, id) {
  const [status, word] = outcomes[outcome]
  assert.equal(got.status, status, `${id}: ${got.text}`)
  assert.equal(got.json.status ?? got.json.code, word, `${id}: ${got.text}`)
}

/** Runtimes that answer when a test says so, in the order in which they were asked. */
async function patientRuntimes(t, count) {
  const runtimes = []
  const open = []
  for (let i = 0; i < count; i++) {
    const runtime = await startRuntime(t, 'grok')
    runtime.behave((request, response) => open.push([request, response]), { always: true })
    runtimes.push(runtime)
  }
  const end = async how => {
    await until(() => open.length > 0, 'the runtime is asked')
    endings[how](...open.shift())
  }
  return { runtimes, end }
}

async function goThrough(t, { targets = 1, budget = 8000, pace, before = [], steps, deliveries, told, left }) {
  const { runtimes, end } = await patientRuntimes(t, targets)
  const children = runtimes.map((runtime, i) => trigger(runtime, { id: `t${i}`, ...(pace && { pace }) }))
  const routes = { relay: route('agentchat', targets > 1 ? { first: children } : children[0], { quiet }) }
  const gateway = await startGateway(t, { budget: `${budget * slower}ms`, routes })
  const send = (id, reason) => gateway.wake('relay', 'agentchat', wakeOf(id, reason))

  const earlier = before.map(id => send(id))
  if (before.length > 0) await end('accepted')
  for (const got of await Promise.all(earlier)) assert.equal(got.status, 200, got.text)
  for (const runtime of runtimes) runtime.requests.length = 0

  const answers = []
  const began = Date.now()
  for (const { at, wake, reason, answer } of steps) {
    await pause(began + at * slower - Date.now())
    if (wake) answers.push(send(wake, reason).then(got => [wake, got]))
    if (answer) await end(answer)
  }
  for (const [id, got] of await Promise.all(answers)) expectOutcome(got, told[id], id)
  const made = runtimes.flatMap((runtime, i) =>
    runtime.requests.map(({ json }) => ({
      id: json.delivery_id,
      conversations: json.conversations.map(({ id }) => id),
      reason: json.reason,
      ...(i > 0 && { target: i + 1 })
    }))
  )
  assert.deepEqual(made, deliveries.map(({ at, ...delivery }) => delivery))
  const known = Object.entries(left).filter(([, state]) => state !== 'free')
  await Promise.all(known.map(async ([id, state]) => expectOutcome(await send(id), { relayed: 'duplicate', held: 'held' }[state], id)))
}

test('the cases of the unit test', { concurrency: 6 }, async t => {
  const whole = cases.filter(each => !each.unit)
  assert.ok(whole.length > 15)
  await Promise.all(whole.map(each => t.test(each.name, t => goThrough(t, each))))
})

test('"all": each target has a delivery for all wakes, and a retry reaches those that refused', async t => {
  const runtimes = [await startRuntime(t, 'grok'), await startRuntime(t, 'grok')]
  const all = runtimes.map((runtime, i) => trigger(runtime, { id: `t${i}` }))
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', { all }, { quiet: '500ms' }) } })
  const ids = ['a', 'b']
  const send = () => Promise.all(ids.map(id => gateway.wake('relay', 'agentchat', wakeOf(id))))

  for (const runtime of runtimes) runtime.behave(runtime === runtimes[1] ? endings.refused : endings.accepted, { always: true })
  for (const got of await send()) expectOutcome(got, 'refused')
  runtimes[1].behave(endings.accepted, { always: true })
  for (const got of await send()) expectOutcome(got, 'accepted')
  assert.equal(runtimes[0].requests.length, 1)
  assert.equal(runtimes[1].requests.length, 2)
  for (const { json } of runtimes[1].requests) assert.deepEqual(json.conversations.map(({ id }) => id).sort(), ids)
})

test('a text runtime gets the summaries, the prompt and the first one\'s trailer; log and metrics name the others', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime), { quiet: '500ms', prompt: 'Look.' }) } })
  const answers = await Promise.all(['a', 'b'].map(id => gateway.wake('relay', 'agentchat', wakeOf(id))))
  for (const got of answers) expectOutcome(got, 'accepted')
  const [{ json }] = runtime.requests
  const first = json.message.match(/cycle (\w), attempt 1/)[1]
  const other = first === 'a' ? 'b' : 'a'
  assert.equal(json.message, `Wake ${first}. Wake ${other}.\n\nLook.\n\n(AgentChat wake cycle ${first}, attempt 1. This text carries no message content.)`)
  const [line] = gateway.log('delivered_with')
  assert.deepEqual([line.delivery_id, line.with, line.outcome], [other, first, 'accepted'])
  assert.equal((await gateway.metrics())['wakegate_gathered_total{route="relay"}'], 1)
})

test('wakes that came as text: their first paragraphs, the text of the last, one trailer', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { routes: { relay: route('poke', trigger(runtime), { quiet: '500ms' }) } })
  const answers = await Promise.all(['a', 'b'].map(id => gateway.wake('relay', 'poke', wakeOf(id), { attempt: 3 })))
  for (const got of answers) expectOutcome(got, 'accepted')
  assert.equal(runtime.requests.length, 1)
  const { message } = runtime.requests[0].json
  assert.match(
    message,
    /^Wake (\w)\. Wake (?!\1)\w\.\n\nRead your AgentChat tray and answer what is waiting\.\n\n\(AgentChat wake cycle \1, attempt 1\. This text carries no message content\.\)$/
  )
})

test('a reload inside the window: what gathers is relayed, what comes after it by the new config', async t => {
  const [old, fresh] = [await startRuntime(t, 'grok'), await startRuntime(t, 'grok')]
  const routes = runtime => ({ routes: { relay: route('agentchat', trigger(runtime), { quiet: '1s' }) } })
  const gateway = await startGateway(t, routes(old))
  const first = gateway.wake('relay', 'agentchat', wakeOf('a'))
  await until(async () => (await gateway.metrics()).wakegate_relays_in_flight === 1, 'it gathers')
  gateway.write({ ...gateway.config, ...routes(fresh) })
  gateway.child.kill('SIGHUP')
  await gateway.event('reloaded')
  const second = gateway.wake('relay', 'agentchat', wakeOf('b'))
  expectOutcome(await first, 'accepted')
  expectOutcome(await second, 'accepted')
  assert.deepEqual([old, fresh].map(({ requests }) => requests.map(({ json }) => json.delivery_id)), [['a'], ['b']])
})

test('the end of the process inside the window: 503 draining at once, and the id is free', async t => {
  const runtime = await startRuntime(t, 'grok')
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime), { quiet: '4s' }) } })
  const sent = gateway.wake('relay', 'agentchat', wakeOf('a'))
  await until(async () => (await gateway.metrics()).wakegate_relays_in_flight === 1, 'it gathers')
  await gateway.stop()
  const got = await sent
  assert.equal(got.status, 503, got.text)
  assert.equal(got.json.code, 'draining')
  gateway.write({ ...gateway.config, routes: { relay: { ...gateway.config.routes.relay, quiet: 0 } } })
  await gateway.restart()
  expectOutcome(await gateway.wake('relay', 'agentchat', wakeOf('a')), 'accepted')
})
