// SPDX-License-Identifier: Apache-2.0
// The stand-in for AgentChat itself: its routes answer as the contract says, and its sender keeps the contract's
// times, on a clock that the test turns.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from './http.mjs'
import { handle } from './wakes.mjs'
import { limited, startAgentChat } from '../support/agentchat.mjs'
import { Sender } from '../support/agentchat/sender.mjs'

const minute = 60_000
const subscription = { url: 'https://wake.example.com/wake/relay', secret: 's', dialect: 'agentchat', rewake: true }

/** A sender on a clock that stands still; `answers` gives the status of each wake. */
function makeSender(t, answers = () => 200, over = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.UTC(2026, 10, 12, 9) })
  const began = Date.now()
  const sender = new Sender(handle, async () => answers(sender), minute)
  sender.put({ ...subscription, ...over })
  /** Lets so many minutes pass, a quarter of one at a time; what was sent meanwhile, as "minute reason attempt". */
  const pass = async minutes => {
    const before = sender.wakes.length
    for (let i = 0; i <= minutes * 4; i++) {
      t.mock.timers.tick(i === 0 ? 0 : minute / 4)
      for (let j = 0; j < 8; j++) await Promise.resolve()
    }
    return sender.wakes.slice(before).map(wake => `${Math.round((wake.at - began) / minute * 4) / 4} ${wake.reason}${wake.step ?? ''} ${wake.attempt}`)
  }
  return { sender, pass, ids: () => sender.wakes.map(wake => wake.id) }
}

test('a cycle is tried again after 1, 5, 30 minutes and 3 hours under one id, and ends after a day', async t => {
  const { sender, pass, ids } = makeSender(t, () => 503, { rewake: false })
  sender.message('conv_1', '@example-scout')
  assert.deepEqual((await pass(300)).map(line => parseFloat(line)), [0, 1, 6, 36, 216])
  assert.equal(new Set(ids()).size, 1)
  await pass(24 * 60)
  const sent = sender.wakes.length
  assert.deepEqual(await pass(24 * 60), [])
  assert.equal(sent, 11, 'every 3 hours after that')
})

test('the same ladder goes on after a 2xx until the agent pulls; then the rungs of what is unanswered', async t => {
  const { sender, pass, ids } = makeSender(t)
  sender.message('conv_1', '@example-scout')
  assert.deepEqual(await pass(2), ['0 messages 1', '1 messages 2'])
  sender.pull()
  assert.deepEqual(await pass(300), ['5 unanswered2 1', '30 unanswered3 1', '180 unanswered4 1'])
  assert.equal(new Set(ids()).size, 4, 'a fresh id for every rung')
  sender.message('conv_1', '@example-scout')
  sender.pull()
  sender.answer('conv_1')
  assert.deepEqual(await pass(300), [], 'nothing waits')
})

test('a rung waits while the agent is at work, comes late once, and not at all without rewake', async t => {
  let status = 200
  const { sender, pass } = makeSender(t, () => status)
  sender.message('conv_1', '@example-scout')
  await pass(4)
  sender.pull()
  assert.deepEqual(await pass(1.75), [], 'two minutes of peace')
  status = 503
  assert.deepEqual(await pass(0.5), ['6 unanswered2 1'])
  await pass(23.5)
  status = 200
  const late = await pass(1)
  assert.deepEqual(late.map(line => line.split(' ')[1]), ['unanswered3'], 'the latest that is due')
  sender.put({ ...subscription, rewake: false })
  assert.deepEqual(await pass(300), [])
})

test('new messages: a fresh id, a minute apart; 5 and 30 minutes while the agent takes none', async t => {
  const { sender, pass, ids } = makeSender(t)
  sender.message('conv_1', '@example-scout')
  sender.message('conv_2', '@example-quill')
  assert.deepEqual(await pass(0.5), ['0 messages 1'], 'one wake for what came before it')
  assert.equal(sender.wakes[0].conversations.length, 2)
  sender.message('conv_1', '@example-scout')
  assert.deepEqual(await pass(1), ['1 messages 1'])
  sender.message('conv_1', '@example-scout')
  assert.deepEqual(await pass(5), ['6 messages 1'])
  sender.message('conv_1', '@example-scout')
  assert.deepEqual(await pass(30), ['36 messages 1'])
  assert.equal(new Set(ids()).size, 4)
  sender.pull()
  sender.message('conv_1', '@example-scout')
  assert.deepEqual(await pass(1), ['37 messages 1'])
})

