// SPDX-License-Identifier: Apache-2.0
// Two gateways on one Redis: one wake is one run whoever receives it, pacing and rests hold across
// processes, and a Redis that is away means 503, never "duplicate" and never a run.
import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { answersTo, makeGateway, route, startGateway, trigger } from './gateway.mjs'
import { freePort, startRedis } from './redis.mjs'
import { startRuntime } from './runtimes.mjs'
import { until } from './until.mjs'
import { newWake } from './wakes.mjs'

/** Two gateways with the same config on one Redis, and the runtime that both wake. */
async function pair(t, kind, { target = {}, config = {}, redisOptions = [] } = {}) {
  const redis = await startRedis(t, ...redisOptions)
  const runtime = await startRuntime(t, kind)
  const shared = { store: redis.url, budget: '2s', routes: { relay: route('agentchat', trigger(runtime, target)) }, ...config }
  const [one, two] = await Promise.all([startGateway(t, shared), startGateway(t, shared)])
  const sender = gateway => wake => gateway.wake('relay', 'agentchat', wake)
  return { redis, runtime, one, two, toOne: sender(one), toTwo: sender(two) }
}

test('a wake relayed by one is a duplicate at the other', async t => {
  const { runtime, toOne, toTwo } = await pair(t, 'claude-code')
  const wake = newWake()
  assert.equal((await toOne(wake)).json.status, 'relayed')
  assert.equal((await toTwo(wake)).json.status, 'duplicate')
  assert.equal((await toOne(wake)).json.status, 'duplicate')
  assert.equal(runtime.runs.length, 1)
})

for (const kind of ['claude-code', 'hermes'])
  test(`a wake in flight at ${kind} from one is 503 in_flight at the other, then a duplicate`, async t => {
    const { runtime, toOne, toTwo } = await pair(t, kind, { config: { budget: '20s' } })
    const wake = newWake()
    runtime.behave('park')
    const first = toOne(wake)
    await until(() => runtime.parked === 1, 'the runtime has it')
    const other = await toTwo(wake)
    assert.equal(other.status, 503, other.text)
    assert.equal(other.json.code, 'in_flight')
    assert.match(other.headers['retry-after'], /^[1-9][0-9]*$/)
    runtime.unpark()
    assert.equal((await first).json.status, 'relayed')
    assert.equal((await toTwo(wake)).json.status, 'duplicate')
    assert.equal(runtime.runs.length, 1)
  })

test('many wakes, each sent to both at once, are each one run', async t => {
  const { runtime, toOne, toTwo } = await pair(t, 'poke')
  const wakes = Array.from({ length: 60 }, () => newWake())
  await Promise.all(
    wakes.map(async wake => {
      const answers = await Promise.all([toOne(wake), toTwo(wake)])
      for (const { status, json } of answers)
        assert.ok(status === 200 || (status === 503 && json.code === 'in_flight'), JSON.stringify(json))
      assert.ok(answers.filter(({ json }) => json.status === 'relayed').length <= 1)
      for (const send of [toOne, toTwo])
        await until(async () => (await send(wake)).json.status === 'duplicate', 'it is relayed')
    })
  )
  assert.equal(runtime.runs.length, wakes.length)
})

test('pacing holds across processes', async t => {
  const { runtime, toOne, toTwo } = await pair(t, 'poke', { target: { pace: { per_hour: 60, burst: 3 } } })
  const answers = []
  for (let i = 0; i < 4; i++) {
    answers.push(await toOne(newWake()))
    answers.push(await toTwo(newWake()))
  }
  assert.equal(answers.filter(({ status }) => status === 200).length, 3)
  for (const { status, json } of answers.filter(({ status }) => status !== 200)) {
    assert.equal(status, 503)
    assert.equal(json.code, 'paced')
  }
  assert.equal(runtime.runs.length, 3)
})

