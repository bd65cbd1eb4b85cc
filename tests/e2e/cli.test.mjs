// SPDX-License-Identifier: Apache-2.0
// The subcommands beside serve: check, send, verify, sink, healthcheck, version.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { program, route, run, scratch, startGateway, trigger } from './gateway.mjs'
import { request } from './http.mjs'
import { freePort } from './redis.mjs'
import { startRuntime } from './runtimes.mjs'
import { until } from './until.mjs'
import { framed, framings, handle, newWake, secretFor } from './wakes.mjs'

/** A file with `text` in a directory that goes with the test. */
function file(t, text, name = 'file') {
  const where = path.join(scratch(t), name)
  fs.writeFileSync(where, text)
  return where
}
const secretFile = (t, dialect) => file(t, `${secretFor(dialect)}\n`, 'secret')

// --- usage, version ------------------------------------------------------------------------------

test('version names the program and its libraries', async () => {
  for (const words of [['version'], ['--version']]) {
    const { code, out } = await run(words)
    assert.equal(code, 0)
    assert.match(out, /^wakegate \d+\.\d+/)
    for (const library of ['libmicrohttpd', 'OpenSSL', 'jansson', 'hiredis', 'libuv', 'curl', 'SQLite']) assert.match(out, new RegExp(library, 'i'))
  }
})

test('no command, a wrong command, a wrong option: usage and exit 2; --help: exit 0', async () => {
  for (const words of [[], ['wake-up'], ['serve', '--nonsense'], ['send', '--nonsense'], ['check', '--nonsense'], ['version', 'x']]) {
    const { code, err, out } = await run(words)
    assert.equal(code, 2, words.join(' '))
    assert.match(err, /usage|wakegate/)
    assert.equal(out, '')
  }
  for (const words of [['--help'], ['serve', '--help'], ['send', '--help'], ['verify', '--help'], ['sink', '--help'], ['check', '--help'], ['deliveries', '--help'], ['redeliver', '--help'], ['healthcheck', '--help']]) {
    const { code, out } = await run(words)
    assert.equal(code, 0, words.join(' '))
    assert.match(out, /wakegate/)
  }
})

test('help COMMAND says what COMMAND --help says', async () => {
  for (const command of ['serve', 'check', 'send', 'verify', 'sink', 'deliveries', 'redeliver', 'healthcheck', 'version']) {
    const help = await run(['help', command])
    assert.equal(help.code, 0)
    assert.equal(help.out, (await run([command, '--help'])).out)
  }
  const unknown = await run(['help', 'snd'])
  assert.equal(unknown.code, 2)
  assert.match(unknown.err, /did you mean "send"\?/)
  const { out } = await run(['help', 'sink'])
  for (const word of [/ADDRESS is as 127\.0\.0\.1:9000/, ...Object.keys(framings).map(name => new RegExp(name))]) assert.match(out, word)
})

test('a mistyped option is told the right one; one that is far from all is not', async () => {
  assert.match((await run(['serve', '--confg', 'x'])).err, /--confg is no option of it; did you mean --config\?/)
  assert.match((await run(['send', '--dialct=poke'])).err, /did you mean --dialect\?/)
  assert.doesNotMatch((await run(['serve', '--nonsense'])).err, /did you mean/)
})

// --- check ---------------------------------------------------------------------------------------

test('check: a good config is good, and nothing was started for it', async t => {
  const config = { store: 'redis://127.0.0.1:1/0', routes: { relay: route('agentchat', { trigger: { dialect: 'claude-code', url: 'https://example.com/fire', token: { env: 'E2E_SECRET' } } }) } }
  const { code, err } = await run(['check', '--config', file(t, JSON.stringify(config))])
  assert.equal(code, 0, err)
})

test('check reports every mistake in one run, with its key', async t => {
  const config = {
    listne: '127.0.0.1:0',
    store: 'mongodb://x',
    budget: 'eight seconds',
    routes: {
      one: { dialect: 'agentchit', secrets: [{ env: 'E2E_SECRET' }], target: { trigger: { dialect: 'poke', url: 'https://example.com/', token: { env: 'NOT_SET_ANYWHERE' } } } },
      two: { dialect: 'agentchat', handle, secrets: ['in the open'], target: { tigger: {} } },
      three: { dialect: 'agentchat', handle, secrets: [] }
    }
  }
  const { code, out, err } = await run(['check', '--config', file(t, JSON.stringify(config))])
  const text = out + err
  assert.equal(code, 1, text)
  for (const word of ['listne', 'listen', 'store', 'budget', 'agentchit', 'agentchat', 'NOT_SET_ANYWHERE', 'routes.two', 'tigger', 'trigger', 'routes.three'])
    assert.ok(text.includes(word), `${word} is not in:\n${text}`)
})

test('check: what is no JSON is told with its line; a missing file by its name', async t => {
  const broken = await run(['check', '--config', file(t, '{\n  "routes": {\n')])
  assert.equal(broken.code, 1)
  assert.match(broken.out + broken.err, /line|:3|:2/)
  const missing = await run(['check', '--config', 'not-there.json'])
  assert.equal(missing.code, 1)
  assert.match(missing.out + missing.err, /not-there\.json/)
})

