// SPDX-License-Identifier: Apache-2.0
// The response contract from outside: every row of the tables in contract/ is bytes over a socket, and
// its answer, its counter and the worth of its id afterwards are checked.
import assert from 'node:assert/strict'
import net from 'node:net'
import { after, before, describe, test } from 'node:test'
import { checkAnswer, exchange, title, worth } from './contract/harness.mjs'
import { outcomes } from './contract/outcomes.mjs'
import { payloads } from './contract/payloads.mjs'
import { proofs } from './contract/proofs.mjs'
import { requests } from './contract/requests.mjs'
import { duplicate, inFlight, overloaded, relayed, unauthorized } from './contract/rows.mjs'
import { shapes } from './contract/shapes.mjs'
import { store } from './contract/store.mjs'
import { route, startGateway, trigger } from './gateway.mjs'
import { bytes, genuine, rawRequest, say } from './raw_socket.mjs'
import { startRedis } from './redis.mjs'
import { startRuntime } from './runtimes.mjs'
import { until } from './until.mjs'
import { framings, newWake } from './wakes.mjs'

/** Something whose end belongs to a whole group of tests. */
function group() {
  const cleanups = []
  after(async () => {
    for (const cleanup of cleanups) await cleanup()
  })
  return { after: cleanup => cleanups.unshift(cleanup) }
}

const other = () => genuine('agentchat', newWake())
const forged = () => rawRequest({ ...genuine('agentchat', newWake(), { secret: 'somebody-elses-secret-of-some-length' }) }).toString('latin1')

describe('the request, the proof, the wake', () => {
  const forAll = group()
  let gateway, poke, exact

  before(async () => {
    poke = await startRuntime(forAll, 'poke')
    exact = await startRuntime(forAll, 'agentchat')
    const routes = { relay: route('agentchat', trigger(poke)), exact: route('agentchat', trigger(exact)) }
    for (const dialect of Object.keys(framings)) routes[`in-${dialect}`] = route(dialect, trigger(poke))
    gateway = await startGateway(forAll, { routes, head_timeout: '2s', body_timeout: '2s' })
  })

  for (const row of [...requests, ...shapes])
    test(title(row), async () => {
      const [wake, hidden] = [newWake(), newWake()]
      const data = [row.bytes(genuine('agentchat', wake))]
      if (row.expect.malformed) data.push(rawRequest(genuine('agentchat', hidden)))
      const { expect } = await exchange({ gateway, route: 'relay', runtime: poke, data: bytes(data), ...row })
      const said = expect.id === 'free' ? 'relayed' : 'duplicate'
      await worth({ gateway, route: 'relay', dialect: 'agentchat', wake, said })
      await worth({ gateway, route: 'relay', dialect: 'agentchat', wake: hidden, said: 'relayed' })
    })

  for (const row of payloads)
    test(title(row), async () => {
      const wake = newWake()
      const { fields, body } = genuine('agentchat', wake, { body: row.body(wake) })
      const typed = row.type === undefined ? fields : fields.map(([name, value]) => [name, name === 'content-type' ? row.type : value])
      await exchange({ gateway, route: 'exact', runtime: exact, data: rawRequest({ target: '/wake/exact', fields: typed, body }), expect: row.expect })
      if (row.exact) assert.equal(exact.requests.at(-1).body, body.toString(), 'the same bytes')
      await worth({ gateway, route: 'exact', dialect: 'agentchat', wake, said: row.expect.id === 'free' ? 'relayed' : 'duplicate' })
    })

  const texts = new Set()
  for (const row of proofs)
    test(title(row), async () => {
      const wake = newWake()
      const name = `in-${row.dialect}`
      const data = rawRequest({ target: `/wake/${name}`, ...row.parts(wake) })
      const { answer } = await exchange({ gateway, route: name, runtime: poke, data, expect: row.expect })
      if (answer.status === 401) assert.equal(texts.add(answer.text).size, 1, 'one text whatever was wrong (corsairdev/corsair#348)')
      await worth({ gateway, route: name, dialect: row.dialect, wake, said: row.expect.id === 'free' ? 'relayed' : 'duplicate' })
    })
})

/** Goes through the steps of a row; see contract/outcomes.mjs and contract/store.mjs. */
async function walk(row, context) {
  const { gateway, route, runtime } = context
  const wake = newWake(row.wake)
  for (const step of row.steps) {
    await step.before?.(context)
    if (step.does) runtime.behave(step.does)
    if (step.unpark) runtime.unpark()
    if (step.listen) await runtime.listen(Number(new URL(runtime.url).port))
    const sent = genuine('agentchat', step.other ? newWake() : wake, step.forged ? { secret: 'somebody-elses-secret-of-some-length' } : {})
    const data = rawRequest({ target: `/wake/${route}`, ...sent })
    const expect = step.forged ? unauthorized : step.expect
    if (step.again) {
      const answer = await until(async () => {
        const last = await say(gateway.url, data)
        return last.status === expect.status && (last.json.status ?? last.json.code) === expect.said && last
      }, () => `"${expect.said}" at ${row.name}\n${gateway.everything()}`)
      checkAnswer(answer, expect)
    } else await exchange({ gateway, route, runtime, data, expect, onlyRoute: true })
  }
}

