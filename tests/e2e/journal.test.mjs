// SPDX-License-Identifier: Apache-2.0
// The journal over the admin API: what it has, who may see it, and delivering a wake once more.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { route, scratch, startGateway, trigger } from './gateway.mjs'
import { request } from './http.mjs'
import { startRedis } from './redis.mjs'
import { answer, runtimeSecrets, startRuntime } from './runtimes.mjs'
import { until } from './until.mjs'
import { framed, handle, newWake, secret, standardSecret, textOf } from './wakes.mjs'

const token = 'e2e-admin-token-0123456789'
const secondToken = 'e2e-admin-token-second-0123456789'
const env = { E2E_ADMIN: token, E2E_ADMIN_SECOND: secondToken }
const bearer = value => ({ authorization: `Bearer ${value}` })

/** Asks the admin API at `base`. */
function ask(base, where, { method = 'GET', headers = bearer(token), ...more } = {}) {
  return request(base + where, { method, headers, ...more })
}

/** What the journal has, once it has `count` lines. */
async function journal(gateway, count, query = '') {
  let got
  return until(
    async () => {
      got = await ask(gateway.url, `/admin/deliveries?limit=500${query}`)
      assert.equal(got.status, 200, got.text)
      return got.json.deliveries.length >= count && got.json.deliveries
    },
    () => `the journal has ${count}: ${got.text}`
  )
}

function redeliver(gateway, wake, query = '') {
  return ask(gateway.url, `/admin/deliveries/${wake.delivery_id}/redeliver${query}`, { method: 'POST' })
}

/** A gateway with a route `relay` from `dialect` to a runtime of `kind`. */
async function relayTo(t, kind, { dialect = 'agentchat', over = {}, target = {}, config = {}, options = {} } = {}) {
  const runtime = await startRuntime(t, kind)
  const routes = { relay: route(dialect, trigger(runtime, target), over) }
  const gateway = await startGateway(t, { admin_token: { env: 'E2E_ADMIN' }, routes, ...config }, { env, ...options })
  return { runtime, gateway, send: wake => gateway.wake('relay', dialect, wake) }
}

const stores = {
  sqlite: async () => ({ store: 'sqlite:wakegate.db', bytes: gateway => ['', '-wal'].map(end => fs.readFileSync(path.join(gateway.directory, `wakegate.db${end}`), 'latin1')).join('') }),
  redis: async t => {
    const redis = await startRedis(t)
    return { store: redis.url, bytes: () => redis.command('XRANGE', 'wakegate:1:history:{#journal}', '-', '+') }
  }
}

// --- what it has ---------------------------------------------------------------------------------

