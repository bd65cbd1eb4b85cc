// SPDX-License-Identifier: Apache-2.0
// The AgentChat side: `wakegate subscription` and `wakegate secret` against the stand-in for AgentChat, and the
// whole life of a subscription: registered, woken, its secret replaced under wakes, failing, woken again.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { makeAuthority } from './authority.mjs'
import { defaults, route, run, scratch, startGateway, trigger } from './gateway.mjs'
import { startRedis } from './redis.mjs'
import { startRuntime } from './runtimes.mjs'
import { pause, until } from './until.mjs'
import { framings, handle, newWake, secret, secretFor } from './wakes.mjs'
import { answering, limited, startAgentChat } from '../support/agentchat.mjs'

const origin = 'https://wake.example.com'
const dialects = Object.keys(framings).filter(name => name !== 'bearer-json')

/** A config file of its own, and what `subscription` needs beside it. */
function makeFile(t, routes, over = {}) {
  const file = path.join(scratch(t), 'wakegate.json')
  fs.writeFileSync(file, JSON.stringify({ ...defaults, public_url: origin, ...over, routes }))
  return file
}

/** Runs a verb for the route `relay`; the key comes from the environment. */
const subscription = (chat, file, verb, words = [], { env = {}, name = 'relay' } = {}) =>
  run(['subscription', verb, name, '--config', file, '--api', chat.url, '--private', ...words], { cwd: path.dirname(file), env: { AGENTCHAT_API_KEY: chat.key, ...env } })

const sink = { trigger: { dialect: 'poke', url: 'https://runtime.example.com/', token: { env: 'E2E_SECRET' } } }

test('wakegate secret: fresh each time, and fitting its dialect', async () => {
  const print = async words => (await run(['secret', ...words])).out
  assert.match(await print([]), /^[0-9a-f]{64}\n$/)
  assert.notEqual(await print([]), await print([]))
  assert.match(await print(['--dialect', 'standard-webhooks']), /^whsec_[A-Za-z0-9+/]{43}=\n$/)
  assert.equal((await run(['secret', '--dialect', 'none'])).code, 2)
})

test('the API is that of the config, where none is named', async t => {
  const chat = await startAgentChat(t)
  const file = makeFile(t, { relay: route('agentchat', sink) }, { agentchat: { url: chat.url, private: true, texts: false } })
  const { code, out, err } = await run(['subscription', 'set', 'relay', '--config', file], { cwd: path.dirname(file), env: { AGENTCHAT_API_KEY: chat.key } })
  assert.equal(code, 0, out + err)
  assert.equal(chat.sender.subscription.url, `${origin}/wake/relay`)
})

test('set: url, secret, dialect, prompt and rewake, each said', async t => {
  const chat = await startAgentChat(t)
  const file = makeFile(t, {
    relay: route('agentchat', sink, { prompt: 'Read the tray.', rewake: false }),
    ...Object.fromEntries(dialects.map(name => [name, route(name, sink)]))
  })
  const { code, out, err } = await subscription(chat, file, 'set')
  assert.equal(code, 0, out + err)
  assert.deepEqual(JSON.parse(chat.requests.at(-1).body), { url: `${origin}/wake/relay`, secret, dialect: 'agentchat', prompt: 'Read the tray.', rewake: false })
  assert.equal(chat.requests.at(-1).method, 'PUT')
  for (const name of dialects) {
    assert.equal((await subscription(chat, file, 'set', [], { name })).code, 0)
    assert.deepEqual(JSON.parse(chat.requests.at(-1).body), { url: `${origin}/wake/${name}`, secret: secretFor(name), dialect: name, rewake: true })
  }
  const elsewhere = 'https://other.example.com/somewhere?to=relay'
  assert.equal((await subscription(chat, file, 'set', ['--url', elsewhere])).code, 0)
  assert.equal(chat.sender.subscription.url, elsewhere)
  assert.equal((await subscription(chat, file, 'remove')).code, 0)
  assert.equal(chat.sender.subscription, undefined)
})

