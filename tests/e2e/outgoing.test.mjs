// SPDX-License-Identifier: Apache-2.0
// What wakegate will connect to and what it will not: TLS is verified, the address that a name really
// has is checked, no proxy is taken from the environment.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import fs from 'node:fs'
import https from 'node:https'
import net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { makeAuthority } from './authority.mjs'
import { route, run, scratch, startGateway, trigger } from './gateway.mjs'
import { request } from './http.mjs'
import { makeNamespace } from './namespace.mjs'
import { answer, startRuntime } from './runtimes.mjs'
import { until } from './until.mjs'
import { framed, newWake } from './wakes.mjs'

// --- TLS -----------------------------------------------------------------------------------------

/** The runtime `inner` behind TLS with that certificate. */
async function behindTls(t, inner, key, cert, options = {}) {
  const server = https.createServer({ key, cert, ...options }, (req, res) => inner.server.emit('request', req, res))
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { kind: inner.kind, url: `https://127.0.0.1:${server.address().port}` }
}

test('TLS: a good certificate is taken, a bad one is target_unavailable with its reason and gets no request', async t => {
  const good = makeAuthority(t)
  const stranger = makeAuthority(t)
  const inner = await startRuntime(t, 'claude-code')
  const old = version => ({ minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' })
  const named = good.cert('IP:127.0.0.1')
  const bad = {
    stranger: [stranger.key, stranger.cert('IP:127.0.0.1'), {}, /unable to get local issuer/],
    self_signed: [good.key, good.selfSigned('IP:127.0.0.1'), {}, /self.signed/],
    other_name: [good.key, good.cert('DNS:example.com'), {}, /subject name|127\.0\.0\.1/],
    no_name: [good.key, good.cert('DNS:127.0.0.1'), {}, /subject name|127\.0\.0\.1/],
    expired: [good.key, good.cert('IP:127.0.0.1', -3, -1), {}, /expired/],
    not_yet: [good.key, good.cert('IP:127.0.0.1', 1, 2), {}, /not yet valid/],
    tls_1_0: [good.key, named, old('TLSv1'), /version/],
    tls_1_1: [good.key, named, old('TLSv1.1'), /version/]
  }
  const routes = { good: route('agentchat', trigger(await behindTls(t, inner, good.key, named))) }
  for (const [name, [key, cert, options]] of Object.entries(bad)) routes[name] = route('agentchat', trigger(await behindTls(t, inner, key, cert, options)))
  const gateway = await startGateway(t, { ca_file: good.ca, routes })
  assert.equal((await gateway.wake('good', 'agentchat', newWake())).json.status, 'relayed')
  assert.equal(inner.requests.length, 1)
  for (const [name, [, , , reason]] of Object.entries(bad)) {
    const wake = newWake()
    for (let i = 0; i < 2; i++) {
      const got = await gateway.wake(name, 'agentchat', wake)
      assert.equal(got.status, 503, `${name}: ${got.text}`)
      assert.equal(got.json.code, 'target_unavailable', `${name}, and the id is free`)
    }
    const line = await until(() => gateway.log('delivery').find(entry => entry.route === name), 'the delivery is logged')
    assert.match(line.detail, reason, name)
  }
  assert.equal(inner.requests.length, 1, 'nobody else got a byte of a request')
})

test('a TLS handshake that never ends: nothing was sent, so the id is free and the next of a chain is asked', async t => {
  const sockets = []
  const silent = net.createServer(socket => sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const url = `https://127.0.0.1:${silent.address().port}`
  const awake = await startRuntime(t, 'poke')
  const routes = {}
  // Those that drop repeats themselves are waited for in the background, but not for this.
  for (const kind of ['grok', 'openclaw', 'hermes']) {
    routes[kind] = route('agentchat', trigger({ kind, url }))
    routes[`${kind}-chain`] = route('agentchat', { first: [trigger({ kind, url }, { wait: '300ms' }), trigger(awake)] })
  }
  const gateway = await startGateway(t, { budget: '2s', routes })
  await Promise.all(
    ['grok', 'openclaw', 'hermes'].map(async kind => {
      const wake = newWake()
      for (let i = 1; i <= 2; i++) {
        const got = await gateway.wake(kind, 'agentchat', wake)
        assert.equal(got.json.code, 'target_unavailable', `${kind}, and neither held nor in flight: ${got.text}`)
      }
      assert.equal((await gateway.wake(`${kind}-chain`, 'agentchat', newWake())).json.status, 'relayed', kind)
    })
  )
  assert.equal(sockets.length, 9)
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

test('the environment neither adds nor takes away an authority, and no key of a connection is written down', async t => {
  const own = makeAuthority(t)
  const inner = await startRuntime(t, 'claude-code')
  const routes = { relay: route('agentchat', trigger(await behindTls(t, inner, own.key, own.cert('IP:127.0.0.1')))) }
  const keys = path.join(scratch(t), 'keys')
  const trusting = { SSL_CERT_FILE: own.ca, SSL_CERT_DIR: path.dirname(own.ca), CURL_CA_BUNDLE: own.ca, SSLKEYLOGFILE: keys }
  const system = await startGateway(t, { routes }, { env: trusting })
  const wake = newWake()
  assert.equal((await system.wake('relay', 'agentchat', wake)).json.code, 'target_unavailable', "the system's certificates do not know this authority")
  assert.equal(inner.requests.length, 0)

  const absent = path.join(scratch(t), 'absent')
  const env = { SSL_CERT_FILE: absent, SSL_CERT_DIR: absent, CURL_CA_BUNDLE: absent, SSLKEYLOGFILE: keys }
  const knowing = await startGateway(t, { ca_file: own.ca, routes }, { env })
  assert.equal((await knowing.wake('relay', 'agentchat', wake)).json.status, 'relayed')
  assert.equal(fs.existsSync(keys), false, 'no SSLKEYLOGFILE')
})

test('no .netrc, no cookie, no HSTS, no Alt-Svc, no answer to a challenge: each request says what the config says', async t => {
  const home = scratch(t)
  for (const name of ['.netrc', '_netrc']) fs.writeFileSync(path.join(home, name), 'machine 127.0.0.1 login someone password from-netrc\ndefault login someone password from-netrc\n', { mode: 0o600 })
  fs.writeFileSync(path.join(home, '.curlrc'), 'header = "X-From-Curlrc: 1"\nproxy = "http://127.0.0.1:1"\n')
  const runtime = await startRuntime(t, 'hermes')
  const env = { HOME: home, CURL_HOME: home, NETRC: path.join(home, '.netrc'), XDG_CONFIG_HOME: home }
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime)) } }, { env })
  const sticky = { 'set-cookie': 'session=sticky; Path=/', 'strict-transport-security': 'max-age=31536000', 'alt-svc': 'h2="127.0.0.1:1"; ma=3600' }
  runtime.behave(answer(202, { status: 'accepted' }, sticky))
  assert.equal((await gateway.wake('relay', 'agentchat', newWake())).json.status, 'relayed')
  for (const [status, header] of [[401, 'www-authenticate'], [407, 'proxy-authenticate']])
    for (const challenge of ['Basic realm="x"', 'Digest realm="x", nonce="y"', 'Negotiate', 'NTLM']) {
      const before = runtime.requests.length
      runtime.behave(answer(status, '', { [header]: challenge }))
      assert.equal((await gateway.wake('relay', 'agentchat', newWake())).json.code, 'target_refused')
      assert.equal(runtime.requests.length, before + 1, `${challenge} is not answered`)
    }
  assert.equal((await gateway.wake('relay', 'agentchat', newWake())).json.status, 'relayed')
  const names = new Set(runtime.requests.flatMap(({ headers }) => Object.keys(headers)))
  const known = ['host', 'user-agent', 'accept', 'content-type', 'content-length', 'x-request-id', 'x-webhook-timestamp', 'x-webhook-signature-v2']
  assert.deepEqual([...names].filter(name => !known.includes(name)), [], 'nothing asks for a coding, carries a cookie or a password')
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

test('an address in the config is known in every spelling', async t => {
  const file = path.join(scratch(t), 'wakegate.json')
  const check = async (host, over) => {
    const url = `https://${host}/automations/webhook/e2e`
    fs.writeFileSync(file, JSON.stringify({ routes: { relay: route('agentchat', { trigger: { ...trigger({ kind: 'grok', url: '' }).trigger, url, ...over } }) } }))
    return run(['check', '--config', file])
  }
  const loopback = ['127.0.0.1', '127.1', '0x7f.1', '0x7f000001', '2130706433', '0177.0.0.1', '017700000001', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', 'localhost', 'LOCALHOST.', 'a.localhost', '100.64.0.1', '[fd00::1]']
  for (const host of loopback) {
    const { code, out, err } = await check(host, { private: false })
    assert.equal(code, 1, host)
    assert.match(out + err, /private or loopback.*"private": true/, host)
    assert.equal((await check(host, { private: true })).code, 0, host)
  }
  const never = ['169.254.169.254', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '169.16689662', '[fe80::1]', '[fe80::1%25eth0]', '[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::]', '[2001:0:1::1]', '[fd00:ec2::254]', '0.0.0.0', '0', '[::]', '224.0.0.1', '[ff02::1]', '255.255.255.255', '100.100.100.200']
  for (const host of never) {
    const { code, out, err } = await check(host, { private: true })
    assert.equal(code, 1, host)
    assert.match(out + err, /link-local, reserved or a metadata service/, host)
  }
})
