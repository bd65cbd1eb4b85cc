// SPDX-License-Identifier: Apache-2.0
// Direct TLS over time: certificates that are renewed under load, files that cannot be used, certificates that
// are not valid; and thousands of handshakes, after which everything is back.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import https from 'node:https'
import net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { route, run, scratch, trigger } from './gateway.mjs'
import { request } from './http.mjs'
import { startRuntime } from './runtimes.mjs'
import { connect, makeIdentity, names, startTlsGateway } from './tls.mjs'
import { until } from './until.mjs'
import { framed, newWake } from './wakes.mjs'

const relayTo = (runtime, over) => ({ relay: route('agentchat', trigger(runtime, over)) })

/** The number of the certificate that a new connection gets. */
async function presented(gateway) {
  const peer = await connect(gateway)
  const { serialNumber } = peer.socket.getPeerCertificate()
  peer.socket.destroy()
  return serialNumber
}

const reload = async gateway => {
  const before = gateway.log('reloaded').length + gateway.log('reload_failed').length
  gateway.child.kill('SIGHUP')
  await until(() => gateway.log('reloaded').length + gateway.log('reload_failed').length > before, 'it has reloaded')
}

test('certificates are renewed under load: nothing is dropped, new connections see the new one', async t => {
  const runtime = await startRuntime(t, 'hermes')
  const gateway = await startTlsGateway(t, { routes: relayTo(runtime) })
  const { identity } = gateway
  const agent = new https.Agent({ keepAlive: true, maxSockets: 6 })
  t.after(() => agent.destroy())
  const kept = new Set()
  let sent = 0, going = true
  const sender = async () => {
    while (going) {
      const { json, socket } = await request(`${gateway.url}/wake/relay`, { agent, tls: gateway.tls, ...framed('agentchat', newWake()) })
      assert.equal(json.status, 'relayed')
      kept.add(socket)
      sent++
    }
  }
  const load = Array.from({ length: 6 }, sender)
  const idle = await connect(gateway), seen = new Set([await presented(gateway)])
  for (let i = 0; i < 5; i++) {
    const before = sent
    identity.renew()
    await reload(gateway)
    seen.add(await presented(gateway))
    assert.equal(seen.size, i + 2, 'each connection since then gets the new one')
    await until(() => sent > before + 30, 'wakes go on')
  }
  going = false
  await Promise.all(load)
  assert.equal(kept.size, 6, 'no connection was replaced')
  assert.equal(runtime.runs.length, sent)
  idle.socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await idle.over
  assert.match(idle.text(), /^HTTP\/1.1 200/)
})

test('files that cannot be used: the old certificate stays, and it is said why', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startTlsGateway(t, { routes: relayTo(runtime) })
  const { identity } = gateway
  const first = await presented(gateway)
  const good = { certificate: fs.readFileSync(identity.files.certificate), key: fs.readFileSync(identity.files.key) }
  const stranger = makeIdentity(t)
  const cases = [
    ['certificate', 'nonsense', /holds no certificate in PEM/],
    ['certificate', '', /holds no certificate in PEM/],
    ['certificate', good.certificate.subarray(0, 300), /holds no certificate in PEM/],
    ['key', 'nonsense', /holds no private key in PEM/],
    ['key', fs.readFileSync(stranger.files.key), /the key is not the certificate's/],
    ['certificate', fs.readFileSync(stranger.files.certificate), /the key is not the certificate's/],
    ['certificate', null, /tls\.certificate: the file .*chain\.pem cannot be read/],
    ['key', null, /tls\.key: the file .*key\.pem cannot be read/]
  ]
  for (const [name, text, why] of cases) {
    if (text === null) fs.rmSync(identity.files[name])
    else identity.write(name, text)
    await reload(gateway)
    assert.match(gateway.log('config_mistake').at(-1).text, why)
    assert.equal(await presented(gateway), first)
    identity.write(name, good[name])
  }
  assert.equal(gateway.log('reload_failed').length, cases.length)
  identity.renew()
  await reload(gateway)
  assert.notEqual(await presented(gateway), first)

  gateway.write({ ...gateway.config, tls: undefined })
  await reload(gateway)
  assert.match(gateway.log('reload').at(-1).text, /restart.*: tls/)
  const still = await presented(gateway)
  gateway.write({ ...gateway.config, tls: identity.files })
  identity.renew()
  await reload(gateway)
  assert.notEqual(await presented(gateway), still, 'TLS was never off')
})

test('"watch": a certificate that is exchanged is used, by itself', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startTlsGateway(t, { watch: true, routes: relayTo(runtime) })
  const first = await presented(gateway)
  gateway.identity.renew()
  await gateway.event('reloaded')
  assert.notEqual(await presented(gateway), first)
})

