// SPDX-License-Identifier: Apache-2.0
// `check --live`: each thing that can be wrong around a config, told with what to do about it, and
// nothing disturbed by the looking.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import tls from 'node:tls'
import { makeAuthority } from './authority.mjs'
import { route, run, scratch, startGateway, trigger } from './gateway.mjs'
import { makeNamespace } from './namespace.mjs'
import { freePort, startRedis } from './redis.mjs'
import { startRuntime } from './runtimes.mjs'
import { newWake } from './wakes.mjs'

/** A server of AgentChat's clock: it answers with a Date that is `off` seconds from ours. */
async function startClock(t, off = 0) {
  const server = http.createServer((request, response) => {
    response.sendDate = false
    response.writeHead(404, { date: new Date(Date.now() + off * 1000).toUTCString() }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${server.address().port}`
}

/** A config of one good route, and `check --live` over it. */
async function patient(t, over = {}) {
  const runtime = await startRuntime(t, 'poke')
  const directory = scratch(t)
  const file = path.join(directory, 'wakegate.json')
  const clock = over.clock ?? (await startClock(t))
  const config = { listen: '127.0.0.1:0', store: `sqlite:${directory}/store.db`, routes: { relay: route('agentchat', over.target ?? trigger(runtime)) }, ...over.config }
  fs.writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
  const words = ['check', '--live', '--config', file, '--agentchat-url', clock]
  const options = { cwd: directory, ...over.options }
  return {
    runtime,
    directory,
    file,
    async look() {
      const { code, out, err } = await run([...words, '--json'], options)
      assert.equal(err, '', 'nothing else is written')
      const result = JSON.parse(out)
      const levels = level => result.findings.filter(finding => finding.level === level)
      assert.equal(code, result.problems > 0 ? 1 : 0, out)
      assert.deepEqual([result.problems, result.warnings], [levels('problem').length, levels('warning').length])
      return { ...result, out, problem: levels('problem'), warning: levels('warning') }
    },
    read: () => run(words, options)
  }
}

/** The one finding of `check` that is not ok. */
function only(seen, level, check, text) {
  const others = [...seen.problem, ...seen.warning].filter(finding => finding.check !== 'environment')
  assert.equal(others.length, 1, seen.out)
  assert.equal(others[0].level, level, seen.out)
  assert.equal(others[0].check, check, seen.out)
  assert.match(others[0].text, text)
  assert.ok(others[0].advice, `there is something to do about "${others[0].text}"`)
  return others[0]
}

function fine(seen) {
  const others = [...seen.problem, ...seen.warning].filter(finding => finding.check !== 'environment')
  assert.deepEqual(others, [], seen.out)
}

const found = (seen, check, text) => assert.ok(seen.findings.some(finding => finding.level === 'ok' && finding.check === check && text.test(finding.text)), `${check}: ${text} in\n${seen.out}`)

// --- nothing wrong -------------------------------------------------------------------------------

test('all is well: exit 0; no request came to the target, and no file was made', async t => {
  const sick = await patient(t)
  const seen = await sick.look()
  fine(seen)
  for (const check of ['config', 'file', 'descriptors', 'listen', 'store', 'clock', 'target', 'route']) assert.ok(seen.findings.some(finding => finding.check === check), check)
  found(seen, 'store', /no file yet/)
  found(seen, 'clock', /agrees/)
  found(seen, 'target', /answers at 127\.0\.0\.1/)
  assert.equal(sick.runtime.requests.length, 0)
  assert.deepEqual(fs.readdirSync(sick.directory), ['wakegate.json'])
  const { code, out } = await sick.read()
  assert.equal(code, 0, out)
  assert.match(out, /^ok +target relay\/poke-[0-9a-f]+: 127\.0\.0\.1:\d+ answers at 127\.0\.0\.1$/m)
  assert.match(out, /\n0 problems, \d warnings?\n$/)
})

test('what a wake on each route would do', async t => {
  const runtime = await startRuntime(t, 'claude-code')
  const rooms = { tokens: [{ client: 'worker-1', token: { env: 'E2E_ROOM' }, threads: ['wakes'], rights: ['read', 'answer'] }, { client: 'reader', token: { env: 'E2E_READER' }, threads: ['*'] }] }
  const paced = trigger(runtime, { pace: { per_hour: 30, burst: 2 } })
  const target = { first: [{ room: { thread: 'wakes', wait: '3s' } }, paced] }
  const env = { E2E_ROOM: 'room-token-0123456789abcdef', E2E_READER: 'reader-token-0123456789abcdef' }
  const sick = await patient(t, { target, config: { rooms }, options: { env } })
  found(await sick.look(), 'route', /^a wake in agentchat for @example-relay goes to wakes \(room wakes, to be taken by worker-1, wait 3s, .*\), else to claude-code-\w+ \(claude-code at 127\.0\.0\.1:\d+, timeout 20s, unclear is held 4m, 30 an hour, burst 2\)$/)

  rooms.tokens[0].rights = ['read']
  const mute = await patient(t, { target, config: { rooms }, options: { env } })
  only(await mute.look(), 'warning', 'route', /to be taken by nobody/)
})

test('a config with mistakes is not looked at; --json tells the mistakes', async t => {
  const sick = await patient(t, { config: { rotes: {} } })
  const { code, out } = await sick.read()
  assert.equal(code, 1)
  assert.match(out, /did you mean "routes"/)
  const json = await run(['check', '--live', '--json', '--config', sick.file])
  assert.equal(json.code, 1)
  assert.match(JSON.parse(json.out).mistakes[0], /rotes/)
})

// --- targets -------------------------------------------------------------------------------------

const target = (url, over = {}) => ({ trigger: { dialect: 'poke', url, token: { env: 'E2E_RUNTIME_POKE' }, ...over } })

test('a port that is refused, a name that does not exist', async t => {
  const port = await freePort()
  only(await (await patient(t, { target: target(`http://127.0.0.1:${port}/x`, { private: true }) })).look(), 'problem', 'target', /cannot be reached: connection refused/)
  only(await (await patient(t, { target: target('https://nowhere.invalid/x') })).look(), 'problem', 'target', /does not resolve/)
})

test('a URL that is a secret: neither its host nor its address is told', async t => {
  const port = await freePort()
  const env = { E2E_URL: `http://localhost:${port}/x` }
  const sick = await patient(t, { target: target({ env: 'E2E_URL' }, { private: true }), options: { env } })
  const seen = await sick.look()
  assert.match(seen.problem[0].text, /^cannot be reached/)
  assert.equal(/localhost|::1|:\d{4,5}\b/.test(JSON.stringify(seen.findings.filter(({ check }) => check === 'target' || check === 'route'))), false, seen.out)
})

test('certificates: good, soon over, expired, of another name, of nobody, and a port without TLS', async t => {
  const authority = makeAuthority(t)
  const connections = []
  const serve = async cert => {
    const server = tls.createServer({ cert, key: authority.key }, socket => socket.on('error', () => {}).on('data', chunk => connections.push(String(chunk))))
    server.on('tlsClientError', () => {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    return `https://localhost:${server.address().port}/x`
  }
  const look = async url => (await patient(t, { target: target(url, { private: true }), config: { ca_file: authority.ca } })).look()
  const good = await look(await serve(authority.cert('DNS:localhost', -1, 60)))
  fine(good)
  found(good, 'target', /certificate that is good until 20/)
  only(await look(await serve(authority.cert('DNS:localhost', -1, 5))), 'warning', 'target', /certificate that ends on 20/)
  const expired = only(await look(await serve(authority.cert('DNS:localhost', -9, -1))), 'problem', 'target', /certificate has expired/)
  assert.match(expired.advice, /renew/)
  only(await look(await serve(authority.cert('DNS:other.example', -1, 60))), 'problem', 'target', /host.?name mismatch/i)
  only(await look(await serve(authority.selfSigned('DNS:localhost'))), 'problem', 'target', /self.signed/)
  const plain = net.createServer(socket => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1')
  await once(plain, 'listening')
  t.after(() => plain.close())
  const { advice } = only(await look(`https://localhost:${plain.address().port}/x`), 'problem', 'target', /TLS/)
  assert.match(advice, /https is spoken/)
  assert.deepEqual(connections, [], 'nothing was said to any of them')
})

test('a name whose address is private, without the flag; a metadata address', async t => {
  const namespace = makeNamespace(t, { hosts: '127.0.0.1 inner.example\n169.254.169.254 meta.example\n127.0.0.1 both.example\n169.254.1.1 both.example\n' })
  if (namespace.why) return t.skip(`no network namespace: ${namespace.why}`)
  const look = async (url, over) => (await patient(t, { target: target(url, over), clock: 'http://127.0.0.1:9', options: { prefix: namespace.prefix } })).look()
  const withoutClock = seen => ({ ...seen, warning: seen.warning.filter(({ check }) => check !== 'clock') })
  const inner = only(withoutClock(await look('https://inner.example/x')), 'problem', 'target', /address 127\.0\.0\.1 that is private and is not used/)
  assert.match(inner.advice, /"private": true/)
  only(withoutClock(await look('http://meta.example/x', { private: true })), 'problem', 'target', /169\.254\.169\.254 that is link-local/)
})

test('a hundred targets that do not answer take seconds, and each is told', async t => {
  // They take the connection and never say a word of TLS.
  const routes = {}
  const parrot = net.createServer(socket => socket.on('error', () => {}).resume()).listen(0, '0.0.0.0')
  await once(parrot, 'listening')
  t.after(() => parrot.close())
  const url = i => `https://127.0.0.${1 + (i % 100)}:${parrot.address().port}/x`
  const refused = `https://localhost:${await freePort()}/x`
  for (let i = 0; i < 100; i++) routes[`r${i}`] = { ...route('agentchat', target(url(i), { private: true })), secrets: [{ env: `S${i}` }] }
  for (const name of ['same-1', 'same-2', 'same-3']) routes[name] = { ...route('agentchat', target(refused, { private: true })), secrets: [{ env: `S_${name.slice(-1)}` }] }
  const env = Object.fromEntries([...Array.from({ length: 100 }, (_, i) => `S${i}`), 'S_1', 'S_2', 'S_3'].map(name => [name, `a-secret-of-its-own-${name}`]))
  const sick = await patient(t, { config: { routes }, options: { env } })
  const began = Date.now()
  const seen = await sick.look()
  assert.equal(seen.findings.filter(({ check }) => check === 'target').length, 101, seen.out)
  assert.ok(seen.findings.some(({ about }) => /and 2 more/.test(about)))
  assert.ok(seen.problem.some(({ text }) => /no TLS handshake in time/.test(text)), seen.out)
  assert.ok(Date.now() - began < 60_000, 'far from one after the other')
})

// --- the store -----------------------------------------------------------------------------------

test('a Redis: round trip, version, policy, persistence; nothing of it stays', async t => {
  const redis = await startRedis(t, '--appendonly', 'yes')
  const sick = await patient(t, { config: { store: redis.url } })
  const seen = await sick.look()
  fine(seen)
  found(seen, 'store', /a claim and its release took/)
  found(seen, 'store', /^Redis \d+\.\d+/)
  found(seen, 'store', /noeviction/)
  assert.ok(seen.findings.some(({ check, about }) => check === 'clock' && about === 'store'))
  assert.equal((await redis.command('KEYS', 'wakegate:*check*')).startsWith('*0'), true, 'its own key is gone')
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  only(await sick.look(), 'warning', 'store', /maxmemory-policy allkeys-lru/)
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  await redis.command('ACL', 'SETUSER', 'mute', 'on', '>password', '~wakegate:*', '+@all', '-info')
  const mute = await (await patient(t, { config: { store: redis.url.replace('://', '://mute:password@') } })).look()
  assert.deepEqual(mute.warning.filter(({ check }) => check === 'store').map(({ about }) => about), ['policy', 'version'], mute.out)
  assert.equal(mute.problems, 0)
  await redis.command('CONFIG', 'SET', 'appendonly', 'no')
  only(await sick.look(), 'warning', 'store', /append-only file is off/)
})

/** A server that speaks enough of Redis to be asked what it is: `answers` by command. */
async function startStandIn(t, answers) {
  const server = net.createServer(socket => {
    let text = ''
    socket.on('error', () => {})
    socket.on('data', chunk => {
      text += chunk
      const command = /^\*\d+\r\n((?:\$\d+\r\n[^]*?\r\n)+?)(?=\*|$)/
      for (let match = command.exec(text); match; match = command.exec(text)) {
        const word = /^\$\d+\r\n(\w+)/.exec(match[1])[1].toUpperCase()
        text = text.slice(match[0].length)
        socket.write(answers[word] ?? '+OK\r\n')
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `redis://127.0.0.1:${server.address().port}/0`
}

test('a Redis that is too old, one that is not there, one with another password', async t => {
  const info = '# Server\r\nredis_version:5.0.7\r\n'
  const old = await startStandIn(t, { INFO: `$${info.length}\r\n${info}\r\n` })
  only(await (await patient(t, { config: { store: old } })).look(), 'problem', 'store', /version 5\.0\.7; Redis 6 or later|version 5\.0\.7/)
  const gone = `redis://127.0.0.1:${await freePort()}/0`
  only(await (await patient(t, { config: { store: gone } })).look(), 'problem', 'store', /refused/)
  const locked = await startRedis(t, '--requirepass', 'right')
  const url = `redis://:canary-wrong-password@127.0.0.1:${locked.port}/0`
  const seen = await (await patient(t, { config: { store: url } })).look()
  only(seen, 'problem', 'store', /password/i)
  assert.equal(seen.out.includes('canary'), false)
})

test('a file that a gateway has; a file of an older layout; another program\'s', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime)) } })
  fs.chmodSync(gateway.file, 0o600)
  const words = ['check', '--live', '--json', '--config', gateway.file, '--agentchat-url', await startClock(t)]
  const options = { cwd: gateway.directory }
  const look = async () => JSON.parse((await run(words, options)).out)
  const busy = await look()
  assert.equal(busy.problems, 0, JSON.stringify(busy))
  assert.ok(busy.findings.some(({ check, text }) => check === 'store' && /a gateway that runs has the file/.test(text)))
  assert.ok(busy.findings.some(({ check }) => check === 'target'), 'the rest was looked at')
  assert.equal((await gateway.wake('relay', 'agentchat', newWake())).json.status, 'relayed', 'it was not disturbed')
  await gateway.stop()

  const database = path.join(gateway.directory, 'wakegate.db')
  const patch = (at, byte) => {
    const file = fs.openSync(database, 'r+')
    fs.writeSync(file, Buffer.from([0, 0, 0, byte]), 0, 4, at)
    fs.closeSync(file)
  }
  const before = await look()
  assert.ok(before.findings.some(({ text }) => /a claim and its release/.test(text)), JSON.stringify(before))
  patch(60, 1)
  const old = await look()
  assert.ok(old.findings.some(({ level, text }) => level === 'warning' && /the file has layout 1/.test(text)), JSON.stringify(old))
  patch(68, 1)
  const other = await look()
  assert.ok(other.findings.some(({ level, text }) => level === 'problem' && /another program's database/.test(text)), JSON.stringify(other))
})

// --- the clock -----------------------------------------------------------------------------------

test('the clock: a little off, far off, AgentChat not reached, no Date', async t => {
  const look = async clock => (await patient(t, { clock })).look()
  only(await look(await startClock(t, 60)), 'warning', 'clock', /is (5|6)\d s ahead/)
  only(await look(await startClock(t, -400)), 'problem', 'clock', /is (39|40)\d s behind .*refused as stale/)
  only(await look(`http://127.0.0.1:${await freePort()}`), 'warning', 'clock', /could not be compared: connection refused/)
  const dateless = http.createServer((request, response) => {
    response.sendDate = false
    response.end('x')
  }).listen(0, '127.0.0.1')
  await once(dateless, 'listening')
  t.after(() => dateless.close())
  only(await look(`http://127.0.0.1:${dateless.address().port}`), 'warning', 'clock', /has no Date/)
  only(await look('gopher://x'), 'warning', 'clock', /does not begin with https/)
})

// --- listening addresses, files, descriptors, the environment --------------------------------------

test('an address that a gateway has, that another has, that this machine does not have', async t => {
  const runtime = await startRuntime(t, 'poke')
  const directory = scratch(t)
  const gateway = await startGateway(t, { listen: ['127.0.0.1:0', `unix:${directory}/here.sock`], routes: { relay: route('agentchat', trigger(runtime)) } })
  await gateway.event('listening', 2)
  const look = async listen => (await patient(t, { config: { listen } })).look()
  found(await look(new URL(gateway.url).host), 'listen', /a gateway listens there already/)
  found(await look(`unix:${directory}/here.sock`), 'listen', /a gateway listens there already/)
  const free = await look(`unix:${directory}/free.sock`)
  found(free, 'listen', /is free/)
  assert.equal(fs.existsSync(`${directory}/free.sock`), false)
  fs.writeFileSync(`${directory}/a-file`, '')
  only(await look(`unix:${directory}/a-file`), 'problem', 'listen', /no socket/)

  const other = http.createServer((request, response) => response.end('not found')).listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  only(await look(`127.0.0.1:${other.address().port}`), 'problem', 'listen', /something that is no gateway/)
  only(await look('192.0.2.1:8080'), 'problem', 'listen', /cannot be listened on/)
})

test('files that everybody may read or write; a link counts as what it leads to', async t => {
  const secrets = scratch(t)
  const file = path.join(secrets, 'wake')
  const link = path.join(secrets, 'link')
  fs.writeFileSync(file, 'a-secret-0123456789abcdef\n', { mode: 0o600 })
  fs.symlinkSync(file, link)
  const runtime = await startRuntime(t, 'poke')
  const sick = await patient(t, { config: { routes: { relay: route('agentchat', trigger(runtime), { secrets: [{ file: link }] }) } } })
  fs.chmodSync(sick.file, 0o644)
  fine(await sick.look())
  fs.chmodSync(file, 0o604)
  assert.equal(only(await sick.look(), 'warning', 'file', /may be read by everybody/).about, link)
  fs.chmodSync(file, 0o600)
  fs.chmodSync(sick.file, 0o646)
  only(await sick.look(), 'warning', 'file', /may be written by everybody/)

  const literal = await patient(t, { config: { routes: { relay: route('agentchat', trigger(runtime), { secrets: [{ literal: 'a-secret-0123456789abcdef' }] }) } } })
  fs.chmodSync(literal.file, 0o644)
  const seen = await literal.look()
  assert.ok(seen.warning.some(({ check, text }) => check === 'file' && /holds a secret/.test(text)), seen.out)
})

test('few descriptors, a proxy in the environment, links of services', async t => {
  const few = await patient(t, { options: { prefix: ['prlimit', '--nofile=1000:1000'] } })
  assert.match(only(await few.look(), 'warning', 'descriptors', /descriptors for \d+ connections/).advice, /LimitNOFILE/)
  const env = { HTTPS_PROXY: 'http://user:canary-password@proxy.example:3128', WAKEGATE_PORT: 'tcp://10.0.0.1:8080' }
  const seen = await (await patient(t, { options: { env } })).look()
  assert.ok(seen.warning.some(({ check, about }) => check === 'environment' && about === 'HTTPS_PROXY'), seen.out)
  assert.ok(seen.warning.some(({ check, text }) => check === 'config' && /Kubernetes service link/.test(text)), seen.out)
  assert.equal(seen.out.includes('canary'), false)
})

/** Runs what follows it beside a resolver that hears every question and answers none. */
const mute = `
  const resolver = require('node:dgram').createSocket('udp4').on('message', () => {})
  resolver.bind(53, '127.0.0.1', () =>
    require('node:child_process').spawn(process.argv[1], process.argv.slice(2), { stdio: 'inherit' })
      .on('exit', code => process.exit(code ?? 99)))
`

test('names that nobody answers for: told, and not waited for', async t => {
  const namespace = makeNamespace(t, { resolv: 'nameserver 127.0.0.1\noptions timeout:30 attempts:1\n' })
  if (namespace.why) return t.skip(`no network namespace: ${namespace.why}`)
  const prefix = [...namespace.prefix, process.execPath, '-e', mute]
  const look = async over => {
    const sick = await patient(t, { options: { prefix }, ...over })
    const began = Date.now()
    const seen = await sick.look()
    assert.ok(Date.now() - began < 25_000, 'the look-up itself takes 30 s')
    return seen
  }
  const dark = 'https://dark.example/x', refused = `http://127.0.0.1:${await freePort()}`
  const told = (seen, level, check) => assert.ok(seen[level].some(finding => finding.check === check && /not resolved in time/.test(finding.text)), seen.out)
  told(await look({ target: target(dark), clock: refused }), 'problem', 'target')
  told(await look({ target: target(refused, { private: true }), clock: dark }), 'warning', 'clock')
})
