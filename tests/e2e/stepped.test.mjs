// SPDX-License-Identifier: Apache-2.0
// What goes by the store's clock, with that clock set forward and back: again_after, pacing and resting,
// over several processes and restarts. With Redis it is the server's clock, with SQLite the gateway's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { route, startGateway, trigger } from './gateway.mjs'
import { startRedisIn } from './redis.mjs'
import { startRuntime } from './runtimes.mjs'
import { steppedClock } from './stepped.mjs'
import { newWake, seconds } from './wakes.mjs'

const minute = 60
const hour = 60 * minute

/** `count` gateways on one store whose clock is stepped, and a way to send through one of them. */
async function house(t, store, { count = 1, kind = 'grok', target = {}, over = {} }) {
  const clock = steppedClock(t)
  const runtime = await startRuntime(t, kind)
  const config = { budget: '2s', routes: { relay: route('agentchat', trigger(runtime, target), over) } }
  const redis = store === 'redis' && (await startRedisIn(t, clock.env))
  const gateways = []
  for (let i = 0; i < count; i++)
    gateways.push(await startGateway(t, redis ? { ...config, store: redis.url } : config, { env: redis ? {} : clock.env }))
  let offset = 0
  return {
    runtime,
    gateways,
    redis,
    step(to) {
      offset = to
      clock.step(to)
    },
    send(wake, i = 0) {
      return gateways[i % count].wake('relay', 'agentchat', wake, { at: seconds() + (redis ? 0 : offset) })
    }
  }
}

const word = got => got.json.status ?? got.json.code

function expectWait(got, code, least, most) {
  assert.equal(word(got), code, got.text)
  const wait = Number(got.headers['retry-after'])
  assert.ok(wait >= least && wait <= most, `Retry-After: ${wait}, not in ${least}..${most}`)
}

for (const store of ['sqlite', 'redis']) {
  test(`${store}: again_after`, async t => {
    const { runtime, gateways, send, step } = await house(t, store, { kind: 'standard-webhooks', over: { again_after: '2m' } })
    const wake = newWake()
    assert.equal(word(await send(wake)), 'relayed')
    assert.equal(word(await send(wake)), 'duplicate')
    step(minute)
    assert.equal(word(await send(wake)), 'duplicate', 'being seen again does not put it off')
    step(2 * minute + 1)
    assert.equal(word(await send(wake)), 'relayed')
    assert.equal(word(await send(wake)), 'duplicate')
    step(3 * minute)
    assert.equal(word(await send(wake)), 'duplicate')
    step(4 * minute + 5)
    assert.equal(word(await send(wake)), 'relayed')

    const keys = runtime.runs.map(({ request }) => request.headers['webhook-id'])
    assert.equal(new Set(keys).size, 3, keys.join(' '))
    assert.deepEqual(gateways[0].log('delivery').map(line => line.generation), [undefined, 1, 2])
    const metrics = await gateways[0].metrics()
    assert.equal(metrics['wakegate_again_total{route="relay"}'], 2)
    for (const [name, value] of Object.entries(metrics)) if (name.startsWith('wakegate_repeats_total{')) assert.equal(value, 0, `${name}: it is no repeat by accident`)
  })

  test(`${store}: a refused try of a new generation leaves the next one to the same`, async t => {
    const { runtime, gateways, send, step } = await house(t, store, { over: { again_after: '1m' } })
    const wake = newWake()
    assert.equal(word(await send(wake)), 'relayed')
    step(minute + 1)
    runtime.behave((_, response) => response.writeHead(503).end())
    assert.equal(word(await send(wake)), 'target_unavailable')
    assert.equal(word(await send(wake)), 'relayed')
    assert.deepEqual(gateways[0].log('delivery').map(line => line.generation), [undefined, 1, 1])
    assert.equal((await gateways[0].metrics())['wakegate_again_total{route="relay"}'], 1)
  })

  test(`${store}: a bucket over restarts and steps of the clock`, async t => {
    const { gateways, send, step } = await house(t, store, { target: { pace: { per_hour: 60, burst: 3 } } })
    const accepted = async () => {
      let count = 0
      let got
      while (word((got = await send(newWake()))) === 'relayed') count++
      expectWait(got, 'paced', 1, minute)
      return count
    }
    assert.equal(await accepted(), 3)
    await gateways[0].kill()
    await gateways[0].restart()
    assert.equal(await accepted(), 0, 'a restart fills nothing')
    step(-200)
    assert.equal(await accepted(), 0, 'nor does a clock that goes back')
    step(-200 + minute + 1)
    assert.equal(await accepted(), 1, 'from there on it fills as ever')
    step(hour)
    assert.equal(await accepted(), 3, 'and never over its size')
    step(0)
    assert.equal(await accepted(), 0)
    step(minute + 1)
    assert.equal(await accepted(), 1)
  })

  test(`${store}: a rest over restarts and steps of the clock`, async t => {
    const { runtime, gateways, send, step } = await house(t, store, { target: { hold: '4m' } })
    const unclear = newWake()
    runtime.behave('reset')
    assert.equal(word(await send(unclear)), 'target_timeout')
    await gateways[0].kill()
    await gateways[0].restart()
    expectWait(await send(newWake()), 'resting', 3 * minute, 4 * minute)
    expectWait(await send(unclear), 'held', 3 * minute, 4 * minute)
    step(-250)
    expectWait(await send(newWake()), 'resting', 3 * minute, 4 * minute)
    expectWait(await send(unclear), 'held', 3 * minute, 4 * minute)
    assert.equal(runtime.requests.length, 1, 'nothing is sent before its time')
    step(-250 + 4 * minute + 1)
    assert.equal(word(await send(newWake())), 'relayed', 'and no rest outlasts its length')
    assert.equal(word(await send(unclear)), 'relayed')
  })
}