test('certificates that are not valid now are warned about, at the start and at a reload, and counted down', async t => {
  const runtime = await startRuntime(t, 'poke')
  const identity = makeIdentity(t)
  const inDays = days => Date.now() / 1000 + days * 24 * 3600
  const expiry = async () => (await gateway.metrics())['wakegate_certificate_expiry_seconds{listener="listen"}']
  const near = (value, wanted) => assert.ok(Math.abs(value - wanted) < 600, `${value} is near ${wanted}`)
  identity.renew(names, -3, -1)
  const loose = { ca: identity.ca, rejectUnauthorized: false }
  const gateway = await startTlsGateway(t, { routes: relayTo(runtime) }, { identity, ready: false })
  gateway.tls = loose
  near(await expiry(), inDays(-1))
  // What was warned about before the log began is a line as well.
  const warned = () => [...gateway.log('config_warning').map(line => line.text)].filter(text => /tls/.test(text)).at(-1)
  assert.match(warned(), /tls\.certificate: is not valid any more, since 20\d\d-.* UTC.*renew/)
  identity.renew(names, 1, 2)
  await reload(gateway)
  assert.match(warned(), /tls\.certificate: is not valid before 20/)
  near(await expiry(), inDays(2))
  const before = gateway.log('config_warning').length
  identity.renew()
  await reload(gateway)
  assert.equal(gateway.log('config_warning').slice(before).filter(line => /tls/.test(line.text)).length, 0)
})