for (const [name, open] of Object.entries(stores)) {
  test(`${name}: each delivery has its line, and no secret is in any`, async t => {
    const { store, bytes } = await open(t)
    const { gateway, runtime, send } = await relayTo(t, 'openclaw', { config: { store } })
    const first = newWake()
    const second = newWake({ reason: 'reminder', summary: 'a "quoted" line\n\\ with ünïcode \u0085 in it' })
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const traced = framed('agentchat', first)
    traced.headers.traceparent = `00-${trace}-00f067aa0ba902b7-01`
    assert.equal((await request(`${gateway.url}/wake/relay`, traced)).json.status, 'relayed')
    runtime.behave(answer(404, 'Not Found'))
    assert.equal((await send(second)).json.code, 'target_refused')
    assert.equal((await gateway.wake('relay', 'agentchat', newWake(), { secret: 'not the secret' })).status, 401)
    assert.equal((await send(first)).json.status, 'duplicate')

    const lines = await journal(gateway, 2)
    assert.equal(lines.length, 2, 'nothing unproven, and no duplicate')
    const [one, two] = lines
    assert.deepEqual(Object.keys(one).sort(), ['at', 'delivery_id', 'detail', 'outcome', 'reason', 'route', 'run', 'target', 'trace_id', 'us'])
    assert.equal(one.delivery_id, first.delivery_id)
    assert.equal(one.outcome, 'accepted')
    assert.equal(one.route, 'relay')
    assert.equal(one.run, runtime.runs[0].run)
    assert.equal(one.trace_id, trace)
    assert.ok(Math.abs(Date.parse(one.at) - Date.now()) < 60_000)
    assert.equal(two.outcome, 'refused')
    assert.match(two.detail, /404/)

    const kept = await bytes(gateway)
    assert.ok(kept.includes(first.delivery_id))
    for (const canary of [secret, standardSecret, token, ...Object.values(runtimeSecrets), runtime.url])
      assert.ok(!kept.includes(canary), `${canary} is in the journal`)
  })

  test(`${name}: filters, pages and bad questions`, async t => {
    const { store } = await open(t)
    const { gateway, runtime, send } = await relayTo(t, 'poke', { config: { store } })
    const wakes = Array.from({ length: 7 }, () => newWake())
    for (const [i, wake] of wakes.entries()) {
      if (i % 3 === 2) runtime.behave(answer(401, {}))
      await send(wake)
    }
    const all = await journal(gateway, 7)
    assert.deepEqual(all.map(line => line.delivery_id), wakes.map(wake => wake.delivery_id))
    const get = query => ask(gateway.url, `/admin/deliveries?${query}`)
    assert.equal((await get('outcome=refused')).json.deliveries.length, 2)
    assert.equal((await get('route=relay&outcome=accepted')).json.deliveries.length, 5)
    assert.equal((await get('route=other')).json.deliveries.length, 0)
    assert.equal((await get(`id=${wakes[3].delivery_id}`)).json.deliveries.length, 1)
    assert.equal((await get(`since=${all[4].at}`)).json.deliveries.at(-1).delivery_id, wakes[6].delivery_id)
    assert.equal((await get(`since=${new Date(Date.now() + 3600_000).toISOString()}`)).json.deliveries.length, 0)

    const paged = []
    for (let after = '', more = true; more; ) {
      const { json } = await get(`limit=2${after}`)
      assert.ok(json.deliveries.length <= 2)
      paged.push(...json.deliveries)
      more = json.more
      after = `&after=${json.next}`
    }
    assert.deepEqual(paged, all)
    const end = (await get('limit=500')).json.next
    assert.deepEqual((await get(`after=${end}`)).json, { deliveries: [], next: end, more: false })

    for (const bad of ['outcom=accepted', 'outcome=fine', 'limit=0', 'limit=501', 'limit=-1', 'after=x', 'after=1-x', 'since=yesterday',
      'route=a&route=b', 'route=%41', 'limit=1e2', 'x%0ay=1']) {
      const got = await get(bad)
      assert.equal(got.status, 400, `${bad}: ${got.text}`)
      assert.equal(got.json.code, 'invalid_query')
    }
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const got = await ask(gateway.url, '/admin/deliveries', { method })
      assert.equal(got.status, 405)
      assert.equal(got.headers.allow, 'GET, HEAD')
    }
    assert.equal((await ask(gateway.url, `/admin/deliveries/${wakes[0].delivery_id}/redeliver`)).status, 405)
    for (const where of ['/admin/', '/admin/x', '/admin/deliveries/', '/admin/deliveries//redeliver', '/admin/deliveries/a.b/redeliver'])
      assert.equal((await ask(gateway.url, where, { method: 'POST' })).status, 404, where)
  })

  test(`${name}: so many are kept, and what a process had is written before it ends`, async t => {
    const { store } = await open(t)
    const { gateway, send } = await relayTo(t, 'grok', { config: { store, journal: { kept: 100 } } })
    const wakes = Array.from({ length: 130 }, () => newWake())
    for (const wake of wakes) assert.equal((await send(wake)).status, 200)
    await gateway.stop()
    await gateway.restart()
    const lines = await journal(gateway, 100)
    assert.deepEqual(lines.map(line => line.delivery_id), wakes.slice(30).map(wake => wake.delivery_id))
  })
}