describe('what the target does', { concurrency: 24 }, () => {
  const forAll = group()
  const contexts = []

  before(async () => {
    const routes = {}
    for (const [index, row] of outcomes.entries()) {
      const name = `row-${index}`
      const runtime = row.room ? undefined : await startRuntime(forAll, row.kind)
      routes[name] = route('agentchat', row.room ? { room: { thread: 'wakes' } } : trigger(runtime, row.target), row.route)
      if (row.closed) await runtime.close()
      contexts.push({ route: name, runtime })
    }
    const rooms = { tokens: [{ client: 'worker', token: { env: 'E2E_SECRET' }, threads: ['wakes'], rights: ['read', 'answer'] }] }
    const gateway = await startGateway(forAll, { routes, rooms, budget: '3s', connections_per_address: 1000 })
    for (const context of contexts) context.gateway = gateway
  })

  for (const [index, row] of outcomes.entries()) test(title(row), () => walk(row, contexts[index]))
})

/** A Redis that says it is loading, whatever it is asked. */
async function loadingRedis(t) {
  const server = net.createServer(socket => {
    socket.on('error', () => {})
    socket.on('data', data => socket.write('-LOADING Redis is loading the dataset in memory\r\n'.repeat(String(data).split(/^\*\d+\r$/m).length - 1)))
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `redis://127.0.0.1:${server.address().port}/0`
}

describe('what the store does', { concurrency: 4 }, () => {
  for (const row of store)
    test(`Redis: ${title(row)}`, async t => {
      const runtime = await startRuntime(t, 'poke')
      const redis = row.kind ? undefined : await startRedis(t)
      const url = { loading: loadingRedis, nobody: () => 'redis://127.0.0.1:1/0' }[row.kind]
      const config = { store: redis?.url ?? (await url(t)), budget: '2s', routes: { relay: route('agentchat', trigger(runtime)) } }
      const gateway = await startGateway(t, config, { ready: !row.kind })
      await walk(row, { gateway, route: 'relay', runtime, redis })
      if (row.kind) assert.equal((await gateway.get('/readyz')).status, 503)
      assert.equal((await gateway.get('/livez')).status, 200)
      assert.doesNotMatch(gateway.everything(), /canary/)
    })
})

describe('what other wakes do', () => {
  test('a wake that another process is relaying (bytedance/deer-flow#4123, flightdeck#127)', async t => {
    const redis = await startRedis(t)
    const runtime = await startRuntime(t, 'poke')
    const config = { store: redis.url, budget: '20s', routes: { relay: route('agentchat', trigger(runtime)) } }
    const [one, two] = await Promise.all([startGateway(t, config), startGateway(t, config)])
    const data = rawRequest(genuine('agentchat', newWake()))
    runtime.behave('park')
    const first = say(one.url, data)
    await until(() => runtime.parked === 1, 'the runtime has it')
    await exchange({ gateway: two, route: 'relay', runtime, data, expect: inFlight })
    runtime.unpark()
    checkAnswer(await first, relayed)
    await exchange({ gateway: two, route: 'relay', runtime, data, expect: duplicate })
  })

  test('more wakes in flight than are allowed', async t => {
    const runtime = await startRuntime(t, 'hermes')
    const gateway = await startGateway(t, { max_in_flight: 2, routes: { relay: route('agentchat', trigger(runtime)) } })
    for (let i = 0; i < 2; i++) runtime.behave('park')
    const two = [0, 1].map(() => say(gateway.url, rawRequest(other())))
    await until(() => runtime.parked === 2, 'two are in flight')
    const data = rawRequest(other())
    await exchange({ gateway, route: 'relay', runtime, data, expect: overloaded })
    await exchange({ gateway, route: 'relay', runtime, data: Buffer.from(forged(), 'latin1'), expect: unauthorized })
    runtime.unpark()
    for (const answer of await Promise.all(two)) checkAnswer(answer, relayed)
    await exchange({ gateway, route: 'relay', runtime, data, expect: relayed })
  })

  test('a wake that was relayed before a restart (NousResearch/hermes-agent#84257)', async t => {
    const runtime = await startRuntime(t, 'poke')
    const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime)) } })
    const data = rawRequest(other())
    await exchange({ gateway, route: 'relay', runtime, data, expect: relayed })
    await gateway.kill()
    await gateway.restart()
    await exchange({ gateway, route: 'relay', runtime, data, expect: duplicate })
  })

  test('one id on two routes, with two bodies (NousResearch/hermes-agent#7448, #33321, #85618)', async t => {
    const runtime = await startRuntime(t, 'poke')
    const gateway = await startGateway(t, { routes: { one: route('agentchat', trigger(runtime)), two: route('agentchat', trigger(runtime)) } })
    const wake = newWake()
    await exchange({ gateway, route: 'one', runtime, data: rawRequest({ target: '/wake/one', ...genuine('agentchat', wake) }), expect: relayed })
    await exchange({ gateway, route: 'two', runtime, data: rawRequest({ target: '/wake/two', ...genuine('agentchat', { ...wake, summary: 'another' }) }), expect: relayed })
    await exchange({ gateway, route: 'one', runtime, data: rawRequest({ target: '/wake/one', ...genuine('agentchat', { ...wake, summary: 'a third' }) }), expect: duplicate })
  })
})