test('check tells what is wrong with tls', async t => {
  const identity = makeIdentity(t)
  const directory = scratch(t), file = path.join(directory, 'wakegate.json')
  const check = tls => {
    fs.writeFileSync(file, JSON.stringify({ store: 'sqlite:x.db', tls, routes: { relay: route('agentchat', { trigger: { dialect: 'poke', url: 'https://example.com/', token: { env: 'E2E_SECRET' } } }) } }))
    return run(['check', '--config', file])
  }
  const fine = await check(identity.files)
  assert.equal(fine.code, 0, fine.out)
  assert.doesNotMatch(fine.out, /tls/)
  const rows = [
    [{}, [/tls\.certificate: is missing/, /tls\.key: is missing/]],
    [{ ...identity.files, min_version: '1.1' }, [/tls\.min_version: is "1\.1"; did you mean "1\.2"/]],
    [{ ...identity.files, cert: 'x' }, [/tls\.cert: is not a known key; known here: certificate, key, min_version/]],
    [{ ...identity.files, key: identity.files.certificate }, [/tls: the key's file holds no private key/]],
    [{ ...identity.files, certificate: directory }, [/tls\.certificate: the file .* cannot be read/]],
    [{ ...identity.files, key: 'not-a-path-but-a-secret' }, [/tls\.key: the file cannot be read/]],
    [7, [/tls: is a number/]]
  ]
  for (const [tls, wanted] of rows) {
    const { code, out } = await check(tls)
    assert.equal(code, 1, out)
    for (const text of wanted) assert.match(out, text)
    assert.doesNotMatch(out, /not-a-path/)
  }
  fs.chmodSync(identity.files.key, 0o644)
  const open = await check(identity.files)
  assert.equal(open.code, 0)
  assert.match(open.out, /warning: .*tls\.key: everybody on this machine may read it/)
})

// --- many ----------------------------------------------------------------------------------------

const release = process.env.WAKEGATE_RELEASE
const status = (gateway, key) => Number(fs.readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8').match(new RegExp(`^${key}:\\s+(\\d+)`, 'm'))[1])
const descriptors = gateway => fs.readdirSync(`/proc/${gateway.child.pid}/fd`).length

/** `total` visits, `width` at a time. */
async function visit(total, width, one) {
  let next = 0
  await Promise.all(Array.from({ length: width }, async () => {
    while (next < total) await one(next++)
  }))
}

test('handshakes by the thousand, done, given up and never begun: gauges, descriptors and memory are back', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startTlsGateway(t, { log_level: 'info', routes: relayTo(runtime) }, release ? { binary: release } : {})
  const { port } = new URL(gateway.url)
  const knock = bytes => new Promise(resolve => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes, () => socket.destroy()))
    socket.on('error', () => {}).on('close', resolve)
  })
  const half = Buffer.concat([Buffer.from('1603010200010001fc0303', 'hex'), Buffer.alloc(300)])
  const one = async i => {
    if (i % 5 === 0) return knock('GET / HTTP/1.1\r\n\r\n')
    if (i % 5 === 1) return knock(half)
    if (i % 5 === 2) return connect(gateway, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }).catch(() => {})
    const peer = await connect(gateway)
    if (i % 5 === 3) peer.socket.destroy()
    else peer.socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    await peer.over
  }
  await visit(600, 24, one)
  const back = async () => (await gateway.metrics()).wakegate_connections === 1
  await until(back, 'all are gone')
  const before = { descriptors: descriptors(gateway), memory: status(gateway, 'VmRSS') }
  await visit(2000, 24, one)
  await until(back, 'all are gone')
  await until(() => descriptors(gateway) <= before.descriptors, 'the descriptors are back')
  if (release) assert.ok(status(gateway, 'VmRSS') - before.memory < 2048, `${before.memory} KB, then ${status(gateway, 'VmRSS')} KB`)
  const metrics = await gateway.metrics()
  assert.ok(metrics['wakegate_tls_handshakes_total{result="plain_http"}'] >= 500)
  assert.ok(metrics['wakegate_tls_handshakes_total{result="version"}'] >= 500)
})

test('idle connections by the hundred: wakes go on, and each takes little memory', async t => {
  const runtime = await startRuntime(t, 'hermes')
  const gateway = await startTlsGateway(t, { connections_per_address: 2000, routes: relayTo(runtime) }, release ? { binary: release } : {})
  const peers = []
  const dial = async () => peers.push(await connect(gateway))
  await visit(50, 10, dial)
  const before = status(gateway, 'VmRSS'), many = 600
  await visit(many, 10, dial)
  const each = (status(gateway, 'VmRSS') - before) / many
  for (let i = 0; i < 20; i++) assert.equal((await gateway.wake('relay', 'agentchat', newWake())).json.status, 'relayed')
  assert.equal((await gateway.metrics()).wakegate_connections, many + 50 + 1)
  t.diagnostic(`${each.toFixed(1)} KB a connection`)
  if (release) assert.ok(each < 60, `${each} KB a connection`)
  for (const peer of peers) peer.socket.destroy()
  await until(async () => (await gateway.metrics()).wakegate_connections === 1, 'they are gone')
})

test('a client that never finishes its handshake is closed when the time for a head is over', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startTlsGateway(t, { head_timeout: '1s', routes: relayTo(runtime) })
  const { port } = new URL(gateway.url)
  const visitors = ['', '\x16', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'].map(text => {
    const socket = net.connect(port, '127.0.0.1')
    if (text) socket.write(Buffer.from(text, 'latin1'))
    return new Promise(resolve => socket.on('error', () => {}).on('close', resolve).resume())
  })
  await Promise.all(visitors)
  assert.equal((await gateway.metrics())['wakegate_tls_handshakes_total{result="timeout"}'], 3)
})