test('check names the flag that a private or plain target needs, and warns of literal secrets', async t => {
  const config = target => file(t, JSON.stringify({ routes: { relay: { dialect: 'agentchat', handle, secrets: [{ literal: 'a-literal-secret-0123456789' }], target } } }))
  const good = { dialect: 'claude-code', token: { env: 'E2E_SECRET' } }
  const without = await run(['check', '--config', config({ trigger: { ...good, url: 'http://127.0.0.1:9/x' } })])
  assert.equal(without.code, 1)
  assert.match(without.out + without.err, /"?private"?/)
  const flagged = await run(['check', '--config', config({ trigger: { ...good, url: 'http://127.0.0.1:9/x', private: true } })])
  assert.equal(flagged.code, 0, flagged.out + flagged.err)
  assert.match(flagged.out + flagged.err, /literal/)
  assert.doesNotMatch(flagged.out + flagged.err, /a-literal-secret/)
})

test('check: the schema that ships knows the keys that the program knows', async () => {
  const schema = JSON.parse(fs.readFileSync(new URL('../../deploy/wakegate.schema.json', import.meta.url), 'utf8'))
  for (const key of ['listen', 'store', 'routes', 'budget', 'window', 'drain', 'grace']) assert.ok(schema.properties[key], key)
})

// --- send ----------------------------------------------------------------------------------------

for (const dialect of Object.keys(framings)) {
  test(`send in ${dialect}: the gateway takes it; a wrong secret is refused`, async t => {
    const runtime = await startRuntime(t, 'poke')
    const gateway = await startGateway(t, { routes: { relay: route(dialect, trigger(runtime)) } })
    const words = ['send', '--dialect', dialect, '--url', `${gateway.url}/wake/relay`, '--handle', handle]
    const right = await run([...words, '--secret-file', secretFile(t, dialect)])
    assert.equal(right.code, 0, right.out + right.err)
    assert.match(right.out, /200/)
    assert.equal(runtime.runs.length, 1)
    const wrongSecret = dialect === 'standard-webhooks' ? 'whsec_' + Buffer.from('quite-another-secret-of-mine').toString('base64') : 'another-secret-0123456789'
    const wrong = await run([...words, '--secret-file', file(t, wrongSecret)])
    assert.notEqual(wrong.code, 0)
    assert.match(wrong.out + wrong.err, /401/)
    assert.equal(runtime.runs.length, 1)
    const fixed = [...words, '--secret-file', secretFile(t, dialect), '--delivery-id', '7b0c1a52-0000-4000-8000-00000000e2e0']
    const first = await run(fixed)
    assert.match(first.out, /relayed/)
    const second = await run(fixed)
    assert.match(second.out, /duplicate/)
    assert.equal(runtime.runs.length, 2)
  })
}

test('send --count and --concurrency: so many wakes, each with an id of its own', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime)) } })
  const { code, out, err } = await run(['send', '--dialect', 'agentchat', '--url', `${gateway.url}/wake/relay`, '--handle', handle, '--secret-file', secretFile(t, 'agentchat'), '--count', 20, '--concurrency', 4])
  assert.equal(code, 0, out + err)
  assert.equal(runtime.runs.length, 20)
})

test('send --variant where the dialect has none: says so', async t => {
  const { code, err } = await run(['send', '--dialect', 'agentchat', '--variant', 'wake', '--url', 'http://127.0.0.1:9/', '--secret-file', secretFile(t, 'agentchat')])
  assert.equal(code, 2)
  assert.match(err, /--variant: the dialect has no variants/)
})

test('send to nobody: says so and fails', async t => {
  const { code, out, err } = await run(['send', '--dialect', 'agentchat', '--url', `http://127.0.0.1:${await freePort()}/wake/x`, '--secret-file', secretFile(t, 'agentchat')])
  assert.notEqual(code, 0)
  assert.ok((out + err).length > 0)
})

// --- verify --------------------------------------------------------------------------------------