test('where the journal is off nothing is kept', async t => {
  const { gateway, send } = await relayTo(t, 'poke', { config: { journal: false } })
  const wake = newWake()
  assert.equal((await send(wake)).status, 200)
  for (const got of [await ask(gateway.url, '/admin/deliveries'), await redeliver(gateway, wake)]) {
    assert.equal(got.status, 404)
    assert.equal(got.json.code, 'no_journal')
  }
})

test('while the store is away wakes are answered as ever, and what it missed comes after or is counted', async t => {
  const redis = await startRedis(t)
  const { gateway, send } = await relayTo(t, 'poke', { config: { store: redis.url } })
  await send(newWake())
  await journal(gateway, 1)
  await redis.kill()
  const got = await ask(gateway.url, '/admin/deliveries')
  assert.equal(got.status, 503)
  assert.equal(got.json.code, 'store_unavailable')
  await redis.start()
  const wake = newWake()
  await until(async () => (await send(wake)).status === 200, 'it relays again')
  assert.ok((await journal(gateway, 1)).some(line => line.delivery_id === wake.delivery_id))
})

// --- once more -----------------------------------------------------------------------------------

test('a redelivery starts an idempotent runtime again, under another key', async t => {
  const { gateway, runtime, send } = await relayTo(t, 'hermes')
  const wake = newWake()
  assert.equal((await send(wake)).json.status, 'relayed')
  await journal(gateway, 1)
  for (const generation of [1, 2]) {
    const got = await redeliver(gateway, wake)
    assert.equal(got.status, 200, got.text)
    assert.equal(got.json.status, 'relayed')
    assert.equal(got.json.generation, generation)
    assert.equal(got.json.delivery_id, wake.delivery_id)
  }
  assert.equal(runtime.runs.length, 3)
  assert.equal(new Set(runtime.runs.map(({ run }) => run)).size, 3)
  assert.equal(new Set(runtime.requests.map(({ body }) => body)).size, 1, 'the same wake, byte for byte')
  assert.equal((await send(wake)).json.status, 'duplicate', 'the sender is told as before')
  const lines = await journal(gateway, 3)
  assert.deepEqual(lines.map(line => line.generation), [undefined, 1, 2])
  const logged = gateway.log('admin').filter(entry => entry.redeliver === wake.delivery_id)
  assert.equal(logged.length, 2)
})

test('what one instance delivered another delivers again', async t => {
  const redis = await startRedis(t)
  const runtime = await startRuntime(t, 'claude-code')
  const routes = { relay: route('agentchat', trigger(runtime)) }
  const config = { store: redis.url, admin_token: { env: 'E2E_ADMIN' }, routes }
  const one = await startGateway(t, config, { env })
  const two = await startGateway(t, config, { env })
  const wake = newWake()
  assert.equal((await one.wake('relay', 'agentchat', wake)).json.status, 'relayed')
  await journal(two, 1)
  assert.equal((await redeliver(two, wake)).json.generation, 1)
  assert.equal(runtime.runs.length, 2)
  assert.equal((await journal(one, 2)).length, 2)
  assert.match(await redis.command('EXISTS', 'wakegate:1:feed'), /^:0/, 'nobody was told to look')
  const clients = await redis.command('CLIENT', 'LIST')
  assert.equal(clients.match(/^id=/gm).length, 3, 'one connection for each instance, and this one')
})

test('a wake that was refused is delivered again as the same generation', async t => {
  const { gateway, runtime, send } = await relayTo(t, 'openclaw')
  const wake = newWake()
  runtime.behave(answer(400, { ok: false, error: 'unknown agentId' }))
  assert.equal((await send(wake)).json.code, 'target_refused')
  await journal(gateway, 1)
  const got = await redeliver(gateway, wake)
  assert.equal(got.json.status, 'relayed', got.text)
  assert.equal(got.json.generation, undefined)
  assert.equal((await redeliver(gateway, wake)).json.generation, 1)
  runtime.behave(answer(503, ''))
  assert.equal((await redeliver(gateway, wake)).json.code, 'target_unavailable', 'answered as the sender would be')
})

