// SPDX-License-Identifier: Apache-2.0
// Targets together: `first` falls through what is refused, gone, unavailable, paced or resting and stops
// at what is unclear; `all` claims each child for itself and answers with the worst outcome.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { route, startGateway, trigger } from './gateway.mjs'
import { answer, startRuntime } from './runtimes.mjs'
import { until } from './until.mjs'
import { newWake } from './wakes.mjs'

async function combo(t, kinds, target, config = {}) {
  const runtimes = []
  for (const kind of kinds) runtimes.push(await startRuntime(t, kind))
  const gateway = await startGateway(t, { budget: '4s', routes: { relay: route('agentchat', target(...runtimes)) }, ...config })
  return { runtimes, gateway, send: wake => gateway.wake('relay', 'agentchat', wake) }
}
const counts = runtimes => runtimes.map(runtime => runtime.runs.length)

test('first: the first one that accepts has it, the others are not asked', async t => {
  const { runtimes, send } = await combo(t, ['poke', 'grok'], (a, b) => ({ first: [trigger(a), trigger(b)] }))
  const wake = newWake()
  assert.equal((await send(wake)).json.status, 'relayed')
  assert.equal((await send(wake)).json.status, 'duplicate')
  assert.deepEqual(counts(runtimes), [1, 0])
})

for (const [what, how] of Object.entries({
  refused: answer(400, {}),
  gone: answer(410, {}),
  throttled: answer(429, {}),
  broken: answer(500, {})
})) {
  test(`first: ${what} leads on to the next`, async t => {
    const { runtimes, send } = await combo(t, ['agentchat', 'claude-code'], (a, b) => ({ first: [trigger(a), trigger(b)] }))
    const wake = newWake()
    runtimes[0].behave(how)
    const got = await send(wake)
    assert.equal(got.json.status, 'relayed', got.text)
    assert.equal(got.json.run, runtimes[1].runs[0].run)
    assert.equal((await send(wake)).json.status, 'duplicate', 'one claim for the chain')
    assert.deepEqual(counts(runtimes), [0, 1])
  })
}

test('first: one that refuses connections leads on', async t => {
  const { runtimes, send } = await combo(t, ['poke', 'grok'], (a, b) => ({ first: [trigger(a), trigger(b)] }))
  await runtimes[0].close()
  assert.equal((await send(newWake())).json.status, 'relayed')
  assert.equal(runtimes[1].runs.length, 1)
})

test('first: paced leads on', async t => {
  const { runtimes, send } = await combo(t, ['poke', 'grok'], (a, b) => ({ first: [trigger(a, { pace: { per_hour: 1, burst: 1 } }), trigger(b)] }))
  for (let i = 0; i < 3; i++) assert.equal((await send(newWake())).json.status, 'relayed')
  assert.deepEqual(counts(runtimes), [1, 2])
})

test('first: an unclear outcome ends the chain; the resting target leads on', async t => {
  const { runtimes, send } = await combo(t, ['claude-code', 'grok'], (a, b) => ({ first: [trigger(a), trigger(b)] }))
  const wake = newWake()
  runtimes[0].behave('reset')
  const got = await send(wake)
  assert.equal(got.status, 504, got.text)
  assert.equal((await send(wake)).json.code, 'held')
  assert.deepEqual(counts(runtimes), [0, 0], 'nobody else was asked for this wake')
  assert.equal((await send(newWake())).json.status, 'relayed')
  assert.deepEqual(counts(runtimes), [0, 1])
})

test('first: a child that takes too long is unclear too', async t => {
  const { runtimes, send } = await combo(t, ['claude-code', 'grok'], (a, b) => ({ first: [trigger(a, { wait: '1s' }), trigger(b)] }))
  runtimes[0].behave('hang')
  assert.equal((await send(newWake())).status, 504)
  assert.deepEqual(counts(runtimes), [0, 0])
})

test('first: all of them unavailable is 503 and the id is free', async t => {
  const { runtimes, send } = await combo(t, ['poke', 'grok'], (a, b) => ({ first: [trigger(a), trigger(b)] }))
  const wake = newWake()
  for (const runtime of runtimes) runtime.behave(answer(503, {}))
  const got = await send(wake)
  assert.equal(got.status, 503, got.text)
  assert.equal(got.json.code, 'target_unavailable')
  assert.equal((await send(wake)).json.status, 'relayed')
})

test('all: each child gets it once', async t => {
  const { runtimes, send } = await combo(t, ['poke', 'grok', 'hermes'], (...all) => ({ all: all.map(one => trigger(one)) }))
  const wake = newWake()
  assert.equal((await send(wake)).json.status, 'relayed')
  assert.equal((await send(wake)).json.status, 'duplicate')
  assert.deepEqual(counts(runtimes), [1, 1, 1])
})

test('all: a retry goes only to those that have not accepted', async t => {
  const { runtimes, send } = await combo(t, ['poke', 'grok', 'hermes'], (...all) => ({ all: all.map(one => trigger(one)) }))
  const wake = newWake()
  runtimes[1].behave(answer(500, {}))
  const got = await send(wake)
  assert.equal(got.status, 503, got.text)
  assert.equal(got.json.code, 'target_unavailable')
  assert.deepEqual(counts(runtimes), [1, 0, 1])
  assert.equal((await send(wake)).json.status, 'relayed')
  assert.deepEqual(counts(runtimes), [1, 1, 1])
})

test('all: the answer is the worst outcome', async t => {
  const worse = [
    [answer(400, {}), undefined, 502, 'target_refused'],
    [answer(400, {}), answer(503, {}), 503, 'target_unavailable'],
    ['reset', answer(503, {}), 504, 'target_timeout']
  ]
  for (const [first, second, status, code] of worse) {
    const { runtimes, send } = await combo(t, ['poke', 'grok', 'openclaw'], (...all) => ({ all: all.map(one => trigger(one)) }))
    if (first) runtimes[0].behave(first)
    if (second) runtimes[1].behave(second)
    const got = await send(newWake())
    assert.equal(got.status, status, got.text)
    assert.equal(got.json.code, code)
    assert.equal(runtimes[2].runs.length, 1, 'the good one has it all the same')
  }
})

test('all with a chain inside', async t => {
  const { runtimes, send } = await combo(t, ['poke', 'grok', 'hermes'], (a, b, c) => ({ all: [{ first: [trigger(a), trigger(b)] }, trigger(c)] }))
  runtimes[0].behave(answer(503, {}), { always: true })
  const wake = newWake()
  assert.equal((await send(wake)).json.status, 'relayed')
  assert.equal((await send(wake)).json.status, 'duplicate')
  assert.deepEqual(counts(runtimes), [0, 1, 1])
})

test('all: a slow child delays the answer, not the other children', async t => {
  const { runtimes, send } = await combo(t, ['hermes', 'poke'], (a, b) => ({ all: [trigger(a), trigger(b)] }))
  runtimes[0].behave('park')
  const pending = send(newWake())
  await until(() => runtimes[1].runs.length === 1 && runtimes[0].parked === 1, 'both were asked')
  runtimes[0].unpark()
  assert.equal((await pending).json.status, 'relayed')
})
