// SPDX-License-Identifier: Apache-2.0
// Redis as it is run: users and their rights, TLS with certificates on both sides, a server that will
// not, one that forgets, and what the log and /readyz say of it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { answersTo, route, run, scratch, startGateway, trigger } from './gateway.mjs'
import { freePort, startRedis } from './redis.mjs'
import { member, room, rooms, tokens } from './room_clients.mjs'
import { startRuntime } from './runtimes.mjs'
import { master, startReplicated } from './sentinel.mjs'
import { until } from './until.mjs'
import { newWake } from './wakes.mjs'

const send = (gateway, wake, name = 'relay') => gateway.wake(name, 'agentchat', wake)

/** A gateway on `store`, with a trigger that is paced and two rooms. */
async function gatewayOn(t, store, options = {}) {
  const runtime = await startRuntime(t, 'poke')
  const paced = trigger(runtime, { pace: { per_hour: 100_000, burst: 1000 } })
  const gateway = await startGateway(
    t,
    {
      store: { env: 'STORE' },
      budget: '3s',
      rooms: rooms(),
      routes: {
        relay: route('agentchat', paced),
        board: route('agentchat', room({ accept: 'stored' })),
        offer: route('agentchat', { first: [room({ thread: 'team-a', wait: '500ms' }), paced] })
      }
    },
    { ...options, env: { ...tokens, STORE: store } }
  )
  return { gateway, runtime }
}

/** Everything that wakegate does in a store. */
async function assertAllWorks(t, gateway, runtime) {
  const wake = newWake()
  assert.equal((await send(gateway, wake)).json.status, 'relayed')
  assert.equal((await send(gateway, wake)).json.status, 'duplicate')
  runtime.behave((request, response) => response.writeHead(400).end())
  assert.equal((await send(gateway, newWake())).status, 502)
  runtime.behave('reset')
  assert.equal((await send(gateway, newWake())).status, 504)
  const watcher = await member(t, gateway, 'watcher')
  assert.equal((await send(gateway, newWake(), 'board')).json.status, 'relayed')
  await watcher.event('RUN_FINISHED')
  const worker = await member(t, gateway, 'worker', 'team-a')
  const offered = send(gateway, newWake(), 'offer')
  const { event } = await worker.event('INTERRUPT')
  assert.equal((await worker.resume('team-a', event.interruptId)).ok, true)
  assert.equal((await offered).json.status, 'relayed')
  await send(gateway, newWake(), 'offer') // nobody takes it: withdrawn
  await worker.settled((await worker.event('INTERRUPT', 2)).event.interruptId)
  assert.deepEqual([...gateway.log('store_refuses'), ...gateway.log('store_down')], [])
}

const readme = fs.readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

test('the rights that the README lists are enough, with any characters in the password', async t => {
  const redis = await startRedis(t)
  const [, words] = readme.match(/^\s+ACL (SETUSER wakegate .*)$/m)
  const password = 'canary @:/#?%&=+ä€😀'
  const rule = words.split(' ').map(word => (word === '>password' ? `>${password}` : word))
  assert.match(await redis.command('ACL', ...rule), /^\+OK/)
  const url = `redis://wakegate:${encodeURIComponent(password)}@127.0.0.1:${redis.port}/2`
  const { gateway, runtime } = await gatewayOn(t, url)
  await assertAllWorks(t, gateway, runtime)
  assert.equal((await gateway.get('/readyz')).json.message, undefined)
  assert.match(await redis.command('INFO', 'keyspace'), /db2:keys=[1-9]/)
  assert.doesNotMatch(await redis.command('INFO', 'errorstats'), /errorstat_NOPERM/)
  assert.doesNotMatch(gateway.everything(), /canary/)
})

test('a user that lacks a right: 503, told once with the server\'s words, and well again without a restart', async t => {
  const redis = await startRedis(t)
  await redis.command('ACL', 'SETUSER', 'limited', 'on', '>p', '~wakegate:*', '+@all', '-pexpire')
  const { gateway } = await gatewayOn(t, `redis://limited:p@127.0.0.1:${redis.port}`)
  const wake = newWake()
  assert.equal((await send(gateway, wake)).json.status, 'relayed')
  for (let i = 0; i < 10; i++) {
    const got = await send(gateway, wake) // which extends its time to live
    assert.equal(got.status, 503, got.text)
    assert.equal(got.json.code, 'store_unavailable')
  }
  const told = gateway.log('store_refuses')
  assert.equal(told.length, 1, gateway.everything())
  assert.match(told[0].text, /^the user lacks a right that the README lists \(.*\)$/)
  await redis.command('ACL', 'SETUSER', 'limited', '+pexpire')
  assert.equal((await send(gateway, wake)).json.status, 'duplicate')
})

