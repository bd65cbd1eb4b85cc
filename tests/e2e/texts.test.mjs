// SPDX-License-Identifier: Apache-2.0
// The instructions for text runtimes, as AgentChat serves them: fetched, kept, and used when it is away.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { test } from 'node:test'
import { makeGateway, route, run, startGateway, trigger } from './gateway.mjs'
import { startRedis } from './redis.mjs'
import { startRuntime } from './runtimes.mjs'
import { until } from './until.mjs'
import { newWake } from './wakes.mjs'

const runtimes = ['generic', 'claude-code', 'codex', 'hermes', 'openclaw']

/** GET /v1/texts alone. `served(runtime)` can be replaced, `edition` tells one answer from a later one. */
class Texts {
  asked = []
  edition = 1

  served = runtime => ({
    version: '1',
    manual: { url: 'https://agentchat.me/skill.md', version: `2.3.${this.edition}`, sha256: '0'.repeat(64) },
    wake_instruction: `Edition ${this.edition} for ${runtime}: settle each card.`,
    invite_prompt: `Edition ${this.edition} for ${runtime}: answer the invite.`,
    identity_line: 'You are @example-relay.',
    a_later_field: { kept: true }
  })

  async listen(port = 0) {
    this.server = http.createServer((request, response) => {
      const at = new URL(request.url, 'http://texts')
      const runtime = at.searchParams.get('runtime')
      this.asked.push({ method: request.method, path: at.pathname, runtime, headers: request.headers })
      if (at.pathname !== '/v1/texts' || !runtimes.includes(runtime)) return response.writeHead(404).end('{}')
      const body = this.served(runtime)
      if (typeof body === 'function') return body(response)
      response.writeHead(200, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
    this.server.listen(port, '127.0.0.1')
    await once(this.server, 'listening')
    this.port = this.server.address().port
  }

  get config() {
    return { url: `http://127.0.0.1:${this.port}`, private: true }
  }

  async close() {
    this.server.closeAllConnections()
    this.server.close()
    await once(this.server, 'close')
  }
}

async function startTexts(t) {
  const texts = new Texts()
  await texts.listen()
  t.after(() => texts.server.listening && texts.close())
  return texts
}

/** A gateway with a route to a text runtime, and what that is told. */
async function talker(t, texts, { config = {}, target = {}, over = {}, start = true } = {}) {
  const runtime = await startRuntime(t, 'poke')
  const routes = { relay: route('agentchat', trigger(runtime, target), over) }
  const gateway = makeGateway(t, { agentchat: texts.config, routes, ...config })
  if (start) await gateway.start()
  const told = async (wake = newWake()) => {
    const got = await gateway.wake('relay', 'agentchat', wake)
    assert.equal(got.status, 200, got.text)
    return runtime.requests.at(-1).json.message.split('\n\n').slice(1, -1).join('\n\n')
  }
  return { gateway, runtime, told }
}

test('wake_instruction for messages and the rest, invite_prompt for invites; the prompt of a route before both', async t => {
  const texts = await startTexts(t)
  const { gateway, told } = await talker(t, texts)
  await gateway.event('texts')
  assert.equal(await told(), 'Edition 1 for generic: settle each card.')
  assert.equal(await told(newWake({ reason: 'reminder' })), 'Edition 1 for generic: settle each card.')
  assert.equal(await told(newWake({ reason: 'unanswered', step: 2 })), 'Edition 1 for generic: settle each card.')
  assert.equal(await told(newWake({ reason: 'invite', conversations: [] })), 'Edition 1 for generic: answer the invite.')
  assert.deepEqual(texts.asked.map(({ method, runtime, headers }) => [method, runtime, headers.authorization]), [['GET', 'generic', undefined]])

  gateway.write({ ...gateway.config, routes: { relay: { ...gateway.config.routes.relay, prompt: 'Our own.' } } })
  gateway.child.kill('SIGHUP')
  await gateway.event('reloaded')
  assert.equal(await told(), 'Our own.')
  assert.equal(await told(newWake({ reason: 'invite', conversations: [] })), 'Our own.')
})

test('a target may say whose spelling it wants, and a key is sent where there is one', async t => {
  const texts = await startTexts(t)
  const { gateway, told } = await talker(t, texts, { target: { texts: 'openclaw' }, config: { agentchat: { ...texts.config, key: { literal: 'ac_live_key-of-this-test-0123456789' } } } })
  await gateway.event('texts')
  assert.equal(await told(), 'Edition 1 for openclaw: settle each card.')
  assert.deepEqual(texts.asked.map(({ runtime, headers }) => [runtime, headers.authorization]), [['openclaw', 'Bearer ac_live_key-of-this-test-0123456789']])
})

test('nothing is asked where nothing is needed: a prompt, no text runtime, or "texts": false', async t => {
  const texts = await startTexts(t)
  const prompted = await talker(t, texts, { over: { prompt: 'Look.' } })
  const off = await talker(t, texts, { config: { agentchat: { ...texts.config, texts: false } } })
  const structured = await startRuntime(t, 'grok')
  const other = await startGateway(t, { agentchat: texts.config, routes: { relay: route('agentchat', trigger(structured)) } })
  assert.equal(await prompted.told(), 'Look.')
  assert.equal(await off.told(), '')
  assert.equal((await other.wake('relay', 'agentchat', newWake())).status, 200)
  assert.deepEqual(texts.asked, [])
})

test('a text that came as text goes on as it is', async t => {
  const texts = await startTexts(t)
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { agentchat: texts.config, routes: { relay: route('poke', trigger(runtime)) } })
  await gateway.event('texts')
  assert.equal((await gateway.wake('relay', 'poke', newWake())).status, 200)
  assert.match(runtime.requests[0].json.message, /\n\nRead your AgentChat tray and answer what is waiting\.\n\n/)
})

for (const store of ['sqlite', 'redis'])
  test(`${store}: the last good copy serves a start without AgentChat, and a later one replaces it`, async t => {
    const texts = await startTexts(t)
    const config = store === 'redis' ? { store: (await startRedis(t)).url } : {}
    const { gateway, told } = await talker(t, texts, { config })
    await gateway.event('texts')
    assert.equal(await told(), 'Edition 1 for generic: settle each card.')
    await gateway.event('texts_kept')
    await gateway.stop()

    const { port } = texts
    await texts.close()
    await gateway.restart()
    const kept = await gateway.event('texts')
    assert.deepEqual([kept.from, kept.runtime, kept.manual], ['store', 'generic', '2.3.1'])
    await gateway.event('texts_not_fetched')
    assert.equal(await told(), 'Edition 1 for generic: settle each card.')

    texts.edition = 2
    await texts.listen(port)
    await gateway.event('texts', 2)
    assert.equal(await told(), 'Edition 2 for generic: settle each card.')
    await gateway.event('texts_kept')
    await gateway.stop()
    await texts.close()
    await gateway.restart()
    assert.equal((await gateway.event('texts')).manual, '2.3.2')
  })

test('AgentChat down at the first start: wakes go without an instruction, and with one as soon as it is up', async t => {
  const texts = await startTexts(t)
  const { port } = texts
  await texts.close()
  const { gateway, told } = await talker(t, texts)
  await gateway.event('texts_not_fetched')
  assert.equal(await told(), '')
  await texts.listen(port)
  await gateway.event('texts')
  assert.equal(await told(), 'Edition 1 for generic: settle each card.')
})

const bad = {
  'another version': texts => ({ ...texts, version: '2' }),
  'a version that is a number': texts => ({ ...texts, version: 1 }),
  'no version': ({ version, ...texts }) => texts,
  'no wake_instruction': ({ wake_instruction, ...texts }) => texts,
  'an invite_prompt that is no string': texts => ({ ...texts, invite_prompt: 7 }),
  'an instruction of 20 KB': texts => ({ ...texts, wake_instruction: 'x'.repeat(20_000) }),
  'an answer of 10 MB': texts => JSON.stringify({ ...texts, more: 'y'.repeat(10_000_000) }),
  'no JSON': () => '<html>',
  'an array': () => [],
  'nothing': () => '',
  'an error': () => response => response.writeHead(500).end('{}'),
  'a redirect': () => response => response.writeHead(302, { location: 'http://127.0.0.1/' }).end(),
  'too many requests': () => response => response.writeHead(429, { 'retry-after': '1' }).end('{}'),
  'a dropped connection': () => response => response.socket.destroy()
}

test('an answer that is no good leaves the copy in force, and is asked for again', { concurrency: 4 }, async t => {
  const one = async (t, spoil) => {
    const texts = await startTexts(t)
    const { gateway, told } = await talker(t, texts)
    await gateway.event('texts_kept')
    await gateway.stop()
    const whole = texts.served
    texts.edition = 2
    texts.served = runtime => spoil(whole(runtime))
    await gateway.restart()
    assert.equal((await gateway.event('texts')).from, 'store')
    await gateway.event('texts_not_fetched')
    assert.equal(await told(), 'Edition 1 for generic: settle each card.')
    texts.served = whole
    await until(() => gateway.log('texts').at(-1).manual === '2.3.2', 'the good one is there')
    assert.equal(await told(), 'Edition 2 for generic: settle each card.')
  }
  await Promise.all(Object.entries(bad).map(([name, spoil]) => t.test(name, t => one(t, spoil))))
})

test('no wake waits for a fetch, and the end of the process does not, either', async t => {
  const texts = await startTexts(t)
  texts.served = () => () => {}
  const { gateway, told } = await talker(t, texts)
  await until(() => texts.asked.length === 1, 'it is asked')
  assert.equal(await told(), '')
  await gateway.stop()
})

test('check: mistakes in "agentchat" and "texts"', async t => {
  const runtime = await startRuntime(t, 'grok')
  const gateway = makeGateway(t, { agentchat: { url: 'http://127.0.0.1:1/', text: false }, routes: { relay: route('agentchat', trigger(runtime, { texts: 'codex' })) } })
  const { code, out, err } = await run(['check', '--config', gateway.file])
  assert.equal(code, 1)
  assert.match(out + err, /agentchat\.url: is not the beginning of a URL/)
  assert.match(out + err, /agentchat\.text: .*"texts"/)
  assert.match(out + err, /trigger\.texts: means nothing here/)
})