test('what cannot be registered is refused before anything is asked', async t => {
  const chat = await startAgentChat(t)
  const good = { relay: route('agentchat', sink) }
  const file = makeFile(t, good)
  const bare = makeFile(t, good, { public_url: '' })
  const long = { relay: route('agentchat', sink, { secrets: [{ env: 'E2E_LONG' }] }) }
  const refused = async (status, why, where, words, options) => {
    const { code, out, err } = await subscription(chat, where, 'set', words, options)
    assert.equal(code, status, out + err)
    assert.match(err, why)
  }
  await refused(1, /is plain http; AgentChat sends wakes to https/, file, ['--url', 'http://wake.example.com/'])
  await refused(1, /more than the 2048 characters/, file, ['--url', `https://a/${'x'.repeat(2040)}`])
  await refused(1, /set public_url in the config, or give --url/, bare)
  await refused(1, /longer than the 256 characters/, makeFile(t, long), [], { env: { E2E_LONG: 'x'.repeat(257) } })
  await refused(1, /bearer-json, is not one that AgentChat speaks/, makeFile(t, { relay: route('bearer-json', sink) }))
  await refused(1, /no route of that name/, file, [], { name: 'other' })
  await refused(1, /mistake|no route/, makeFile(t, {}))
  await refused(1, /AGENTCHAT_API_KEY is not set/, file, [], { env: { AGENTCHAT_API_KEY: undefined } })
  await refused(2, /--rotate: needs --gateway/, file, ['--rotate'])
  for (const [words, why] of [[['--api', 'http://127.0.0.1:1'], /plain http/], [['--api', 'http://api.example.com', '--private'], /plain http/], [['--api', `${chat.url}/`, '--private'], /ends in a slash/], [['--api', 'https://u@api.example.com'], /user name/]]) {
    const { code, err } = await run(['subscription', 'set', 'relay', '--config', file, ...words], { cwd: path.dirname(file), env: { AGENTCHAT_API_KEY: chat.key } })
    assert.equal(code, 1)
    assert.match(err, why)
  }
  for (const gateway of ['http://gateway.example.com', 'http://198.41.0.4:1', 'http://x:y@127.0.0.1', 'gateway']) {
    const { code, err } = await run(['subscription', 'set', 'relay', '--config', file, '--wait', '0', '--gateway', gateway], { cwd: path.dirname(file), env: { AGENTCHAT_API_KEY: chat.key } })
    assert.equal(code, 1)
    assert.match(err, /--gateway: (is plain http|has a user name|does not begin)/)
  }
  for (const words of [[], ['register', 'relay'], ['show', 'relay', '--rotate'], ['set', 'relay', '--wait', 'x'], ['set', 'relay', '--key', chat.key]]) {
    const { code, err } = await run(['subscription', ...words], { env: { AGENTCHAT_API_KEY: chat.key } })
    assert.equal(code, 2, words.join(' '))
    assert.ok(!err.includes(chat.key))
  }
  assert.deepEqual(chat.requests, [])
})

test('show: the same, each difference, what AgentChat does not tell, another agent, no webhook', async t => {
  const chat = await startAgentChat(t)
  const file = makeFile(t, { relay: route('agentchat', sink, { prompt: 'Read the tray.' }) })
  const show = async () => {
    const { code, out, err } = await subscription(chat, file, 'show')
    return { code, out: out + err }
  }
  assert.match((await show()).out, /no webhook of this agent/)
  await subscription(chat, file, 'set')
  assert.deepEqual((await show()).code, 0)
  const right = chat.sender.subscription
  for (const [name, value] of Object.entries({ url: 'https://old.example.com/', dialect: 'poke', rewake: false, prompt: 'Something else.' })) {
    chat.sender.subscription = { ...right, [name]: value }
    const { code, out } = await show()
    assert.equal(code, 1)
    assert.match(out, new RegExp(`  ${name}: AgentChat has .*${typeof value === 'string' ? value.slice(0, 9) : value}.*, the config wants`))
    assert.equal(out.match(/, the config wants/g).length, 1)
  }
  const { prompt, rewake, ...less } = right
  chat.sender.subscription = less
  const told = await show()
  assert.equal(told.code, 0, 'what is not told is no difference')
  assert.equal(told.out.match(/AgentChat does not tell/g).length, 2)
  chat.sender.subscription = right
  chat.handle = 'another-agent'
  assert.match((await show()).out, /the API key is of "another-agent", the route wants wakes for @example-relay/)
  chat.handle = handle.slice(1)
  assert.equal((await show()).code, 0, 'a handle without the @')
})