test('a held id is redelivered only by force, though its target rests', async t => {
  const { gateway, runtime, send } = await relayTo(t, 'claude-code')
  const wake = newWake()
  runtime.behave('reset')
  assert.equal((await send(wake)).json.code, 'target_timeout')
  await journal(gateway, 1)
  const held = await redeliver(gateway, wake)
  assert.equal(held.status, 503)
  assert.equal(held.json.code, 'held')
  assert.ok(Number(held.headers['retry-after']) > 200)
  assert.equal(runtime.requests.length, 1)
  const forced = await redeliver(gateway, wake, '?force=true')
  assert.equal(forced.json.status, 'relayed', forced.text)
  assert.equal(forced.json.generation, 1)
  assert.equal(runtime.runs.length, 1)
  assert.equal((await send(wake)).json.status, 'duplicate')
  assert.equal((await send(newWake())).json.code, 'resting', 'the rest of the target goes on for others')
})

for (const elsewhere of [false, true])
  test(`a wake that is being relayed ${elsewhere ? 'elsewhere' : 'here'} is redelivered only by force`, async t => {
    const redis = await startRedis(t)
    const { gateway, runtime, send } = await relayTo(t, 'claude-code', { config: { store: redis.url, budget: '20s' } })
    const other = elsewhere ? await startGateway(t, gateway.config, { env }) : gateway
    const wake = newWake()
    runtime.behave(answer(401, {}))
    await send(wake)
    await journal(gateway, 1)
    runtime.behave('park')
    const running = send(wake)
    await until(() => runtime.parked === 1, 'the runtime has it')
    const got = await redeliver(other, wake)
    assert.equal(got.status, 503)
    assert.equal(got.json.code, 'in_flight')
    assert.equal(runtime.requests.length, 2)
    const forced = await redeliver(other, wake, '?force=true')
    assert.equal(forced.json.status, 'relayed', forced.text)
    assert.equal(forced.json.generation, 1)
    runtime.unpark()
    assert.equal((await running).json.status, 'relayed', 'and it was true for that one, too')
    assert.equal(runtime.runs.length, 2)
    assert.equal((await send(wake)).json.status, 'duplicate')
  })

test('a text goes again as it came, with what stood beside it', async t => {
  const { gateway, runtime, send } = await relayTo(t, 'poke', { dialect: 'claude-code' })
  const wake = newWake()
  assert.equal((await send(wake)).status, 200)
  const body = JSON.stringify({ text: textOf(wake, 3), ...newWake({ delivery_id: wake.delivery_id }), delivery_id: 'beside' })
  assert.equal((await gateway.wake('relay', 'claude-code', wake, { body })).status, 200)
  await journal(gateway, 2)
  assert.equal((await redeliver(gateway, wake)).json.generation, 1)
  assert.equal((await redeliver(gateway, { delivery_id: 'beside' })).json.generation, 1)
  const texts = runtime.requests.map(({ json }) => json.message)
  assert.equal(texts[0], textOf(wake))
  assert.equal(texts[2], texts[0])
  assert.equal(texts[3], texts[1])
})

test('what stood beside a text is there again for a runtime that wants the payload', async t => {
  const { gateway, runtime } = await relayTo(t, 'grok', { dialect: 'openclaw' })
  const wake = newWake({ reason: 'reminder', step: 2 })
  const body = JSON.stringify({ message: textOf(wake), ...wake })
  assert.equal((await gateway.wake('relay', 'openclaw', wake, { body })).status, 200)
  await journal(gateway, 1)
  assert.equal((await redeliver(gateway, wake)).json.generation, 1)
  assert.deepEqual(runtime.requests[1].json, runtime.requests[0].json)
  assert.equal(runtime.requests[1].json.step, 2)
})