test('one bucket for many processes', async t => {
  const { gateways, runtime, send, step } = await house(t, 'redis', { count: 4, target: { pace: { per_hour: 60, burst: 5 } } })
  const volley = async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => send(newWake(), i)))
    for (const got of answers) if (word(got) !== 'relayed') expectWait(got, 'paced', 1, minute)
    return answers.filter(got => word(got) === 'relayed').length
  }
  assert.equal(await volley(), 5)
  await gateways[1].kill()
  await gateways[1].restart()
  step(2 * minute + 1)
  assert.equal(await volley(), 2)
  step(-hour)
  assert.equal(await volley(), 0)
  step(hour)
  assert.equal(await volley(), 5)
  assert.equal(runtime.runs.length, 12)
})

test('a target that rests for one process rests for all', async t => {
  const { gateways, runtime, send, step } = await house(t, 'redis', { count: 3, target: { hold: '4m' } })
  runtime.behave('reset')
  assert.equal(word(await send(newWake(), 0)), 'target_timeout')
  for (const i of gateways.keys()) expectWait(await send(newWake(), i), 'resting', 3 * minute, 4 * minute)
  step(4 * minute + 1)
  for (const i of gateways.keys()) assert.equal(word(await send(newWake(), i)), 'relayed')
})

test('the sender\'s ladder brings every paced wake: a dozen at once to a routine of 30 an hour, three at once, are through with its last step', async t => {
  const { runtime, send, step } = await house(t, 'redis', { count: 2, target: { pace: { per_hour: 30, burst: 3 } } })
  let waiting = Array.from({ length: 12 }, () => newWake())
  const through = []
  for (const at of [0, 1, 6, 36, 216]) {
    step(at * minute + 1)
    const answers = await Promise.all(waiting.map(async (wake, i) => [wake, await send(wake, i)]))
    waiting = answers.filter(([, got]) => word(got) !== 'relayed').map(([wake]) => wake)
    for (const [, got] of answers) if (word(got) !== 'relayed') expectWait(got, 'paced', 1, 2 * minute)
    through.push(12 - waiting.length)
  }
  assert.deepEqual(through, [3, 3, 6, 9, 12])
  assert.equal(runtime.runs.length, 12, 'each once')
})
