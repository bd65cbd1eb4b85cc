// SPDX-License-Identifier: Apache-2.0
// Redis behind real Sentinels: the master is found, and found again when another server became it,
// without a restart, on the wakes' connection and on the rooms'.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answersTo, route, startGateway, trigger } from './gateway.mjs'
import { freePort, startRedis } from './redis.mjs'
import { member, room, rooms, tokens } from './room_clients.mjs'
import { startRuntime } from './runtimes.mjs'
import { master, startReplicated, startSentinel } from './sentinel.mjs'
import { until } from './until.mjs'
import { newWake } from './wakes.mjs'

const LONG = 60_000

/** Two gateways with a trigger and a room on one store. */
async function pair(t, store) {
  const runtime = await startRuntime(t, 'poke')
  const config = {
    store,
    budget: '3s',
    rooms: rooms(),
    routes: { relay: route('agentchat', trigger(runtime)), board: route('agentchat', room({ accept: 'stored' })) }
  }
  const [one, two] = await Promise.all([startGateway(t, config, { env: tokens }), startGateway(t, config, { env: tokens })])
  return { runtime, one, two }
}

const send = (gateway, wake, name = 'relay') => gateway.wake(name, 'agentchat', wake)

/** Wakes of both kinds work at both, and a client at `two` sees what came to `one`. */
async function assertWorks({ one, two }, client) {
  for (const gateway of [one, two]) await answersTo(() => send(gateway, newWake()), 200)
  const before = client.of('RUN_FINISHED').length
  await answersTo(() => send(one, newWake(), 'board'), 200)
  await until(() => client.of('RUN_FINISHED').length > before, () => `the room of the other gateway sees it\n${two.everything()}`, LONG)
}

for (const how of ['killed', 'frozen', 'demoted'])
  test(`the master is ${how}: after the failover wakes and rooms work, and what was relayed is a duplicate`, async t => {
    const { first, second, sentinels, url } = await startReplicated(t)
    const gateways = await pair(t, url)
    const { one, two, runtime } = gateways
    const client = await member(t, two, 'watcher')
    await assertWorks(gateways, client)
    const before = newWake()
    assert.equal((await send(one, before)).json.status, 'relayed')
    await until(async () => /^:1/.test(await first.command('WAIT', '1', '1000')), 'it is replicated')
    const runs = runtime.runs.length

    if (how === 'killed') await first.kill()
    if (how === 'frozen') first.freeze()
    if (how === 'demoted') assert.match(await sentinels[0].command('SENTINEL', 'FAILOVER', master), /OK/)
    for (const sentinel of sentinels)
      await until(async () => (await sentinel.knows()) === second.port, 'the Sentinels name the other', LONG)
    // Without a wake and without an error: a demoted master takes writes for some seconds more.
    for (const gateway of [one, two])
      for (const connection of ['', ' (to follow threads)']) {
        const up = `Redis at 127.0.0.1:${second.port}${connection}`
        await until(() => gateway.log('store_up').some(({ text }) => text === up), () => `${up}\n${gateway.everything()}`)
      }

    if (how === 'demoted') assert.match(JSON.stringify(one.log('store_down')), /Sentinel names another master/)
    for (const gateway of [one, two]) assert.equal((await answersTo(() => send(gateway, before), 200)).json.status, 'duplicate')
    assert.equal(runtime.runs.length, runs)
    await assertWorks(gateways, client)
    if (how === 'frozen') first.thaw()
  })

test('a Sentinel that is dead, one that knows another name, one that names a demoted master: the next is asked', async t => {
  const redis = await startRedis(t, '--repl-diskless-sync-delay', 0)
  const demoted = await startRedis(t, '--replicaof', `127.0.0.1 ${redis.port}`, '--replica-read-only', 'no')
  const other = await startSentinel(t, redis.port, { name: 'other' })
  // Alone, with a long patience, it goes on naming the replica that it was told is the master.
  const stale = await startSentinel(t, demoted.port, { lines: [`sentinel down-after-milliseconds ${master} 600000`] })
  const good = await startSentinel(t, redis.port, { lines: [`sentinel down-after-milliseconds ${master} 600000`] })
  const hosts = [await freePort(), other.port, stale.port, good.port].map(port => `127.0.0.1:${port}`)
  assert.equal(await stale.knows(), demoted.port)
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, {
    store: `redis+sentinel://${hosts.join(',')}/${master}`,
    routes: { relay: route('agentchat', trigger(runtime)) }
  })
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  const down = gateway.log('store_down').map(({ text }) => text)
  assert.equal(down.filter(text => /not the master \(any more\)/.test(text)).length, 1, down.join('\n'))
  assert.match(await redis.command('DBSIZE'), /^:[1-9]/)
})

test('nobody knows the master: 503, ready is false, and the log says what each Sentinel said, once', async t => {
  const redis = await startRedis(t)
  const sentinel = await startSentinel(t, redis.port, { name: 'other' })
  const dead = await freePort()
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(
    t,
    { store: `redis+sentinel://127.0.0.1:${dead},127.0.0.1:${sentinel.port}/typo`, routes: { relay: route('agentchat', trigger(runtime)) } },
    { ready: false }
  )
  const { text } = await gateway.event('store_down')
  assert.equal(
    text,
    `Redis at typo: Sentinel at 127.0.0.1:${dead}: connection refused; ` +
      `Sentinel at 127.0.0.1:${sentinel.port}: it knows no master of that name; check the URL's /name`
  )
  for (let i = 0; i < 20; i++) assert.equal((await send(gateway, newWake())).json.code, 'store_unavailable')
  assert.equal((await gateway.get('/readyz')).status, 503)
  await sentinel.command('SENTINEL', 'MONITOR', 'typo', '127.0.0.1', String(redis.port), '1')
  await answersTo(() => send(gateway, newWake()), 200)
  assert.equal(gateway.log('store_down').length, 1)
})

test('passwords of Sentinels and servers are their own, and are not shown', async t => {
  const password = 'canary p@ss:/#?%ä'
  const own = 'canary-sentinel,&='
  const redis = await startRedis(t)
  await redis.command('ACL', 'SETUSER', 'wäke', 'on', `>${password}`, '~wakegate:*', '+@all')
  const sentinel = await startSentinel(t, redis.port)
  await sentinel.command('ACL', 'SETUSER', 'asker', 'reset', 'on', `>${own}`, '+auth', '+sentinel|get-master-addr-by-name')
  await sentinel.command('ACL', 'SETUSER', 'default', 'off')
  const runtime = await startRuntime(t, 'poke')
  const login = `${encodeURIComponent('wäke')}:${encodeURIComponent(password)}`
  const url = secret =>
    `redis+sentinel://${login}@127.0.0.1:${sentinel.port}/${master}/3?sentinel_username=asker&sentinel_password=${encodeURIComponent(secret)}`
  const routes = { relay: route('agentchat', trigger(runtime)) }
  const gateway = await startGateway(t, { store: { env: 'STORE' }, routes }, { env: { STORE: url(own) } })
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  const wrong = await startGateway(t, { store: { env: 'STORE' }, routes }, { env: { STORE: url('canary-wrong') }, ready: false })
  const got = await send(wrong, newWake())
  assert.equal(got.json.code, 'store_unavailable')
  assert.match((await wrong.event('store_down')).text, /the user or the password is wrong \(WRONGPASS\)/)
  for (const one of [gateway, wrong]) assert.doesNotMatch(one.everything(), /canary|asker/)
  assert.doesNotMatch(got.text, /canary/)
})