test('the follow connection comes back after it was refused', async t => {
  const redis = await startRedis(t)
  await redis.command('ACL', 'SETUSER', 'limited', 'on', '>p', '~wakegate:*', '+@all')
  const { gateway } = await gatewayOn(t, `redis://limited:p@127.0.0.1:${redis.port}`)
  const watcher = await member(t, gateway, 'watcher')
  await redis.command('ACL', 'SETUSER', 'limited', '-xread')
  const refused = () => gateway.log('store_down').filter(({ text }) => /\(to follow threads\): the user lacks a right/.test(text))
  await until(() => refused().length > 0, 'it is refused')
  const before = gateway.log('store_up').length
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  await redis.command('ACL', 'SETUSER', 'limited', '+xread')
  await until(() => gateway.log('store_up').length > before, 'it is up again')
  assert.equal((await send(gateway, newWake(), 'board')).json.status, 'relayed')
  await watcher.event('RUN_FINISHED')
  assert.equal(refused().length, 1)
})

test('a full Redis is told once, however many wakes come, and duplicates are answered in between', async t => {
  const redis = await startRedis(t)
  const { gateway } = await gatewayOn(t, redis.url)
  const before = newWake()
  assert.equal((await send(gateway, before)).json.status, 'relayed')
  await redis.command('CONFIG', 'SET', 'maxmemory', '1')
  for (let i = 0; i < 20; i++) {
    assert.equal((await send(gateway, newWake())).json.code, 'store_unavailable')
    assert.equal((await send(gateway, before)).json.status, 'duplicate')
  }
  const told = gateway.log('store_refuses')
  assert.equal(told.length, 1, gateway.everything())
  assert.match(told[0].text, /^the server's memory is full: raise its maxmemory \(OOM /)
  assert.equal((await gateway.get('/readyz')).status, 503)
})

test('a key of ours that holds something else: 503 with the key and what to do, and other wakes go on', async t => {
  const redis = await startRedis(t)
  const { gateway, runtime } = await gatewayOn(t, redis.url)
  const wake = newWake()
  assert.equal((await send(gateway, wake)).json.status, 'relayed')
  const keys = (await redis.command('KEYS', '*claim*')).split('\r\n')
  const key = keys.find(line => line.includes(wake.delivery_id))
  for (const value of [['LPUSH', key, 'x'], ['SET', key, 'hello'], ['SET', key, 'R']]) {
    await redis.command('DEL', key)
    await redis.command(...value)
    const got = await send(gateway, wake)
    assert.equal(got.status, 503, got.text)
    assert.equal(got.json.code, 'store_unavailable')
    assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  }
  const told = gateway.log('store_refuses')
  assert.match(told[0].text, /holds what wakegate did not write: delete it, or give wakegate a database of its own \(WRONGTYPE /)
  assert.equal(told[0].key, key)
  assert.equal(runtime.runs.length, 4)
  await redis.command('DEL', key)
  assert.equal((await send(gateway, wake)).json.status, 'relayed')
})

test('a Redis that loads is store_unavailable, never a duplicate', async t => {
  const redis = await startRedis(t, '--dbfilename', 'slow.rdb', '--enable-debug-command', 'local')
  const { gateway } = await gatewayOn(t, redis.url)
  const wake = newWake()
  assert.equal((await send(gateway, wake)).json.status, 'relayed')
  await redis.command('DEBUG', 'POPULATE', '300', 'key', '100')
  assert.match(await redis.command('SAVE'), /^\+OK/)
  await redis.kill()
  redis.options.push('--key-load-delay', '20000', '--loading-process-events-interval-bytes', '1024')
  redis.ping = async () => redis.command('PING').then(() => true, () => false) // it listens
  await redis.start()
  const loading = () => gateway.log('store_down').some(({ text }) => /the server still loads its data \(LOADING/.test(text))
  await until(loading, () => `it loads\n${gateway.everything()}`)
  for (const each of [wake, newWake()]) {
    const got = await send(gateway, each)
    assert.equal(got.status, 503)
    assert.equal(got.json.code, 'store_unavailable')
  }
  await redis.command('CONFIG', 'SET', 'key-load-delay', '0')
  assert.equal((await answersTo(() => send(gateway, wake), 200)).json.status, 'duplicate')
})

test('a policy that forgets is told in the log and by /readyz, which stays 200', async t => {
  const redis = await startRedis(t, '--maxmemory-policy', 'allkeys-lru')
  const { gateway } = await gatewayOn(t, redis.url)
  const expected = /maxmemory-policy allkeys-lru and may forget what was relayed; set it to noeviction/
  assert.match((await gateway.event('store_forgets')).text, expected)
  const ready = await gateway.get('/readyz')
  assert.equal(ready.status, 200)
  assert.equal(ready.json.status, 'ok')
  assert.match(ready.json.message, expected)
  assert.equal(gateway.log('store_forgets').length, 1)
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  await until(async () => (await gateway.get('/readyz')).json.message === undefined, 'it is well')
})

test('a Redis that tells nothing of itself works, and that is said', async t => {
  const redis = await startRedis(t)
  await redis.command('ACL', 'SETUSER', 'managed', 'on', '>p', '~wakegate:*', '+@all', '-info', '-config')
  const { gateway } = await gatewayOn(t, `redis://managed:p@127.0.0.1:${redis.port}`)
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  assert.match((await gateway.get('/readyz')).json.message, /does not tell its maxmemory-policy; make sure/)
  assert.equal(gateway.log('store_refuses').length, 0)
})

test('one node of a Redis Cluster is refused, though its own keys would work', async t => {
  const redis = await startRedis(t, '--cluster-enabled', 'yes', '--cluster-port', await freePort())
  await redis.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  await until(async () => /cluster_state:ok/.test(await redis.command('CLUSTER', 'INFO')), 'the cluster is up')
  const { gateway } = await gatewayOn(t, redis.url, { ready: false })
  assert.match((await gateway.event('store_down')).text, /Redis Cluster is not supported/)
  assert.equal((await send(gateway, newWake())).json.code, 'store_unavailable')
})

/** An authority, a server's certificate for 127.0.0.1 and a client's, as files in a directory. */
function certificates(t) {
  const directory = scratch(t)
  const openssl = (...words) => execFileSync('openssl', words, { cwd: directory, stdio: 'ignore' })
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  openssl('req', '-x509', ...fresh, '-days', '2', '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem')
  fs.writeFileSync(path.join(directory, 'server.ext'), 'subjectAltName=IP:127.0.0.1\n')
  for (const name of ['server', 'client']) {
    openssl('req', ...fresh, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`)
    const extensions = name === 'server' ? ['-extfile', 'server.ext'] : []
    openssl('x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', ...extensions, '-out', `${name}.pem`)
  }
  return name => path.join(directory, name)
}

test('TLS with a certificate on both sides, to the Sentinels and to the server, through a failover', async t => {
  const file = certificates(t)
  const tls = ['tls-cert-file', file('server.pem'), 'tls-key-file', file('server.key'), 'tls-ca-cert-file', file('ca.pem'), 'tls-replication', 'yes']
  const options = []
  for (let i = 0; i < tls.length; i += 2) options.push(`--${tls[i]}`, tls[i + 1])
  const lines = []
  for (let i = 0; i < tls.length; i += 2) lines.push(`${tls[i]} ${tls[i + 1]}`)
  const set = await startReplicated(t, { options, sentinel: { lines }, tls: true })
  const query = `ca_file=${file('ca.pem')}&cert_file=${file('client.pem')}&key_file=${file('client.key')}`
  const { gateway } = await gatewayOn(t, `rediss+sentinel://${set.hosts}/${master}?${query}`)
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  await set.first.kill()
  await until(() => gateway.log('store_up').some(({ text }) => text.includes(`:${set.second.tlsPort}`)), () => `it fails over\n${gateway.everything()}`, 60_000)
  await answersTo(() => send(gateway, newWake()), 200)
  const { gateway: stranger } = await gatewayOn(t, `rediss+sentinel://${set.hosts}/${master}?ca_file=${file('ca.pem')}`, { ready: false })
  assert.match((await stranger.event('store_down')).text, /certificate required/)
})

test('check tells what is wrong with a URL, and no part of it', async t => {
  const directory = scratch(t)
  const runtime = await startRuntime(t, 'poke')
  const config = path.join(directory, 'wakegate.json')
  fs.writeFileSync(config, JSON.stringify({ store: { env: 'STORE' }, routes: { relay: route('agentchat', trigger(runtime)) } }))
  const cases = [
    ['redis://:canary/x@h', /an @ behind a \/ or a \?: in a password these must be percent-encoded/],
    ['redis://:canary%@h', /the password has a % that is not followed by two hex digits/],
    ['redis://:canaryä@h', /percent-encoded/],
    ['redis://canary@h', /there is an @ but no password/],
    ['redis+sentinel://:canary@a,b', /there is no name of a master after the Sentinels/],
    ['redis+sentinel://:canary@a:x/m', /Sentinel 1: the port is not a number from 1 to 65535/],
    ['redis+sentinel://a/m?password=canary', /may stand only sentinel_username, sentinel_password/],
    ['redis-sentinel://:canary@a/m', /begins with none of sqlite:, redis:, .*redis\+sentinel:/],
    ['rediss://:canary@h?cert_file=/c', /there is a cert_file but no key_file/],
    ['rediss://:canary@h?ca_file=/none', /\/none: No such file or directory/],
    ['rediss://:canary@h', undefined],
    ['rediss+sentinel://u:canary@a:1,[::1]:2,c/m/15?sentinel_password=canary', undefined]
  ]
  for (const [store, expected] of cases) {
    const { code, out, err } = await run(['check', '--config', config], { env: { STORE: store } })
    assert.equal(code, expected ? 1 : 0, `${store}: ${out}${err}`)
    if (expected) assert.match(out + err, expected)
    assert.doesNotMatch(out + err, /canary/)
  }
})