test('an unclear outcome at one holds the id and rests the target at the other', async t => {
  const { runtime, toOne, toTwo } = await pair(t, 'claude-code')
  const wake = newWake()
  runtime.behave('reset')
  assert.equal((await toOne(wake)).status, 504)
  assert.equal((await toTwo(wake)).json.code, 'held')
  assert.equal((await toTwo(newWake())).json.code, 'resting')
  assert.equal(runtime.requests.length, 1)
})

test('a killed gateway leaves its sent wake claimed: nobody fires it again', async t => {
  const { runtime, one, toOne, toTwo } = await pair(t, 'claude-code', { config: { budget: '20s' } })
  const wake = newWake()
  runtime.behave('hang')
  const lost = toOne(wake).catch(() => undefined)
  await until(() => runtime.requests.length === 1, 'the runtime has it')
  await one.kill()
  await lost
  const other = await toTwo(wake)
  assert.equal(other.status, 503, other.text)
  assert.equal(other.json.code, 'in_flight')
  assert.ok(Number(other.headers['retry-after']) > 0)
  assert.equal(runtime.requests.length, 1)
})

test('a gateway that starts takes nobody in before Redis answers, and so refuses no wake', async t => {
  const redis = await startRedis(t)
  const runtime = await startRuntime(t, 'poke')
  const listen = `127.0.0.1:${await freePort()}`
  const gateway = makeGateway(t, { listen, store: redis.url, routes: { relay: route('agentchat', trigger(runtime)) } })
  const connected = () =>
    new Promise(resolve => {
      const socket = net.connect(listen.split(':')[1], '127.0.0.1', () => resolve(socket.destroy()))
      socket.on('error', () => resolve(false))
    })
  gateway.url = `http://${listen}`
  redis.freeze()
  gateway.launch()
  await until(connected, () => `it listens\n${gateway.everything()}`)
  assert.equal(gateway.log('listening').length, 0)
  const answer = gateway.wake('relay', 'agentchat', newWake())
  redis.thaw()
  assert.equal((await answer).json.status, 'relayed')
  assert.equal(runtime.runs.length, 1)
})

test('a gateway that starts without Redis says so, and works when Redis comes', async t => {
  const redis = await startRedis(t)
  const runtime = await startRuntime(t, 'poke')
  redis.freeze()
  const gateway = await startGateway(t, { store: redis.url, routes: { relay: route('agentchat', trigger(runtime)) } }, { ready: false })
  assert.equal((await gateway.get('/livez')).status, 200)
  assert.equal((await gateway.get('/readyz')).json.status, 'store_unavailable')
  redis.thaw()
  await answersTo(() => gateway.wake('relay', 'agentchat', newWake()), 200)
})

test('Redis away: store_unavailable and no run; back again: as if nothing had been', async t => {
  const { redis, runtime, one, toOne, toTwo } = await pair(t, 'poke')
  const before = newWake()
  assert.equal((await toOne(before)).json.status, 'relayed')
  await redis.kill()
  for (const send of [toOne, toTwo])
    for (const wake of [before, newWake()]) {
      const got = await send(wake)
      assert.equal(got.status, 503, got.text)
      assert.equal(got.json.code, 'store_unavailable')
      assert.match(got.headers['retry-after'], /^[1-9][0-9]*$/)
    }
  assert.equal((await one.get('/livez')).status, 200)
  await until(async () => (await one.get('/readyz')).status === 503, 'ready is false')
  assert.equal(runtime.runs.length, 1)
  await redis.start()
  const wake = newWake()
  await answersTo(() => toOne(wake), 200)
  await answersTo(() => toTwo(wake), 200)
  await until(async () => (await one.get('/readyz')).status === 200, 'ready again')
  assert.equal(runtime.runs.length, 2)
})