test('reminders, invites and tests', async t => {
  const { sender, pass } = makeSender(t)
  sender.invite('gri_1')
  assert.deepEqual(await pass(0.5), ['0 invite 1'])
  sender.answer('gri_1')
  sender.pull()
  sender.message('conv_1', '@example-scout')
  await pass(2)
  sender.pull()
  sender.remind('conv_1')
  assert.equal((await pass(1))[0].split(' ')[1], 'reminder')
  sender.answer('conv_1')
  const testing = sender.test()
  assert.equal(await testing, 200)
  sender.message('conv_2', '@example-scout')
  assert.deepEqual(await pass(0.75), [], 'a test wake counts for the spacing')
  assert.equal((await pass(0.5)).length, 1)
})

test('a PUT for the same receiver keeps a running cycle, another one replaces it', async t => {
  const { sender, pass, ids } = makeSender(t, () => 503)
  sender.message('conv_1', '@example-scout')
  await pass(0.5)
  sender.put({ ...subscription, secret: 'another' })
  assert.deepEqual(await pass(1), ['1 messages 2'])
  assert.equal(new Set(ids()).size, 1)
  sender.put({ ...subscription, url: 'https://wake.example.org/wake/relay' })
  assert.deepEqual(await pass(0.25), ['1.5 messages 1'])
  assert.equal(new Set(ids()).size, 2)
  sender.remove()
  assert.deepEqual(await pass(300), [])
  sender.put(subscription)
  assert.equal((await pass(0.25)).length, 1, 'a PUT wakes for what is waiting')
})

test('the routes: state without the secret, limits, the shape of errors, deprecation', async t => {
  const chat = await startAgentChat(t)
  const ask = async (method, path, body, key = chat.key) => request(chat.url + path, { method, headers: { authorization: `Bearer ${key}` }, body: body && JSON.stringify(body) })
  const webhook = '/v1/agents/me/wake-webhook'
  assert.equal((await ask('GET', '/v1/agents/me', undefined, 'wrong')).json.code, 'UNAUTHORIZED')
  assert.equal((await ask('GET', '/v1/agents/me')).json.wake_webhook, null)
  for (const [wrong, field] of [
    [{ url: 'http://wake.example.com/', secret: 's' }, 'url'],
    [{ url: `https://wake.example.com/${'x'.repeat(2048)}`, secret: 's' }, 'url'],
    [{ ...subscription, secret: '' }, 'secret'],
    [{ ...subscription, secret: 'x'.repeat(257) }, 'secret'],
    [{ ...subscription, dialect: 'grok' }, 'dialect'],
    [{ ...subscription, rewake: 'yes' }, 'rewake']
  ]) {
    const got = await ask('PUT', webhook, wrong)
    assert.equal(got.status, 400)
    assert.deepEqual([got.json.code, got.json.details.issues[0].field], ['VALIDATION_ERROR', field])
  }
  const { rewake, ...without } = subscription
  assert.equal((await ask('PUT', webhook, without)).json.rewake, true, 'a PUT that omits rewake sets it')
  const { wake_webhook: state } = (await ask('GET', '/v1/agents/me')).json
  assert.deepEqual(state, { state: 'active', url: subscription.url, dialect: 'agentchat', rewake: true })
  assert.match((await ask('GET', '/v1/texts?runtime=hermes')).json.wake_instruction, /mcp__agentchat__/)
  assert.equal((await ask('GET', '/v1/texts?runtime=other')).status, 400)
  chat.behave(limited(3))
  assert.equal((await ask('GET', '/v1/texts')).headers['retry-after'], '3')
  chat.deprecate('wake_webhook')
  const old = await ask('DELETE', webhook)
  assert.equal(old.status, 200)
  assert.equal(old.headers.deprecation, '@1794096000')
  assert.equal(old.headers.sunset, 'Sat, 06 Feb 2027 00:00:00 GMT')
  chat.deprecate('reply_coord', { off: true, replacement: 'the tray' })
  const gone = await ask('POST', '/v1/reply/claim', {})
  assert.deepEqual([gone.status, gone.json.code, gone.json.details.replacement], [410, 'REMOVED', 'the tray'])
})
