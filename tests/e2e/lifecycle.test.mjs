// SPDX-License-Identifier: Apache-2.0
// The life of the process: drain, reload, rotation, kills and restarts, listeners, the operators' pages.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { defaults, makeGateway, route, scratch, startGateway, trigger } from './gateway.mjs'
import { request } from './http.mjs'
import { startRedis } from './redis.mjs'
import { startRuntime } from './runtimes.mjs'
import { pause, until } from './until.mjs'
import { framed, newWake, secret } from './wakes.mjs'

const send = (gateway, wake, name = 'relay') => gateway.wake(name, 'agentchat', wake)
const relayTo = (runtime, over) => ({ relay: route('agentchat', trigger(runtime, over)) })

// --- ending --------------------------------------------------------------------------------------

test('SIGTERM and SIGINT with nothing to do: exit 0', async t => {
  const runtime = await startRuntime(t, 'poke')
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const gateway = await startGateway(t, { routes: relayTo(runtime) })
    assert.deepEqual(await gateway.stop(signal), { code: 0, signal: null })
  }
})

test('SIGTERM while the target works: it finishes, its sender gets the answer, exit 0', async t => {
  for (const kind of ['claude-code', 'hermes']) {
    const runtime = await startRuntime(t, kind)
    const gateway = await startGateway(t, { grace: '20s', budget: '20s', routes: relayTo(runtime) })
    const wake = newWake()
    runtime.behave('park')
    const pending = send(gateway, wake)
    await until(() => runtime.parked === 1, 'the runtime has it')
    gateway.child.kill('SIGTERM')
    await gateway.event('stopping')
    assert.equal(gateway.running, true)
    runtime.unpark()
    const got = await pending
    assert.equal(got.json.status, 'relayed', got.text)
    assert.deepEqual(await gateway.ended(), { code: 0, signal: null })
    await gateway.restart()
    assert.equal((await send(gateway, wake)).json.status, 'duplicate', 'settled before the end')
    assert.equal(runtime.runs.length, 1)
  }
})

test('SIGTERM while the target hangs: after the grace time it is held, exit 0', async t => {
  const runtime = await startRuntime(t, 'claude-code')
  const gateway = await startGateway(t, { grace: '1s', budget: '30s', routes: relayTo(runtime) })
  const wake = newWake()
  runtime.behave('hang')
  const pending = send(gateway, wake)
  await until(() => runtime.requests.length === 1, 'the runtime has it')
  gateway.child.kill('SIGTERM')
  const got = await pending
  assert.ok([503, 504].includes(got.status), got.text)
  assert.deepEqual(await gateway.ended(), { code: 0, signal: null })
  await gateway.restart()
  assert.equal((await send(gateway, wake)).json.code, 'held')
  assert.equal(runtime.requests.length, 1)
})

test('SIGTERM while the store is frozen: nothing was sent, exit 0', async t => {
  const redis = await startRedis(t)
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { store: redis.url, grace: '2s', budget: '30s', routes: relayTo(runtime) })
  const wake = newWake()
  redis.freeze()
  const pending = send(gateway, wake)
  await pause(100)
  gateway.child.kill('SIGTERM')
  const got = await pending
  assert.equal(got.status, 503, got.text)
  assert.deepEqual(await gateway.ended(), { code: 0, signal: null })
  redis.thaw()
  assert.equal(runtime.requests.length, 0)
})

test('many SIGTERMs while the store is frozen: nobody is dropped, whatever the grace time', async t => {
  const redis = await startRedis(t)
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { store: redis.url, grace: '1s', budget: '30s', routes: relayTo(runtime) })
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  redis.freeze()
  const pending = send(gateway, newWake())
  await pause(100)
  gateway.child.kill('SIGTERM')
  await gateway.event('stopping')
  gateway.child.kill('SIGTERM')
  await gateway.event('cut_short')
  const got = await pending
  assert.equal(got.status, 503, got.text)
  assert.deepEqual(await gateway.ended(), { code: 0, signal: null })
  redis.thaw()
})

