// SPDX-License-Identifier: Apache-2.0
// What wakegate will connect to and what it will not: TLS is verified, the address that a name really
// has is checked, no proxy is taken from the environment.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import https from 'node:https'
import path from 'node:path'
import { test } from 'node:test'
import { route, scratch, startGateway, trigger } from './gateway.mjs'
import { request } from './http.mjs'
import { makeNamespace } from './namespace.mjs'
import { startRuntime } from './runtimes.mjs'
import { until } from './until.mjs'
import { framed, newWake } from './wakes.mjs'

// --- TLS -----------------------------------------------------------------------------------------

/** An authority, and certificates of its making for the given names; { ca, key, cert(name, days) }. */
function makeAuthority(t) {
  const directory = scratch(t)
  const at = name => path.join(directory, name)
  const openssl = (...words) => execFileSync('openssl', words, { cwd: directory, stdio: 'pipe' })
  openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=e2e authority', '-keyout', 'ca.key', '-out', 'ca.pem')
  openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', 'server.key')
  return {
    ca: at('ca.pem'),
    key: fs.readFileSync(at('server.key')),
    cert(names, ...dates) {
      openssl('req', '-new', '-key', 'server.key', '-subj', '/CN=e2e', '-out', 'server.csr')
      fs.writeFileSync(at('ext'), `subjectAltName=${names}\n`)
      openssl('x509', '-req', '-in', 'server.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'ext', ...dates, '-out', 'server.pem')
      return fs.readFileSync(at('server.pem'))
    }
  }
}

/** The runtime `inner` behind TLS with that certificate. */
async function behindTls(t, inner, key, cert, options = {}) {
  const server = https.createServer({ key, cert, ...options }, (req, res) => inner.server.emit('request', req, res))
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { kind: inner.kind, url: `https://127.0.0.1:${server.address().port}` }
}

test('TLS: a good certificate is taken, a bad one is target_unavailable and gets no request', async t => {
  const good = makeAuthority(t)
  const stranger = makeAuthority(t)
  const inner = await startRuntime(t, 'claude-code')
  const days = ['-days', '2']
  const runtimes = {
    good: await behindTls(t, inner, good.key, good.cert('IP:127.0.0.1', ...days)),
    stranger: await behindTls(t, inner, stranger.key, stranger.cert('IP:127.0.0.1', ...days)),
    otherName: await behindTls(t, inner, good.key, good.cert('DNS:example.com', ...days)),
    expired: await behindTls(t, inner, good.key, good.cert('IP:127.0.0.1', '-days', '-1')),
    old: await behindTls(t, inner, good.key, good.cert('IP:127.0.0.1', ...days), { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' })
  }
  const routes = {}
  for (const [name, runtime] of Object.entries(runtimes)) routes[name] = route('agentchat', trigger(runtime))
  const gateway = await startGateway(t, { ca_file: good.ca, routes })
  assert.equal((await gateway.wake('good', 'agentchat', newWake())).json.status, 'relayed')
  assert.equal(inner.requests.length, 1)
  for (const name of ['stranger', 'otherName', 'expired', 'old']) {
    const got = await gateway.wake(name, 'agentchat', newWake())
    assert.equal(got.status, 503, `${name}: ${got.text}`)
    assert.equal(got.json.code, 'target_unavailable', name)
  }
  assert.equal(inner.requests.length, 1, 'nobody else got a byte of a request')

  const system = await startGateway(t, { routes: { good: routes.good } })
  assert.equal((await system.wake('good', 'agentchat', newWake())).json.code, 'target_unavailable', "the system's certificates do not know this authority")
  assert.equal(inner.requests.length, 1)
})

test('a trigger that says https and speaks plain HTTP gets no request', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger({ kind: 'poke', url: runtime.url.replace('http:', 'https:') })) } })
  assert.equal((await gateway.wake('relay', 'agentchat', newWake())).json.code, 'target_unavailable')
  assert.equal(runtime.requests.length, 0)
})

// --- proxies -------------------------------------------------------------------------------------

test('no proxy is taken from the environment', async t => {
  const runtime = await startRuntime(t, 'poke')
  const proxy = 'http://127.0.0.1:1'
  const env = { http_proxy: proxy, HTTP_PROXY: proxy, https_proxy: proxy, HTTPS_PROXY: proxy, all_proxy: proxy, ALL_PROXY: proxy }
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime)) } }, { env })
  assert.equal((await gateway.wake('relay', 'agentchat', newWake())).json.status, 'relayed')
})

// --- addresses -----------------------------------------------------------------------------------

test('the address that a name has is checked: private ones need the flag, metadata is never reached', async t => {
  const hosts = [
    '127.0.0.1 rebinds.example',
    '10.1.2.3 private.example',
    '::ffff:127.0.0.1 mapped.example',
    '169.254.169.254 metadata.example',
    'fe80::1 linklocal.example',
    '93.184.216.34 public.example'
  ]
  const { prefix, why } = makeNamespace(t, { hosts: hosts.join('\n') + '\n' })
  if (why) {
    t.skip(`no network namespace can be made here: ${why}`)
    return
  }
  const directory = scratch(t)
  const socketPath = path.join(directory, 'wakegate.sock')
  const target = (name, over) => route('agentchat', trigger({ kind: 'grok', url: `https://${name}.example` }, over))
  const routes = {}
  for (const name of ['rebinds', 'private', 'mapped', 'metadata', 'linklocal', 'public']) {
    routes[name] = target(name, { private: false })
    routes[`${name}-flagged`] = target(name)
  }
  // A unix socket is reachable from outside the namespace.
  const gateway = await startGateway(t, { listen: `unix:${socketPath}`, budget: '3s', routes }, { prefix, directory, ready: false })
  const detail = async name => {
    const got = await request(`http://localhost/wake/${name}`, { ...framed('agentchat', newWake()), socketPath })
    assert.equal(got.status, 503, `${name}: ${got.text}`)
    assert.equal(got.json.code, 'target_unavailable', name)
    const line = await until(() => gateway.log('wake').find(entry => entry.route === name), 'the wake is logged')
    return line.detail
  }
  for (const name of ['rebinds', 'private', 'mapped']) assert.match(await detail(name), /private/, name)
  for (const name of ['metadata', 'linklocal', 'metadata-flagged', 'linklocal-flagged']) assert.match(await detail(name), /link-local/, name)
  for (const name of ['public', 'rebinds-flagged', 'mapped-flagged', 'private-flagged'])
    assert.match(await detail(name), /connect/, `${name} was tried`)
})
