// SPDX-License-Identifier: Apache-2.0
// Direct TLS: HTTP over it in all its shapes, and what is refused.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import https from 'node:https'
import net from 'node:net'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { route, run, trigger } from './gateway.mjs'
import { raw, request } from './http.mjs'
import { freePort } from './redis.mjs'
import { room, roomClient, rooms, tokens } from './room_clients.mjs'
import { startRuntime } from './runtimes.mjs'
import { connect, startTlsGateway } from './tls.mjs'
import { until } from './until.mjs'
import { framed, newWake } from './wakes.mjs'

const relayTo = (runtime, over) => ({ relay: route('agentchat', trigger(runtime, over)) })

/** A wake as the bytes of a request. */
function bytesOf(wake, { pad = 0, close = false } = {}) {
  const { headers, body } = framed('agentchat', { ...wake, summary: wake.summary + 'x'.repeat(pad) })
  const lines = Object.entries({ host: 'localhost', 'content-length': Buffer.byteLength(body), ...(close ? { connection: 'close' } : {}), ...headers })
  return Buffer.from(`POST /wake/relay HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`)
}

const count = (text, what) => text.split(what).length - 1

test('TLS: wakes over kept connections, pipelined, in one piece and in many, with 1.2 and 1.3', async t => {
  const runtime = await startRuntime(t, 'hermes')
  const gateway = await startTlsGateway(t, { max_body: 1024 * 1024, routes: relayTo(runtime) })
  assert.match(gateway.url, /^https:/)

  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const sockets = new Set()
  for (let i = 0; i < 5; i++) {
    const { status, json, socket } = await request(`${gateway.url}/wake/relay`, { agent, tls: gateway.tls, ...framed('agentchat', newWake()) })
    assert.equal(json.status, 'relayed')
    assert.equal(status, 200)
    sockets.add(socket)
  }
  assert.equal(sockets.size, 1)

  for (const version of ['TLSv1.2', 'TLSv1.3']) {
    const peer = await connect(gateway, { minVersion: version, maxVersion: version })
    assert.equal(peer.socket.getProtocol(), version)
    peer.socket.write(Buffer.concat([bytesOf(newWake()), bytesOf(newWake()), bytesOf(newWake(), { close: true })]))
    const { told } = await peer.over
    assert.equal(count(peer.text(), '"status":"relayed"'), 3, peer.text())
    assert.equal(told, true, 'a close_notify comes after the last answer')
  }

  const drip = await connect(gateway)
  drip.socket.setNoDelay(true)
  for (const byte of bytesOf(newWake(), { close: true })) drip.socket.write(Buffer.of(byte))
  await drip.over
  assert.match(drip.text(), /"status":"relayed"/)

  const large = await connect(gateway)
  large.socket.write(bytesOf(newWake(), { pad: 1000 * 1024, close: true }))
  await large.over
  assert.match(large.text(), /"status":"relayed"/)
  const larger = await connect(gateway)
  larger.socket.write(bytesOf(newWake(), { pad: 1100 * 1024 }))
  await larger.over
  assert.match(larger.text(), /^HTTP\/1\.1 413 [^]*"too_large"/)
  assert.equal(runtime.runs.length, 5 + 6 + 2)
})

test('TLS: half a request is no wake, wherever it was cut off; half a connection is one', async t => {
  const runtime = await startRuntime(t, 'hermes')
  const gateway = await startTlsGateway(t, { routes: relayTo(runtime) })
  const bytes = bytesOf(newWake())
  for (let at = 0; at < bytes.length; at += 29) {
    const peer = await connect(gateway)
    peer.socket.write(bytes.subarray(0, at))
    if (at % 2) peer.socket.destroy()
    else peer.socket.end()
    await peer.over
    assert.doesNotMatch(peer.text(), /HTTP\/1.1 2/)
  }
  await until(async () => (await gateway.metrics()).wakegate_connections === 1, 'they are gone')
  assert.equal(runtime.requests.length, 0)

  const peer = await connect(gateway)
  peer.socket.end(bytes)
  await peer.over
  assert.match(peer.text(), /"status":"relayed"/)
})

test('TLS: whatever name is asked for; old versions, other protocols, other ports are refused and counted', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startTlsGateway(t, { routes: relayTo(runtime) })
  const other = await connect(gateway, { servername: 'elsewhere.example', checkServerIdentity: () => undefined })
  assert.equal(other.socket.authorized, true)
  other.socket.destroy()
  await assert.rejects(connect(gateway, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }))
  await assert.rejects(connect(gateway, { ALPNProtocols: ['h2'] }), /application protocol/i)
  const both = await connect(gateway, { ALPNProtocols: ['h2', 'http/1.1'] })
  assert.equal(both.socket.alpnProtocol, 'http/1.1')
  both.socket.destroy()
  await assert.rejects(connect(gateway, { ca: [] }), /certificate/i)

  const plain = await raw(gateway.url.replace('https', 'http'), 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.deepEqual(plain, { text: '', closed: true })
  const lines = gateway.log('tls_handshake_failed')
  assert.match(lines.find(line => line.result === 'plain_http').why, /https/)
  const metrics = await gateway.metrics()
  const result = name => metrics[`wakegate_tls_handshakes_total{result="${name}"}`]
  assert.equal(result('version'), 1)
  assert.equal(result('application_protocol'), 1)
  assert.equal(result('plain_http'), 1)
  assert.ok(result('ok') >= 1)
})

