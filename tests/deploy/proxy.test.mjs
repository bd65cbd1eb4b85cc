// SPDX-License-Identifier: Apache-2.0
// nginx and Caddy with the sample files in front of real gateways: wakes, rooms over WebSocket and over
// long polling at two instances, and what stays inside.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import https from 'node:https'
import path from 'node:path'
import { test } from 'node:test'
import { makeAuthority } from '../e2e/authority.mjs'
import { route, scratch, startGateway, trigger } from '../e2e/gateway.mjs'
import { request } from '../e2e/http.mjs'
import { freePort, startRedis } from '../e2e/redis.mjs'
import { RoomClient, rooms, tokenOf, tokens } from '../e2e/room_clients.mjs'
import { startRuntime } from '../e2e/runtimes.mjs'
import { until } from '../e2e/until.mjs'
import { framed, newWake } from '../e2e/wakes.mjs'
import { json, seconds, text, where } from './files.mjs'

const host = 'wake.example.com'

/** The text with `from` replaced, which must be there. */
function replaced(text, from, to) {
  assert.ok(text.includes(from), `the sample says ${from}`)
  return text.replaceAll(from, to)
}

/** Two gateways on one Redis; one connection an address would be too few for any proxy that is not
 * listed. `proxies` comes from the sample itself. */
async function house(t, sample) {
  const proxies = JSON.parse(sample.match(/"proxies": (\[[^\]]*\])/)[1])
  const redis = await startRedis(t)
  const runtime = await startRuntime(t, 'claude-code')
  const config = {
    store: redis.url, proxies, connections_per_address: 1, admin: '127.0.0.1:0', rooms: rooms(),
    routes: { relay: route('agentchat', trigger(runtime)) }
  }
  const gateways = [await startGateway(t, config, { env: tokens }), await startGateway(t, config, { env: tokens })]
  return { runtime, gateways, addresses: gateways.map(({ url }) => new URL(url).host) }
}