test('a frozen Redis is 503 within the budget, and thawed it serves again', async t => {
  const { redis, runtime, one, toOne } = await pair(t, 'poke')
  assert.equal((await toOne(newWake())).json.status, 'relayed')
  redis.freeze()
  const wake = newWake()
  const got = await toOne(wake)
  assert.equal(got.status, 503, got.text)
  assert.equal(got.json.code, 'store_unavailable')
  assert.equal((await one.get('/livez')).status, 200)
  redis.thaw()
  await answersTo(() => toOne(wake), 200)
  assert.ok(runtime.runs.length >= 2)
})

test('Redis goes away after the target accepted: 200, and the settlement is written later', async t => {
  const { redis, runtime, one, toOne, toTwo } = await pair(t, 'poke', { config: { budget: '10s' } })
  const wake = newWake()
  runtime.behave('park')
  const first = toOne(wake)
  await until(() => runtime.parked === 1, 'the runtime has it')
  redis.freeze()
  runtime.unpark()
  const got = await first
  assert.equal(got.status, 200, got.text)
  assert.equal(got.json.status, 'relayed')
  redis.thaw()
  await until(async () => (await toTwo(wake)).json.status === 'duplicate', 'the settlement is there')
  const metrics = await one.metrics()
  assert.ok(Object.entries(metrics).some(([name, value]) => /settle/.test(name) && value > 0), 'counted')
  assert.equal(runtime.runs.length, 1)
})

test('a full and a read-only Redis are store_unavailable', async t => {
  const { redis, runtime, toOne } = await pair(t, 'poke')
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  await redis.command('CONFIG', 'SET', 'maxmemory', '1')
  const full = await toOne(newWake())
  assert.equal(full.json.code, 'store_unavailable', full.text)
  await redis.command('CONFIG', 'SET', 'maxmemory', '0')
  await answersTo(() => toOne(newWake()), 200)
  await redis.command('REPLICAOF', '127.0.0.1', '1')
  const readonly = await toOne(newWake())
  assert.equal(readonly.json.code, 'store_unavailable', readonly.text)
  const runs = runtime.runs.length
  await redis.command('REPLICAOF', 'NO', 'ONE')
  await answersTo(() => toOne(newWake()), 200)
  assert.equal(runtime.runs.length, runs + 1)
})

test('SCRIPT FLUSH between two wakes is not noticed', async t => {
  const { redis, toOne } = await pair(t, 'poke')
  const wake = newWake()
  assert.equal((await toOne(wake)).json.status, 'relayed')
  await redis.command('SCRIPT', 'FLUSH')
  await answersTo(() => toOne(wake), 200)
  assert.equal((await toOne(newWake())).json.status, 'relayed')
})

test('a password is sent, and a wrong one is told without being shown', async t => {
  const redis = await startRedis(t)
  const runtime = await startRuntime(t, 'poke')
  await redis.command('CONFIG', 'SET', 'requirepass', 'canary-redis-password')
  const routes = { relay: route('agentchat', trigger(runtime)) }
  const right = await startGateway(t, { store: redis.url.replace('//', '//:canary-redis-password@'), routes })
  assert.equal((await right.wake('relay', 'agentchat', newWake())).json.status, 'relayed')
  const wrong = await startGateway(t, { store: redis.url.replace('//', '//:canary-wrong-password@'), routes }, { ready: false })
  const got = await wrong.wake('relay', 'agentchat', newWake())
  assert.equal(got.json.code, 'store_unavailable', got.text)
  for (const gateway of [right, wrong]) assert.doesNotMatch(gateway.everything(), /canary/)
})

test('records end: every key that a wake leaves has a time to live', async t => {
  const { redis, toOne } = await pair(t, 'poke', { target: { pace: { per_hour: 1000, burst: 10 } } })
  await toOne(newWake())
  const keys = (await redis.command('KEYS', '*')).split('\r\n').filter((line, i) => i > 0 && i % 2 === 0 && line)
  assert.ok(keys.length >= 1)
  for (const key of keys) {
    const reply = await redis.command('PTTL', key)
    const left = Number(reply.slice(1))
    assert.ok(left > 0 && left <= 31 * 24 * 3600_000, `${key}: ${reply}`)
  }
})