test('a wake that was left in a room is left there again', async t => {
  const rooms = { tokens: [{ client: 'watcher', token: { env: 'E2E_ADMIN_SECOND' }, threads: ['*'] }] }
  const routes = { relay: route('agentchat', { room: { thread: 'wakes', accept: 'stored' } }) }
  const gateway = await startGateway(t, { admin_token: { env: 'E2E_ADMIN' }, rooms, routes }, { env })
  const wake = newWake()
  assert.equal((await gateway.wake('relay', 'agentchat', wake)).json.status, 'relayed')
  const [line] = await journal(gateway, 1)
  assert.equal(line.outcome, 'accepted')
  const got = await redeliver(gateway, wake)
  assert.equal(got.json.status, 'relayed', got.text)
  assert.equal(got.json.generation, 1)
  assert.equal((await journal(gateway, 2)).length, 2)
})

test('several places: one must be named; places that are gone, ids that are unknown, wakes too long to keep', async t => {
  const first = await startRuntime(t, 'grok')
  const second = await startRuntime(t, 'poke')
  const routes = {
    both: route('agentchat', { all: [trigger(first, { id: 'left' }), { first: [trigger(first, { id: 'near' }), trigger(second, { id: 'far' })], id: 'chain' }] }),
    gone: route('agentchat', trigger(second))
  }
  const gateway = await startGateway(t, { admin_token: { env: 'E2E_ADMIN' }, routes }, { env })
  const wake = newWake()
  first.behave(answer(200, ''))
  first.behave(answer(404, {}))
  const sent = await gateway.wake('both', 'agentchat', wake)
  assert.equal(sent.status, 200, sent.text)
  const lines = await journal(gateway, 3)
  assert.deepEqual(lines.map(line => [line.target, line.destination, line.outcome]).sort(), [
    ['far', 'chain', 'accepted'], ['left', undefined, 'accepted'], ['near', 'chain', 'refused']])
  const ambiguous = await redeliver(gateway, wake)
  assert.equal(ambiguous.status, 409)
  assert.equal(ambiguous.json.code, 'ambiguous_delivery')
  assert.match(ambiguous.json.message, /both\/left/)
  assert.match(ambiguous.json.message, /both\/chain/)
  assert.equal((await redeliver(gateway, wake, '?target=left')).json.status, 'relayed')
  assert.equal((await redeliver(gateway, wake, '?route=both&target=far')).json.status, 'relayed')
  assert.equal(second.requests.length, 1, 'the chain begins with its first target again')

  for (const query of ['?target=none', '?route=none']) {
    const got = await redeliver(gateway, wake, query)
    assert.equal(got.status, 404)
    assert.equal(got.json.code, 'unknown_delivery')
  }
  assert.equal((await redeliver(gateway, newWake())).json.code, 'unknown_delivery')
  for (const query of ['?force=yes', '?rout=both', '?force=true&force=true'])
    assert.equal((await redeliver(gateway, wake, query)).json.code, 'invalid_query')

  const long = newWake({ conversations: Array.from({ length: 200 }, (_, i) => ({ id: `conv_${i}`, unread: 1, latest_sender: handle })) })
  assert.equal((await gateway.wake('gone', 'agentchat', long)).status, 200)
  const moved = newWake()
  assert.equal((await gateway.wake('gone', 'agentchat', moved)).status, 200)
  await journal(gateway, 1, `&id=${moved.delivery_id}`)
  const tooLong = await redeliver(gateway, long)
  assert.equal(tooLong.status, 409)
  assert.equal(tooLong.json.code, 'wake_not_kept')
  gateway.write({ ...gateway.config, routes: { both: routes.both } })
  gateway.child.kill('SIGHUP')
  await gateway.event('reloaded')
  const gone = await redeliver(gateway, moved)
  assert.equal(gone.status, 409)
  assert.equal(gone.json.code, 'unknown_target')
  assert.match(gone.json.message, /gone\//)
})

// --- who may -------------------------------------------------------------------------------------

test('without the token nothing is told, whatever is wrong with it; refusals are logged and counted', async t => {
  const { gateway, runtime, send } = await relayTo(t, 'poke')
  const wake = newWake()
  await send(wake)
  await journal(gateway, 1)
  const wrong = [{}, bearer(''), bearer('wrong'), bearer(`${token}x`), bearer(token.slice(0, -1)), { authorization: token },
    { authorization: `Basic ${token}` }, { authorization: [`Bearer ${token}`, `Bearer ${token}`] }, bearer(secret)]
  const texts = new Set()
  for (const headers of wrong)
    for (const [method, where] of [['GET', '/admin/deliveries'], ['POST', `/admin/deliveries/${wake.delivery_id}/redeliver`], ['GET', '/admin/none']]) {
      const got = await ask(gateway.url, where, { method, headers })
      assert.equal(got.status, 401, `${JSON.stringify(headers)} ${where}: ${got.text}`)
      texts.add(got.text)
    }
  assert.equal(texts.size, 1)
  assert.equal(runtime.requests.length, 1)
  const refused = () => gateway.log('admin').filter(entry => entry.code === 'unauthorized')
  await until(() => refused().length === wrong.length * 3, 'each is logged')
  assert.equal((await gateway.metrics())['wakegate_requests_refused_total{reason="unauthorized"}'], wrong.length * 3)
  assert.ok(!gateway.everything().includes(token))
})

test('without a token in the config nothing is there', async t => {
  const { gateway } = await relayTo(t, 'poke', { config: { admin_token: undefined } })
  for (const headers of [{}, bearer(token)]) {
    const got = await ask(gateway.url, '/admin/deliveries', { headers })
    assert.equal(got.status, 404)
    assert.equal(got.json.code, 'unknown_route')
  }
})

test('two tokens are valid at once; a reload takes one away', async t => {
  const { gateway } = await relayTo(t, 'poke', { config: { admin_token: [{ env: 'E2E_ADMIN' }, { env: 'E2E_ADMIN_SECOND' }] } })
  const status = async value => (await ask(gateway.url, '/admin/deliveries', { headers: bearer(value) })).status
  assert.deepEqual([await status(token), await status(secondToken)], [200, 200])
  gateway.write({ ...gateway.config, admin_token: { env: 'E2E_ADMIN_SECOND' } })
  gateway.child.kill('SIGHUP')
  await gateway.event('reloaded')
  assert.deepEqual([await status(token), await status(secondToken)], [401, 200])
})

test('with an admin listener the API is only there, and still wants the token', async t => {
  const { gateway } = await relayTo(t, 'poke', { config: { admin: '127.0.0.1:0' } })
  const { url } = gateway.log('listening_admin').at(-1)
  assert.equal((await ask(gateway.url, '/admin/deliveries')).status, 404)
  assert.equal((await ask(url, '/admin/deliveries')).status, 200)
  assert.equal((await ask(url, '/admin/deliveries', { headers: {} })).status, 401)
  assert.equal((await ask(url, '/metrics', { headers: {} })).status, 200)
})

test('an admin listener on a unix socket is its owner\'s alone, and wants no token', async t => {
  const socketPath = path.join(scratch(t), 'admin.sock')
  const { gateway } = await relayTo(t, 'poke', { config: { admin: `unix:${socketPath}`, admin_token: undefined } })
  assert.equal(fs.statSync(socketPath).mode & 0o777, 0o600)
  const got = await ask('http://localhost', '/admin/deliveries', { headers: {}, socketPath })
  assert.equal(got.status, 200, got.text)
  assert.equal((await ask(gateway.url, '/admin/deliveries')).status, 404)
})