test('a SIGTERM that comes at the very end changes nothing', async t => {
  const runtime = await startRuntime(t, 'poke')
  for (let i = 0; i < 5; i++) {
    const gateway = await startGateway(t, { routes: relayTo(runtime) })
    while (gateway.running) {
      gateway.child.kill('SIGTERM')
      await new Promise(setImmediate)
    }
    assert.deepEqual(await gateway.ended(), { code: 0, signal: null })
  }
})

test('draining: ready is false first, wakes are still served, connections are told to close', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { drain: '2s', routes: relayTo(runtime) })
  assert.equal((await gateway.get('/readyz')).status, 200)
  gateway.child.kill('SIGTERM')
  await until(async () => (await gateway.get('/readyz')).status === 503, 'ready is false')
  assert.equal((await gateway.get('/livez')).status, 200)
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  assert.deepEqual(await gateway.ended(), { code: 0, signal: null })
  await assert.rejects(gateway.get('/livez'))
})

test('stopping: a wake on a kept connection is 503 draining and the connection closes', async t => {
  const runtime = await startRuntime(t, 'hermes')
  const gateway = await startGateway(t, { grace: '20s', budget: '20s', routes: relayTo(runtime) })
  const { port } = new URL(gateway.url)
  const socket = net.connect(Number(port), '127.0.0.1')
  let text = ''
  socket.on('error', () => {})
  socket.on('data', chunk => (text += chunk))
  const ended = new Promise(resolve => socket.once('close', resolve))
  const post = wake => {
    const { headers, body } = framed('agentchat', wake)
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
    socket.write(`POST /wake/relay HTTP/1.1\r\nHost: x\r\n${lines}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }
  post(newWake())
  await until(() => text.includes('"relayed"'), 'the first is relayed')
  runtime.behave('park')
  const pending = send(gateway, newWake())
  await until(() => runtime.parked === 1, 'another is with the runtime')
  gateway.child.kill('SIGTERM')
  await gateway.event('stopping')
  text = ''
  const late = newWake()
  post(late)
  await ended
  assert.ok(text === '' || /^HTTP\/1\.1 503 [^]*connection: close[^]*"draining"/i.test(text), text)
  assert.equal(runtime.requests.some(request => request.body.includes(late.delivery_id)), false)
  runtime.unpark()
  assert.equal((await pending).json.status, 'relayed')
  assert.deepEqual(await gateway.ended(), { code: 0, signal: null })
})

test('an idle kept connection does not hold the end up', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { grace: '60s', routes: relayTo(runtime) })
  const { port } = new URL(gateway.url)
  const socket = net.connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise(resolve => socket.once('data', resolve))
  const began = Date.now()
  await gateway.stop()
  assert.ok(Date.now() - began < 30_000, 'well under the grace time')
  socket.destroy()
})

// --- kill -9 -------------------------------------------------------------------------------------

for (const store of ['sqlite', 'redis']) {
  test(`kill -9 and restart on ${store}: what was relayed is known, what was sent is not fired again`, async t => {
    const runtime = await startRuntime(t, 'claude-code')
    const over = store === 'redis' ? { store: (await startRedis(t)).url } : {}
    const gateway = await startGateway(t, { ...over, budget: '20s', routes: relayTo(runtime) })
    const done = newWake()
    assert.equal((await send(gateway, done)).json.status, 'relayed')
    const sent = newWake()
    runtime.behave('hang')
    const lost = send(gateway, sent).catch(() => undefined)
    await until(() => runtime.requests.length === 2, 'the second is with the runtime')
    await gateway.kill()
    await lost
    await gateway.restart()
    assert.equal((await send(gateway, done)).json.status, 'duplicate')
    const again = await send(gateway, sent)
    assert.equal(again.status, 503, again.text)
    assert.ok(['in_flight', 'held'].includes(again.json.code))
    assert.equal((await send(gateway, newWake())).json.status, 'relayed')
    assert.equal(runtime.requests.length, 3)
  })
}

// --- reload --------------------------------------------------------------------------------------

async function reload(gateway, config) {
  const before = gateway.log('reloaded').length + gateway.log('reload_failed').length
  gateway.write(config)
  gateway.child.kill('SIGHUP')
  await until(() => gateway.log('reloaded').length + gateway.log('reload_failed').length > before, () => `the reload is over\n${gateway.everything()}`)
}

test('SIGHUP: routes come, change and go; a broken config changes nothing', async t => {
  const runtime = await startRuntime(t, 'poke')
  const config = { ...defaults, routes: relayTo(runtime) }
  const gateway = await startGateway(t, config)
  gateway.mayWrite = /wakegate\.json|mistake|did you mean/
  assert.equal((await send(gateway, newWake(), 'other')).status, 404)

  await reload(gateway, { ...config, routes: { ...config.routes, other: config.routes.relay } })
  assert.equal((await send(gateway, newWake(), 'other')).json.status, 'relayed')

  for (const broken of ['{', { ...config, routes: {} }, { ...config, rotes: {} }, { ...config, routes: { relay: { dialect: 'agentchit' } } }]) {
    await reload(gateway, broken)
    assert.equal((await send(gateway, newWake(), 'other')).json.status, 'relayed', 'the old config stays')
  }
  assert.equal(gateway.log('reload_failed').length, 4)

  await reload(gateway, config)
  assert.equal((await send(gateway, newWake(), 'other')).status, 404)
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
})

test('SIGHUP: a secret or a config that became a pipe stops nobody', async t => {
  const runtime = await startRuntime(t, 'poke')
  const secrets = path.join(scratch(t), 'secret')
  fs.writeFileSync(secrets, secret)
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime), { secrets: [{ file: secrets }] }) } })
  for (const [file, count] of [[secrets, 1], [gateway.file, 2]]) {
    fs.unlinkSync(file)
    execFileSync('mkfifo', [file])
    gateway.child.kill('SIGHUP')
    await gateway.event('reload_failed', count)
    assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  }
})

test('SIGHUP and SIGTERM while it starts: looked at once it stands', async t => {
  const runtime = await startRuntime(t, 'poke')
  const config = { routes: { relay: route('agentchat', trigger(runtime), { secrets: [{ literal: secret }] }) } }
  for (const [signal, event] of [['SIGHUP', 'reloaded'], ['SIGTERM', 'stopping']]) {
    const gateway = makeGateway(t, config)
    gateway.launch()
    await gateway.event('config_warning') /* it has just read its config */
    gateway.child.kill(signal)
    await gateway.event(event)
    assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  }
})

test('SIGHUP while a wake is with its target: that wake ends under the old config', async t => {
  const runtime = await startRuntime(t, 'hermes')
  const config = { ...defaults, budget: '20s', routes: relayTo(runtime) }
  const gateway = await startGateway(t, config)
  const wake = newWake()
  runtime.behave('park')
  const pending = send(gateway, wake)
  await until(() => runtime.parked === 1, 'the runtime has it')
  await reload(gateway, { ...config, routes: { other: config.routes.relay } })
  assert.equal((await send(gateway, newWake())).status, 404)
  runtime.unpark()
  assert.equal((await pending).json.status, 'relayed')
})

test('a rotation of secrets: both are valid, then only the new one; a metric tells which matched', async t => {
  const runtime = await startRuntime(t, 'poke')
  const directory = scratch(t)
  const write = (name, value) => fs.writeFileSync(path.join(directory, name), value)
  write('current', `${secret}\n`)
  const secrets = (...names) => names.map(name => ({ file: path.join(directory, name) }))
  const config = names => ({ ...defaults, routes: { relay: route('agentchat', trigger(runtime), { secrets: secrets(...names) }) } })
  const gateway = await startGateway(t, config(['current']), { directory })
  const next = 'the-next-secret-0123456789abcdef'
  const sign = key => gateway.wake('relay', 'agentchat', newWake(), { secret: key })
  assert.equal((await sign(secret)).status, 200)
  assert.equal((await sign(next)).status, 401)

  write('previous', `${secret}\n`)
  write('current', `${next}\n`)
  await reload(gateway, config(['current', 'previous']))
  assert.equal((await sign(next)).status, 200)
  assert.equal((await sign(secret)).status, 200)
  const matched = Object.entries(await gateway.metrics()).filter(([name]) => /secret/.test(name) && /route="relay"/.test(name))
  assert.equal(matched.length, 2, JSON.stringify(matched))

  await reload(gateway, config(['current']))
  assert.equal((await sign(next)).status, 200)
  assert.equal((await sign(secret)).status, 401)
})

// --- looking in ----------------------------------------------------------------------------------

test('SIGUSR1 prints the relays in flight', async t => {
  const runtime = await startRuntime(t, 'hermes')
  const gateway = await startGateway(t, { budget: '20s', routes: relayTo(runtime) })
  const wake = newWake()
  runtime.behave('park')
  const pending = send(gateway, wake)
  await until(() => runtime.parked === 1, 'the runtime has it')
  gateway.child.kill('SIGUSR1')
  await until(() => gateway.entries.some(entry => JSON.stringify(entry).includes(wake.delivery_id) && /deliver/.test(JSON.stringify(entry))), () => `the relay is printed\n${gateway.everything()}`)
  runtime.unpark()
  await pending
})

test('livez, readyz and metrics; one log line an event', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { routes: relayTo(runtime) })
  for (const where of ['/livez', '/readyz']) {
    assert.equal((await gateway.get(where)).status, 200)
    assert.equal((await request(gateway.url + where, { method: 'HEAD' })).status, 200)
    const refused = await request(gateway.url + where, { method: 'POST', body: 'x' })
    assert.equal(refused.status, 405)
    assert.match(refused.headers.allow, /GET/)
  }
  const wake = newWake()
  await send(gateway, wake)
  await send(gateway, wake)
  await gateway.wake('relay', 'agentchat', newWake(), { secret: 'wrong' })
  const { headers, text } = await gateway.get('/metrics')
  assert.match(headers['content-type'], /^text\/plain; version=0\.0\.4/)
  for (const line of text.trimEnd().split('\n'))
    assert.match(line, /^(# (HELP|TYPE) wakegate_[a-z0-9_]+ .+|wakegate_[a-z0-9_]+(\{([a-z_]+="([^"\\]|\\.)*",?)+\})? [0-9.e+-]+|wakegate_[a-z0-9_]+(\{.*\})? (\+Inf|NaN))$/)
  const metrics = await gateway.metrics()
  const value = (...parts) => Object.entries(metrics).filter(([name]) => parts.every(part => name.includes(part))).reduce((sum, [, n]) => sum + n, 0)
  assert.equal(value('wakes_total', 'route="relay"', 'code="relayed"'), 1)
  assert.equal(value('wakes_total', 'route="relay"', 'code="duplicate"'), 1)
  assert.equal(value('wakes_total', 'route="relay"', 'code="unauthorized"'), 1)
  assert.equal(value('route="relay"', 'result="wrong"'), 1)

  const lines = gateway.log('wake')
  assert.deepEqual(lines.map(line => line.code), ['relayed', 'duplicate', 'unauthorized'])
  assert.equal(lines[0].route, 'relay')
  assert.equal(lines[0].delivery_id, wake.delivery_id)
  for (const entry of gateway.entries) assert.ok(entry.event && entry.level && (entry.ts ?? entry.time ?? entry.at), JSON.stringify(entry))
})

test('with an admin listener, the metrics stand only there', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { admin: '127.0.0.1:0', routes: relayTo(runtime) })
  assert.equal((await gateway.get('/metrics')).status, 404)
  const admin = gateway.log('listening_admin').at(-1).url
  assert.equal((await request(`${admin}/metrics`, { method: 'GET' })).status, 200)
  assert.equal((await request(`${admin}/livez`, { method: 'GET' })).status, 200)
  assert.equal((await request(`${admin}/wake/relay`, framed('agentchat', newWake()))).status, 404)
})

test('listeners: a unix socket, several at once, IPv6', async t => {
  const runtime = await startRuntime(t, 'poke')
  const directory = scratch(t)
  const socketPath = path.join(directory, 'wakegate.sock')
  const gateway = await startGateway(t, { listen: ['127.0.0.1:0', `unix:${socketPath}`], routes: relayTo(runtime) }, { directory })
  await gateway.event('listening', 2)
  const got = await request('http://localhost/wake/relay', { ...framed('agentchat', newWake()), socketPath })
  assert.equal(got.json.status, 'relayed', got.text)
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  await gateway.stop()
  assert.equal(fs.existsSync(socketPath), false, 'the socket file is gone')
  await gateway.restart()

  const both = await startGateway(t, { listen: '[::]:0', routes: relayTo(runtime) })
  const { port } = new URL(both.url)
  for (const host of ['127.0.0.1', '[::1]']) {
    if (host === '[::1]' && !fs.existsSync('/proc/net/if_inet6')) continue
    assert.equal((await request(`http://${host}:${port}/livez`, { method: 'GET' })).status, 200)
  }
})

test('a socket file left by a killed process is no obstacle', async t => {
  const runtime = await startRuntime(t, 'poke')
  const directory = scratch(t)
  const socketPath = path.join(directory, 'wakegate.sock')
  const gateway = await startGateway(t, { listen: ['127.0.0.1:0', `unix:${socketPath}`], routes: relayTo(runtime) }, { directory })
  await gateway.kill()
  assert.equal(fs.existsSync(socketPath), true)
  await gateway.restart()
  assert.equal((await request('http://localhost/livez', { method: 'GET', socketPath })).status, 200)
})

test('few descriptors: idle connections leave enough for the targets', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { routes: relayTo(runtime) }, { prefix: ['prlimit', '--nofile=100'] })
  const { port } = new URL(gateway.url)
  const idle = Array.from({ length: 120 }, () => net.connect(Number(port), '127.0.0.1').on('error', () => {}))
  t.after(() => idle.forEach(socket => socket.destroy()))
  await until(() => idle.some(socket => socket.destroyed || socket.closed), 'one too many was closed')
  const { headers, body } = framed('agentchat', newWake())
  const lines = Object.entries({ host: 'x', 'content-length': body.length, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  let got = ''
  idle[0].on('data', chunk => (got += chunk))
  idle[0].write(`POST /wake/relay HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  await until(() => got.includes('"status"') || got.includes('"code"'), 'an answer')
  assert.match(got, /"relayed"/)
})

test('a port that is taken: a clear end, not a hang', async t => {
  const runtime = await startRuntime(t, 'poke')
  const first = await startGateway(t, { routes: relayTo(runtime) })
  const second = makeGateway(t, { listen: new URL(first.url).host, routes: relayTo(runtime) })
  second.mayFail = true
  second.mayWrite = /./
  second.launch()
  const { code } = await second.over
  assert.equal(code, 1)
  await second.closed
  assert.match(second.everything(), /in use/)
})

// --- environment ---------------------------------------------------------------------------------

test('a variable wins over the file', async t => {
  const runtime = await startRuntime(t, 'poke')
  const redis = await startRedis(t)
  const gateway = await startGateway(t, { listen: '[::]:1', routes: relayTo(runtime) }, { env: { WAKEGATE_LISTEN: '127.0.0.1:0', WAKEGATE_STORE: redis.url } })
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  assert.equal(fs.existsSync(path.join(gateway.directory, 'wakegate.db')), false, 'the variable won')
})