const captured = (dialect, wake, options) => {
  const { headers, body } = framed(dialect, wake, options)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `POST /wake/relay HTTP/1.1\r\nHost: example.com\r\n${lines}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

for (const dialect of Object.keys(framings)) {
  test(`verify in ${dialect}: a good request is good, a bad one is told why without a secret or digest`, async t => {
    const words = ['verify', '--dialect', dialect, '--secret-file', secretFile(t, dialect)]
    const good = await run([...words, file(t, captured(dialect, newWake()))])
    assert.equal(good.code, 0, good.out + good.err)
    assert.match(good.out, /ok/)
    const otherSecret = dialect === 'standard-webhooks' ? 'whsec_' + Buffer.from('quite-another-secret-of-mine').toString('base64') : 'another-secret-0123456789'
    const bad = await run([...words, file(t, captured(dialect, newWake(), { secret: otherSecret }))])
    assert.equal(bad.code, 1)
    assert.match(bad.out + bad.err, /wrong/)
    const bare = captured(dialect, newWake()).replace(/^(agentchat|webhook|x-webhook|x-agentchat|authorization)[^\n]*\n/gim, '')
    const missing = await run(words, { input: bare })
    assert.equal(missing.code, 1)
    assert.match(missing.out + missing.err, /missing/)
    for (const { out, err } of [good, bad, missing]) {
      assert.equal((out + err).includes(secretFor(dialect)), false)
      assert.doesNotMatch(out + err, /[0-9a-f]{64}/)
    }
  })
}

test('verify: stale, and good again at the time it was made for', async t => {
  const at = 1794474000
  const request = file(t, captured('agentchat', newWake({ ts: '2026-11-12T09:00:00.000Z' }), { at }))
  const words = ['verify', '--dialect', 'agentchat', '--secret-file', secretFile(t, 'agentchat')]
  const stale = await run([...words, '--now', at + 301, request])
  assert.equal(stale.code, 1)
  assert.match(stale.out + stale.err, /stale/)
  const good = await run([...words, '--now', at + 300, request])
  assert.equal(good.code, 0, good.out + good.err)
})

// --- sink ----------------------------------------------------------------------------------------

async function startSink(t, dialect, ...more) {
  const port = await freePort()
  const child = spawn(program, ['sink', '--listen', `127.0.0.1:${port}`, '--dialect', dialect, '--secret-file', secretFile(t, dialect), ...more.map(String)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const sink = { url: `http://127.0.0.1:${port}`, text: '', child }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (sink.text += chunk))
  const over = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGTERM')
    const [code] = await over
    assert.equal(code, 0, sink.text)
    assert.doesNotMatch(sink.text, /Sanitizer/)
  })
  await until(() => request(`${sink.url}/`, { method: 'GET' }).then(() => true, () => false), () => `the sink listens\n${sink.text}`)
  return sink
}

for (const dialect of Object.keys(framings)) {
  test(`sink in ${dialect}: takes what wakegate sends and shows the wake; refuses a forged one`, async t => {
    const sink = await startSink(t, dialect)
    const wake = newWake()
    const got = await request(`${sink.url}/hook`, framed(dialect, wake))
    assert.ok(got.status >= 200 && got.status < 300, got.text)
    await until(() => sink.text.includes(wake.delivery_id), () => `it is shown\n${sink.text}`)
    const forged = await request(`${sink.url}/hook`, framed(dialect, newWake(), { secret: 'whsec_' + Buffer.from('quite-another-secret-of-mine').toString('base64') }))
    assert.equal(forged.status, 401)
    assert.equal(sink.text.includes(secretFor(dialect)), false)
  })
}

test('sink: a request of another dialect is told which one was expected', async t => {
  const sink = await startSink(t, 'agentchat')
  const got = await request(`${sink.url}/hook`, framed('claude-code', newWake()))
  assert.equal(got.status, 401)
  await until(() => sink.text.includes('"expected":"a wake in the dialect agentchat"'), () => `it is shown\n${sink.text}`)
})

test('sink behind a gateway: the whole way, with the sink\'s own run id', async t => {
  const sink = await startSink(t, 'claude-code')
  const target = { trigger: { dialect: 'claude-code', url: `${sink.url}/fire`, token: { env: 'E2E_SECRET' }, private: true } }
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', target) } })
  const wake = newWake()
  const got = await gateway.wake('relay', 'agentchat', wake)
  assert.equal(got.json.status, 'relayed', got.text)
  assert.ok(got.json.run?.length > 0)
  await until(() => sink.text.includes(wake.delivery_id), 'it is shown')
})

test('sink --status and --delay: a runtime in trouble', async t => {
  const busy = await startSink(t, 'claude-code', '--status', 503)
  assert.equal((await request(`${busy.url}/fire`, framed('claude-code', newWake()))).status, 503)
  const slow = await startSink(t, 'claude-code', '--delay', 600)
  const began = process.hrtime.bigint()
  assert.equal((await request(`${slow.url}/fire`, framed('claude-code', newWake()))).status, 200)
  assert.ok(process.hrtime.bigint() - began >= 590_000_000n)
})

// --- healthcheck ---------------------------------------------------------------------------------

test('healthcheck: 0 where a gateway is ready, not 0 where there is none or its store is away', async t => {
  const runtime = await startRuntime(t, 'poke')
  const routes = { relay: route('agentchat', trigger(runtime)) }
  const good = await startGateway(t, { routes })
  const ready = await run(['healthcheck', good.url])
  assert.equal(ready.code, 0)
  assert.equal(ready.out, `${good.url}/readyz: ready\n`)
  const alive = await run(['healthcheck', `${good.url}/livez`])
  assert.equal(alive.code, 0)
  assert.equal(alive.out, `${good.url}/livez: answered 200\n`)
  const sick = await startGateway(t, { store: 'redis://127.0.0.1:1/0', routes }, { ready: false })
  assert.notEqual((await run(['healthcheck', sick.url])).code, 0)
  assert.notEqual((await run(['healthcheck', `http://127.0.0.1:${await freePort()}`])).code, 0)
})