test('TLS: 1.3 alone where that is asked for; the admin listener and unix sockets stay plain', async t => {
  const runtime = await startRuntime(t, 'poke')
  const admin = `127.0.0.1:${await freePort()}`
  const gateway = await startTlsGateway(t, { listen: ['127.0.0.1:0', 'unix:./socket'], admin, tls: { min_version: '1.3' }, routes: relayTo(runtime) })
  await assert.rejects(connect(gateway, { maxVersion: 'TLSv1.2' }), /version/i)
  const peer = await connect(gateway)
  assert.equal(peer.socket.getProtocol(), 'TLSv1.3')
  const socketPath = `${gateway.directory}/socket`
  const wake = await request('http://x/wake/relay', { socketPath, ...framed('agentchat', newWake()) })
  assert.equal(wake.json.status, 'relayed')
  const page = await request(`http://${admin}/metrics`, { method: 'GET' })
  assert.match(page.text, /^wakegate_connections 2$/m, 'both listeners count: the open one and this one')
  peer.socket.destroy()
})

test('TLS: openssl s_client', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startTlsGateway(t, { routes: relayTo(runtime) })
  const { host } = new URL(gateway.url)
  for (const version of ['-tls1_2', '-tls1_3']) {
    const child = spawn('openssl', ['s_client', '-quiet', '-verify_quiet', version, '-verify_return_error', '-CAfile', gateway.identity.authority.ca, '-servername', 'localhost', '-verify_hostname', 'localhost', '-connect', host], { stdio: ['pipe', 'pipe', 'ignore'] })
    let out = ''
    child.stdout.on('data', chunk => (out += chunk))
    child.stdin.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    await once(child, 'close')
    assert.match(out, /^HTTP\/1\.1 200 OK/)
  }
  const openssl = (...words) => promisify(execFile)('openssl', ['s_client', '-connect', host, ...words], { input: '' })
  for (const words of [['-tls1_1', '-cipher', 'DEFAULT@SECLEVEL=0'], ['-alpn', 'h2'], ['-cipher', 'NULL-SHA256:@SECLEVEL=0', '-tls1_2']])
    await assert.rejects(openssl(...words), { code: 1 })
})

test('TLS: healthcheck, told or from the config', async t => {
  const runtime = await startRuntime(t, 'poke')
  const port = await freePort()
  const gateway = await startTlsGateway(t, { listen: ['unix:./socket', `127.0.0.1:${port}`], routes: relayTo(runtime) }, { ready: false })
  const url = `https://127.0.0.1:${port}`
  await until(async () => (await request(`${url}/readyz`, { method: 'GET', tls: gateway.tls })).status === 200, 'it is ready')
  const told = await run(['healthcheck', url])
  assert.equal(told.out, `${url}/readyz: ready\n`)
  assert.equal(told.code, 0)
  const found = await run(['healthcheck'], { cwd: gateway.directory, env: { WAKEGATE_CONFIG: gateway.file } })
  assert.equal(found.out, `${url}/readyz: ready\n`)
  const plain = await run(['healthcheck', url.replace('https', 'http')])
  assert.equal(plain.code, 1)
  const server = net.createServer(socket => socket.on('error', () => {}).end('220 no TLS here\r\n')).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const none = await run(['healthcheck', `https://127.0.0.1:${server.address().port}`])
  assert.equal(none.code, 1)
  assert.match(none.out, /no TLS there/)
})

test('TLS: a room over wss and over polling', async t => {
  const gateway = await startTlsGateway(t, { rooms: rooms(), routes: { relay: route('agentchat', room()) } }, { env: tokens })
  for (const transports of [['websocket'], ['polling'], ['polling', 'websocket']]) {
    const client = await roomClient(t, gateway, 'worker', { ca: gateway.identity.ca, transports }).ready()
    await client.join('wakes')
    if (transports.length > 1) await until(() => client.socket.io.engine.transport.name === 'websocket', 'it has upgraded')
    client.takeAll('wakes')
    const wakes = [newWake(), newWake({ summary: 'x'.repeat(50_000) })]
    for (const wake of wakes) assert.equal((await gateway.wake('relay', 'agentchat', wake)).json.status, 'relayed')
    await until(() => client.taken.length === 2, 'they are taken')
    assert.deepEqual(client.taken, wakes.map(wake => wake.delivery_id))
    client.socket.close()
    await until(async () => (await gateway.metrics()).wakegate_room_clients === 0, 'it is gone')
  }
})

test('TLS: SIGTERM answers what is under way, closes with a close_notify, and ends', async t => {
  const runtime = await startRuntime(t, 'hermes')
  const gateway = await startTlsGateway(t, { routes: relayTo(runtime) })
  const idle = await connect(gateway), busy = await connect(gateway)
  runtime.behave('park')
  busy.socket.write(bytesOf(newWake()))
  await until(() => runtime.parked === 1, 'the runtime has it')
  gateway.child.kill('SIGTERM')
  await gateway.event('stopping')
  runtime.unpark()
  const ends = await Promise.all([idle.over, busy.over])
  assert.match(busy.text(), /^HTTP\/1.1 200 [^]*connection: close[^]*"status":"relayed"/i)
  assert.deepEqual(ends, [{ told: true, error: undefined }, { told: true, error: undefined }])
  assert.deepEqual(await gateway.ended(), { code: 0, signal: null })
})