/** Starts `words` and waits until `url` is answered; ends it with the test. */
async function startProxy(t, words, env, url, ask) {
  const child = spawn(words[0], words.slice(1), { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const over = once(child, 'exit')
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (said += chunk))
  t.after(async () => {
    child.kill('SIGTERM')
    await over
  })
  await until(() => ask(url).then(() => true, () => false), () => `${words[0]} answers at ${url}:\n${said}`)
}

/** One request over TLS, to the host that the sample names; as request() of http.mjs. */
const askOver = ca => (url, { method = 'GET', headers = {}, body = '' } = {}) =>
  new Promise((resolve, reject) => {
    const out = https.request(url, { method, headers: { host, 'content-length': Buffer.byteLength(body), ...headers }, ca, servername: host, agent: false }, answer => {
      let text = ''
      answer.on('data', chunk => (text += chunk))
      answer.on('end', () => resolve({ status: answer.statusCode, text }))
    })
    out.on('error', reject)
    out.end(body)
  })

/** nginx with the sample, its addresses and certificate replaced; `edit` changes the sample further. */
async function startNginx(t, addresses, edit = sample => sample) {
  const directory = scratch(t)
  const authority = makeAuthority(t)
  const at = name => path.join(directory, name)
  fs.writeFileSync(at('fullchain.pem'), authority.cert(`DNS:${host},IP:127.0.0.1`))
  fs.writeFileSync(at('privkey.pem'), authority.key)
  const port = await freePort()
  let sample = text('proxy/nginx.conf')
  sample = replaced(sample, '    listen 443 ssl;\n', `    listen 127.0.0.1:${port} ssl;\n`)
  sample = replaced(sample, '    listen [::]:443 ssl;\n', '')
  sample = replaced(sample, '/etc/ssl/wakegate/', `${directory}/`)
  sample = replaced(sample, '    server 127.0.0.1:8080;', addresses.map(address => `    server ${address};`).join('\n'))
  fs.writeFileSync(at('wakegate.conf'), edit(sample))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${at(name)};`).join('\n')
  const user = process.getuid() === 0 ? 'user root;' : ''
  fs.writeFileSync(at('nginx.conf'), `${user}\npid ${at('pid')};\nerror_log stderr;\ndaemon off;\nworker_processes 1;\nevents {}\nhttp {\naccess_log off;\n${temporary}\ninclude ${at('wakegate.conf')};\n}\n`)
  const words = ['nginx', '-p', directory, '-e', 'stderr', '-c', at('nginx.conf')]
  execFileSync(words[0], [...words.slice(1), '-t'], { stdio: 'pipe' })
  const ca = fs.readFileSync(authority.ca)
  const ask = askOver(ca)
  const url = `https://127.0.0.1:${port}`
  await startProxy(t, words, {}, url, ask)
  return { url, ask, client: { ca } }
}

/** Caddy with the sample, without TLS, which it would get a certificate for. */
async function startCaddy(t, addresses) {
  const directory = scratch(t)
  const port = await freePort()
  let sample = text('proxy/Caddyfile')
  sample = replaced(sample, `\n${host} {`, `\n{\n\tadmin off\n\tauto_https off\n}\n\nhttp://:${port} {\n\tbind 127.0.0.1`)
  sample = replaced(sample, 'reverse_proxy 127.0.0.1:8080 {', `reverse_proxy ${addresses.join(' ')} {`)
  const file = path.join(directory, 'Caddyfile')
  fs.writeFileSync(file, sample)
  const ask = (url, options = {}) => request(url, { method: 'GET', ...options })
  const url = `http://127.0.0.1:${port}`
  const env = { HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory }
  await startProxy(t, ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'], env, url, ask)
  return { url, ask, client: {} }
}

/** A client of the rooms that comes through the proxy and joins a thread. */
async function joined(t, proxy, transports, name = 'worker') {
  const client = new RoomClient(proxy.url, { auth: { token: tokenOf(name) }, transports, upgrade: false, ...proxy.client })
  t.after(() => client.socket.close())
  await client.ready()
  await client.join('wakes')
  return client
}

async function wakesAndRooms(t, proxy, { runtime, gateways }) {
  const wake = newWake()
  for (const status of ['relayed', 'duplicate']) {
    const answer = await proxy.ask(`${proxy.url}/wake/relay`, framed('agentchat', wake))
    assert.equal(answer.status, 200, answer.text)
    assert.equal(JSON.parse(answer.text).status, status)
  }
  assert.equal(runtime.runs.length, 1)
  const big = await proxy.ask(`${proxy.url}/wake/relay`, framed('agentchat', newWake({ summary: 'x'.repeat(70_000) })))
  assert.equal(big.status, 413)
  assert.equal(JSON.parse(big.text).code, 'too_large', 'it is wakegate that says so')
  for (const page of ['/metrics', '/livez', '/readyz', '/health', '/protocol', '/']) assert.equal((await proxy.ask(proxy.url + page)).status, 404, page)
  for (const transport of ['websocket', 'polling']) {
    const client = await joined(t, proxy, [transport])
    assert.equal(client.socket.io.engine.transport.name, transport)
    for (let i = 0; i < 5; i++) assert.equal((await client.ask('thread:messages', { threadId: 'wakes' })).ok, true)
  }
  for (const gateway of gateways) {
    const { text: page } = await request(`${gateway.log('listening_admin').at(-1).url}/metrics`, { method: 'GET' })
    const refused = [...page.matchAll(/^wakegate_connections_refused_total.* (\d+)$/gm)]
    assert.ok(refused.length > 0, page)
    for (const [line, number] of refused) assert.equal(number, '0', line)
  }
}

test('nginx with the sample brings wakes and rooms, and nothing else', async t => {
  const here = await house(t, text('proxy/nginx.conf'))
  await wakesAndRooms(t, await startNginx(t, here.addresses), here)
})

test('Caddy with the sample brings wakes and rooms, and nothing else', async t => {
  const here = await house(t, text('proxy/Caddyfile'))
  await wakesAndRooms(t, await startCaddy(t, here.addresses), here)
})

test('long polling at two instances needs what the sample says about it', async t => {
  const sample = text('proxy/nginx.conf')
  const { addresses } = await house(t, sample)
  const proxy = await startNginx(t, addresses, text => replaced(text, 'hash $binary_remote_addr consistent;', ''))
  const client = new RoomClient(proxy.url, { auth: { token: tokenOf('worker') }, transports: ['polling'], upgrade: false, ...proxy.client })
  t.after(() => client.socket.close())
  await until(() => client.refusal || client.reasons.length > 0, 'the session is not known at the other instance')
  assert.equal(client.hello.length, 0)
  await joined(t, proxy, ['websocket'])
})

test('Caddy takes the sample as it is', t => {
  const directory = scratch(t)
  const env = { PATH: process.env.PATH, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory }
  execFileSync('caddy', ['validate', '--config', where('proxy/Caddyfile'), '--adapter', 'caddyfile'], { stdio: 'pipe', env })
  const adapted = execFileSync('caddy', ['adapt', '--config', where('proxy/Caddyfile'), '--adapter', 'caddyfile'], { stdio: ['ignore', 'pipe', 'pipe'], env })
  assert.ok(JSON.stringify(JSON.parse(adapted)).includes('127.0.0.1:8080'))
})

test('the times of the samples fit those of wakegate', () => {
  const { idle_timeout, budget } = json('wakegate.schema.json').properties
  const { ping_interval, ping_timeout } = json('wakegate.schema.json').$defs.rooms.properties
  const said = (file, pattern) => seconds(text(file).match(pattern)[1])
  assert.ok(said('proxy/nginx.conf', /^ +keepalive_timeout (\w+);/m) < seconds(idle_timeout.default))
  assert.ok(said('proxy/Caddyfile', /^\s+keepalive (\w+)$/m) < seconds(idle_timeout.default))
  const [, wakes, sockets] = text('proxy/nginx.conf').match(/proxy_read_timeout (\w+);[^]*proxy_read_timeout (\w+);/)
  assert.ok(seconds(wakes) > seconds(budget.default))
  assert.ok(seconds(sockets) > seconds(ping_interval.default) + seconds(ping_timeout.default))
  assert.ok(said('proxy/Caddyfile', /response_header_timeout (\w+)/) > seconds(budget.default))
})
