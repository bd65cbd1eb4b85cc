// SPDX-License-Identifier: Apache-2.0
// "on_test": what becomes of a test wake, structured and in a text dialect.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { route, startGateway, trigger } from './gateway.mjs'
import { startRuntime } from './runtimes.mjs'
import { newWake, textOf } from './wakes.mjs'

async function relayTo(t, kind, { over }) {
  const runtime = await startRuntime(t, kind)
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime), over) } })
  return { runtime, send: wake => gateway.wake('relay', 'agentchat', wake) }
}

test('a test wake goes all the way without on_test, and with "relay"', async t => {
  for (const over of [{}, { on_test: 'relay' }]) {
    const { runtime, send } = await relayTo(t, 'poke', { over })
    const got = await send(newWake({ reason: 'test', test: true, conversations: [] }))
    assert.equal(got.json.status, 'relayed', got.text)
    assert.equal(runtime.requests.length, 1)
  }
})

test('on_test "answer" in a text dialect: a test is known by the fields beside the text, and by nothing in it', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { routes: { relay: route('openclaw', trigger(runtime), { on_test: 'answer' }) } })
  gateway.mayWrite = /on_test/
  const wake = newWake({ reason: 'test', test: true, conversations: [], summary: 'AgentChat test wake.' })
  const message = textOf(wake)
  const send = body => gateway.wake('relay', 'openclaw', wake, { body: JSON.stringify(body) })
  for (const beside of [wake, { ...wake, test: undefined }, { ...wake, reason: undefined }]) {
    const got = await send({ message, ...beside })
    assert.equal(got.json.status, 'tested', got.text)
    assert.equal(got.json.delivery_id, wake.delivery_id)
  }
  assert.equal(runtime.requests.length, 0)
  assert.equal((await send({ message })).json.status, 'relayed')
  assert.equal(runtime.requests.length, 1)
})