test('errors in the words of the API, with what they mean; limits; what is to be switched off', async t => {
  const chat = await startAgentChat(t)
  const file = makeFile(t, { relay: route('agentchat', sink) })
  const put = (words, options) => subscription(chat, file, 'set', words, options)
  const wrong = await put([], { env: { AGENTCHAT_API_KEY: 'ac_live_wrong' } })
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, /401 UNAUTHORIZED\n {2}message: Invalid API key\.\n {2}meaning: AgentChat does not know the API key/)
  chat.behave(() => answering(400, { code: 'VALIDATION_ERROR', message: `no ${secret}\u001b[2J`, details: { issues: [{ field: 'url', issue: chat.key }] } })())
  const invalid = await put()
  assert.match(invalid.err, /400 VALIDATION_ERROR\n {2}message: no \*\*\*.*\n {2}issues: \[\{.*"field":"url".*\n {2}meaning: .*correct it/)
  assert.ok(!invalid.err.includes('\u001b') && !invalid.err.includes(secret) && !invalid.err.includes(chat.key))
  chat.behave(answering(503, 'down for a while'))
  assert.match((await put()).err, /PUT .*: 503\n {2}meaning: AgentChat cannot do it now/)
  chat.behave(answering(302, '', { location: 'https://elsewhere.example.com/' }))
  assert.match((await put()).err, /a redirect, which is never followed/)
  assert.match((await run(['subscription', 'remove', 'relay', '--config', file, '--api', 'http://127.0.0.1:1', '--private'], { cwd: path.dirname(file), env: { AGENTCHAT_API_KEY: chat.key } })).err, /no answer from AgentChat .*nothing was asked/)
  assert.match((await subscription(chat, file, 'remove')).err, /404 WEBHOOK_NOT_FOUND/)
  assert.equal(chat.sender.subscription, undefined)

  chat.behave(limited(1))
  chat.behave(limited(1))
  const before = Date.now()
  const waited = await put()
  assert.equal(waited.code, 0, waited.err)
  assert.equal(waited.err.match(/takes no more requests for 1 s; waiting/g).length, 2)
  assert.ok(Date.now() - before >= 1900)
  chat.behave(limited(600))
  const patience = await put()
  assert.equal(patience.code, 1)
  assert.match(patience.err, /429 RATE_LIMITED[^]*to be tried again in 600 s/)
  chat.behave(limited(undefined))
  assert.equal((await put()).code, 1, 'it does not say for how long')

  chat.deprecate('wake_webhook')
  const old = await put()
  assert.equal(old.code, 0)
  assert.match(old.err, /note: AgentChat is to switch PUT \/v1\/agents\/me\/wake-webhook off, deprecated since 2026-11-08, at the latest Sat, 06 Feb 2027 00:00:00 GMT; look for a newer wakegate before that: <https:\/\/agentchat.me\/contract\/v1\/#deprecations>/)
  chat.deprecate('wake_webhook', { off: true, replacement: 'PUT /v2/wake' })
  const gone = await put()
  assert.equal(gone.code, 1)
  assert.match(gone.err, /410 REMOVED[^]*replacement: PUT \/v2\/wake\n[^]*docs: https:[^]*meaning: AgentChat has switched this path off for good/)
})

test('the key from a file; TLS is always verified', async t => {
  const authority = makeAuthority(t)
  const file = makeFile(t, { relay: route('agentchat', sink) })
  const start = cert => startAgentChat(t, { tls: { key: authority.key, cert } })
  const chat = await start(authority.cert('IP:127.0.0.1'))
  const keyFile = path.join(path.dirname(file), 'key')
  fs.writeFileSync(keyFile, `${chat.key}\n`)
  const words = ['--key-file', keyFile]
  const trusting = [...words, '--ca-file', authority.ca]
  const env = { AGENTCHAT_API_KEY: undefined }
  assert.equal((await subscription(chat, file, 'set', trusting, { env })).code, 0)
  assert.match((await subscription(chat, file, 'set', words, { env })).err, /no answer from AgentChat .*(certificate|SSL)/i)
  for (const cert of [authority.cert('DNS:other.example.com'), authority.selfSigned('IP:127.0.0.1'), authority.cert('IP:127.0.0.1', -2, -1)]) {
    const bad = await start(cert)
    fs.writeFileSync(keyFile, bad.key)
    assert.equal((await subscription(bad, file, 'set', trusting, { env })).code, 1)
    assert.deepEqual(bad.requests, [])
  }
})

test('a gateway is asked whether it knows a secret without anything being relayed or remembered', async t => {
  const runtime = await startRuntime(t, 'poke')
  const names = [...dialects, 'bearer-json']
  const gateway = await startGateway(t, { public_url: origin, routes: Object.fromEntries(names.map(name => [name, route(name, trigger(runtime))])) })
  const chat = await startAgentChat(t)
  for (const name of dialects) {
    const { code, err } = await subscription(chat, gateway.file, 'set', ['--gateway', gateway.url, '--wait', '0'], { name })
    assert.equal(code, 0, err)
  }
  assert.deepEqual(gateway.log('wake').map(({ code }) => code), dialects.map(() => 'invalid_wake'))
  const other = 'e2e-another-secret-0123456789abcdef'
  const env = { E2E_SECRET: other, E2E_STANDARD_SECRET: `whsec_${Buffer.from(other).toString('base64')}` }
  for (const name of dialects) {
    const before = chat.requests.length
    const { code, err } = await subscription(chat, gateway.file, 'set', ['--gateway', gateway.url, '--gateway', 'http://127.0.0.1:1', '--wait', '0'], { name, env })
    assert.equal(code, 1)
    assert.match(err, /does not take the secret that stands first\nhttp:\/\/127.0.0.1:1: cannot be asked[^]*nothing was registered/)
    assert.equal(chat.requests.length, before)
  }
  assert.deepEqual(runtime.requests, [])
  assert.deepEqual(Object.keys(await gateway.metrics()).filter(name => /wakegate_deliveries_total|verb="claim"/.test(name)), [])
})

test('test: what became of the wake at the target', async t => {
  const runtime = await startRuntime(t, 'claude-code')
  const gateway = await startGateway(t, { public_url: origin, routes: { relay: route('agentchat', trigger(runtime)) } })
  const chat = await startAgentChat(t, { proxy: { [origin]: gateway.url } })
  const tested = async (words = ['--gateway', gateway.url]) => subscription(chat, gateway.file, 'test', words)
  assert.match((await tested()).err, /404 WEBHOOK_NOT_FOUND/)
  await subscription(chat, gateway.file, 'set')
  const good = await tested()
  assert.equal(good.code, 0, good.out + good.err)
  assert.match(good.out, /says \{"delivered":true,"status":200\}/)
  assert.match(good.out, /wakegate_deliveries_total\{route="relay",target="[^"]+",outcome="accepted"\} \+1/)
  assert.match(good.out, /the target has taken the wake/)
  assert.equal(runtime.runs.length, 1)
  runtime.behave((request, response) => response.writeHead(401).end('{}'))
  const refused = await tested()
  assert.equal(refused.code, 1, refused.out)
  assert.match(refused.out, /outcome="refused"\} \+1[^]*was not taken|was not taken/)
  chat.sender.subscription = { ...chat.sender.subscription, secret: 'another-secret-0123456789abcdef' }
  const proof = await tested()
  assert.equal(proof.code, 1)
  assert.match(proof.out, /does not take AgentChat's proof/)
  const nowhere = await tested(['--gateway', 'http://127.0.0.1:1'])
  assert.equal(nowhere.code, 0, 'AgentChat has sent it')
  assert.match(nowhere.out, /name each with --gateway/)
})

// --- replacing the secret

/** Gateways on one Redis with the route's secrets in two files each, and AgentChat before them. */
async function makeHouse(t, { replicas = 2, watch = true, minute = 100, dialect = 'agentchat', kind = 'hermes' } = {}) {
  const redis = await startRedis(t)
  const runtime = await startRuntime(t, kind)
  const gateways = []
  for (let i = 0; i < replicas; i++) {
    const directory = scratch(t)
    const secrets = ['wake', 'wake-next'].map(name => path.join(directory, name))
    for (const file of secrets) fs.writeFileSync(file, `${secretFor(dialect)}\n`)
    const routes = { relay: route(dialect, trigger(runtime), { secrets: secrets.map(file => ({ file })) }) }
    gateways.push(await startGateway(t, { store: redis.url, watch, public_url: origin, routes }, { directory }))
  }
  const chat = await startAgentChat(t, { minute, proxy: { [origin]: gateways.map(({ url }) => url) } })
  const house = { runtime, gateways, chat, first: gateways[0] }
  house.files = gateways.map(({ directory }) => ['wake', 'wake-next'].map(name => path.join(directory, name)))
  house.secrets = i => house.files[i].map(file => fs.readFileSync(file, 'utf8').trim())
  /** What a person, or a mount, does: gives every replica the files of the first. */
  house.copy = () => {
    for (const files of house.files.slice(1)) files.forEach((file, place) => fs.writeFileSync(file, fs.readFileSync(house.files[0][place])))
  }
  house.rotate = (words = []) => subscription(chat, house.first.file, 'set', ['--rotate', '--linger', '0', ...gateways.flatMap(({ url }) => ['--gateway', url]), ...words])
  return house
}

/** Wakes come and are pulled all the while, until stop(); every message was brought. */
function keepWaking(chat, runtime) {
  let stopped = false
  let sent = 0
  const over = (async () => {
    while (!stopped) {
      const id = `conv_${++sent}`
      chat.sender.message(id, '@example-scout')
      await until(() => chat.sender.wakes.some(wake => wake.status === 200 && wake.conversations.some(one => one.id === id)), () => `${id} is brought: ${JSON.stringify(chat.sender.wakes.slice(-5))}`)
      chat.sender.pull()
      chat.sender.answer(id)
    }
  })()
  return {
    count: () => sent,
    async stop() {
      stopped = true
      await over
    }
  }
}

test('a rotation under wakes: nothing is refused, nothing lost, the old secret is gone', async t => {
  for (const dialect of ['agentchat', 'claude-code', 'standard-webhooks']) {
    const house = await makeHouse(t, { dialect, minute: 40 })
    const { chat, runtime } = house
    assert.equal((await subscription(chat, house.first.file, 'set')).code, 0)
    const waking = keepWaking(chat, runtime)
    const copying = setInterval(house.copy, 50)
    await until(() => waking.count() > 2, 'wakes come')
    const { code, out, err } = await house.rotate()
    const then = waking.count()
    await until(() => waking.count() > then + 3, 'wakes go on')
    clearInterval(copying)
    await waking.stop()
    assert.equal(code, 0, out + err)
    const [old, fresh] = [secretFor(dialect), chat.sender.subscription.secret]
    assert.notEqual(fresh, old)
    for (let i = 0; i < 2; i++) assert.deepEqual(house.secrets(i), [fresh, fresh])
    assert.deepEqual([...new Set(chat.sender.wakes.map(wake => wake.status))], [200], 'every wake was taken at its first try')
    assert.equal(new Set(runtime.runs.map(({ run }) => run)).size, runtime.runs.length)
    assert.match(out, /a new secret stands in .*\n2 gateways: all take the new secret\n.*registered .*\n.*gone from the first file\n2 gateways: none takes the old secret\n.*the secret is replaced/)
    assert.ok(!(out + err).includes(old) && !(out + err).includes(fresh))
  }
})

test('a rotation that is broken off goes on from where it was, whichever step that was', async t => {
  const house = await makeHouse(t)
  const { chat } = house
  await subscription(chat, house.first.file, 'set')

  // A replica has not been given the new one.
  const held = await house.rotate(['--wait', '0'])
  assert.equal(held.code, 1)
  assert.match(held.err, /does not take the new secret|AgentChat still signs with the old secret and no wake is lost/)
  assert.equal(chat.sender.subscription.secret, secret)
  const fresh = house.secrets(0)[1]
  assert.deepEqual(house.secrets(0), [secret, fresh])
  assert.notEqual(fresh, secret)

  // AgentChat fails.
  house.copy()
  chat.behave(answering(503, { code: 'UNAVAILABLE', message: 'Not now.' }))
  const failed = await house.rotate()
  assert.equal(failed.code, 1, failed.out)
  assert.match(failed.out, /is taken for the new one, and the rotation goes on/)
  assert.deepEqual(house.secrets(0), [secret, fresh])

  // Given to AgentChat, and a replica still takes the old one.
  const late = await house.rotate(['--wait', '3'])
  assert.equal(late.code, 1, late.out)
  assert.match(late.err, /takes the old secret[^]*the old one is still taken there/)
  assert.equal(chat.sender.subscription.secret, fresh)
  assert.deepEqual(house.secrets(0), [fresh, fresh])
  house.copy()
  chat.sender.message('conv_1', '@example-scout')
  await until(() => chat.sender.wakes.some(wake => wake.status === 200), 'the new secret is good')

  // Given to AgentChat, and broken off before the first file was written: as if the process had died there.
  const again = 'the-third-secret-0123456789abcdef-0123456789abcdef'
  for (const [, next] of house.files) fs.writeFileSync(next, again)
  chat.sender.subscription = { ...chat.sender.subscription, secret: again }
  const copying = setInterval(house.copy, 50)
  const resumed = await house.rotate()
  clearInterval(copying)
  assert.equal(resumed.code, 0, resumed.out + resumed.err)
  assert.equal(chat.sender.subscription.secret, again)
  for (let i = 0; i < 2; i++) assert.deepEqual(house.secrets(i), [again, again])
})

test('a rotation without a second file says what to do, and waits for whoever does it', async t => {
  const runtime = await startRuntime(t, 'poke')
  const directory = scratch(t)
  const wake = path.join(directory, 'wake')
  fs.writeFileSync(wake, `${secret}\n`)
  const config = secrets => ({ ...defaults, public_url: origin, routes: { relay: route('agentchat', trigger(runtime), { secrets }) } })
  const gateway = await startGateway(t, config([{ file: wake }]), { directory })
  const chat = await startAgentChat(t, { proxy: { [origin]: gateway.url } })
  const rotate = (env = {}) => subscription(chat, gateway.file, 'set', ['--rotate', '--linger', '0', '--gateway', gateway.url, '--wait', '5'], { env })
  const one = await rotate()
  assert.equal(one.code, 1)
  assert.match(one.err, /has one secret\. Give it a second place, such as \{"file": ".*wake-next"\}/)
  gateway.write(config([{ file: wake }, { file: wake }]))
  assert.match((await rotate()).err, /both secrets of relay are in one file/)
  gateway.write(config([{ env: 'E2E_SECRET' }, { env: 'E2E_SECRET' }]))
  assert.match((await rotate()).err, /is not in a file, so the new one cannot be written/)
  assert.deepEqual(chat.requests, [])

  // The second one was put there by hand; the first cannot be written, and somebody takes it out.
  const next = path.join(directory, 'next')
  fs.writeFileSync(next, 'a-new-secret-0123456789abcdef')
  gateway.write(config([{ env: 'E2E_SECRET' }, { file: next }]))
  gateway.child.kill('SIGHUP')
  await gateway.event('reloaded')
  const pending = rotate()
  await until(() => chat.sender.subscription?.secret === 'a-new-secret-0123456789abcdef', 'AgentChat has the new one')
  gateway.write(config([{ file: next }]))
  gateway.child.kill('SIGHUP')
  const { code, out, err } = await pending
  assert.equal(code, 0, out + err)
  assert.match(err, /its first secret is in no file; put the new secret in the first place too, or take the old one out/)
})

// --- what a runtime bears

test('a runtime by its name: its dialect, and no more wakes than it bears', async t => {
  const runtime = await startRuntime(t, 'claude-code')
  const { trigger: known } = trigger(runtime, { runtime: 'claude-code', dialect: undefined })
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', { trigger: known }) } })
  const codes = []
  for (let i = 0; i < 5; i++) {
    const { json } = await gateway.wake('relay', 'agentchat', newWake())
    codes.push(json.status ?? json.code)
  }
  assert.deepEqual(codes, ['relayed', 'relayed', 'relayed', 'paced', 'paced'])
  assert.equal(runtime.runs.length, 3)
})

// --- the whole life

test('register, be woken, rotate, fail, be woken again', async t => {
  const house = await makeHouse(t, { minute: 60 })
  const { chat, runtime } = house
  assert.equal((await subscription(chat, house.first.file, 'set')).code, 0)
  assert.equal((await subscription(chat, house.first.file, 'show')).code, 0)
  const brought = id => until(() => chat.sender.wakes.some(wake => wake.status === 200 && wake.conversations.some(one => one.id === id)), () => `${id} is brought`)
  chat.sender.message('conv_first', '@example-scout')
  await brought('conv_first')
  chat.sender.pull()
  chat.sender.answer('conv_first')
  assert.equal(runtime.runs.length, 1)

  const copying = setInterval(house.copy, 50)
  assert.equal((await house.rotate()).code, 0)
  clearInterval(copying)

  // The runtime is away: the same cycle comes again, and once it is back, it is woken once.
  runtime.behave((request, response) => response.writeHead(429, { 'retry-after': '1' }).end('{}'), { always: true })
  const before = chat.sender.wakes.length
  chat.sender.message('conv_second', '@example-scout')
  await until(() => chat.sender.wakes.length >= before + 2 && chat.sender.wakes.at(-1).status, 'the sender tries again')
  runtime.behave(undefined, { always: true })
  await brought('conv_second')
  const cycle = chat.sender.wakes.slice(before).filter(wake => wake.conversations.some(one => one.id === 'conv_second'))
  assert.equal(new Set(cycle.map(wake => wake.id)).size, 1)
  assert.ok(cycle.filter(wake => wake.status !== 200).length >= 1)
  assert.equal(runtime.runs.length, 2)

  // Read and left unanswered: rewake brings a wake of its own, and the agent is started again.
  chat.sender.pull()
  await until(() => chat.sender.wakes.some(wake => wake.reason === 'unanswered' && wake.step === 2 && wake.status === 200), 'the first rung comes')
  chat.sender.answer('conv_second')
  assert.equal(runtime.runs.length, 3)

  // No gateway is there for a while.
  const down = chat.proxy
  chat.proxy = {}
  chat.sender.message('conv_third', '@example-scout')
  await until(() => chat.sender.wakes.some(wake => wake.status === 0), 'a wake reaches nobody')
  chat.proxy = down
  await brought('conv_third')
  assert.equal((await subscription(chat, house.first.file, 'remove')).code, 0)
  const count = chat.sender.wakes.length
  chat.sender.message('conv_fourth', '@example-scout')
  await pause(10)
  assert.equal(chat.sender.wakes.length, count)
})
