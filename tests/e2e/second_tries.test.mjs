// SPDX-License-Identifier: Apache-2.0
// What is tried again and what is not: requests to targets, and the embedded store's file.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaults, makeGateway, route, startGateway, trigger } from './gateway.mjs'
import { startRuntime } from './runtimes.mjs'
import { pause, until } from './until.mjs'
import { newWake } from './wakes.mjs'

/** A gateway with one route `relay` from agentchat to one runtime of `kind`. */
async function relayTo(t, kind) {
  const runtime = await startRuntime(t, kind)
  const routes = { relay: route('agentchat', trigger(runtime)) }
  const gateway = await startGateway(t, { budget: '1500ms', routes })
  return { runtime, gateway, send: wake => gateway.wake('relay', 'agentchat', wake) }
}

test('an idempotent target that dropped the connection may be asked again with the same key', async t => {
  const { runtime, send } = await relayTo(t, 'openclaw')
  const wake = newWake()
  runtime.behave('reset')
  const got = await send(wake)
  assert.ok([200, 503, 504].includes(got.status), got.text)
  const end = await until(async () => {
    const answer = await send(wake)
    return answer.status === 200 ? answer : undefined
  }, 'the wake is relayed')
  assert.ok(['relayed', 'duplicate'].includes(end.json.status))
  const keys = new Set(runtime.requests.map(request => request.headers['idempotency-key']))
  const bodies = new Set(runtime.requests.map(request => request.body))
  assert.deepEqual([keys.size, bodies.size], [1, 1], 'the same key and the same bytes')
})

test('a target that is not idempotent gets a fresh connection each time', async t => {
  const { runtime, send } = await relayTo(t, 'claude-code')
  const ports = new Set()
  for (let i = 0; i < 5; i++) {
    assert.equal((await send(newWake())).json.status, 'relayed')
    ports.add(runtime.requests.at(-1).socket.remotePort ?? runtime.requests.at(-1).socket)
  }
  assert.equal(new Set(runtime.requests.map(request => request.socket)).size, 5)
})

test('the embedded store refuses a second process on its file', async t => {
  const { gateway } = await relayTo(t, 'poke')
  const second = makeGateway(t, { ...defaults, store: `sqlite:${gateway.directory}/wakegate.db`, routes: gateway.config.routes })
  second.mayFail = true
  second.mayWrite = /in use by another process/
  second.launch()
  const end = await Promise.race([second.over, pause(15_000).then(() => undefined)])
  assert.equal(end?.code, 1, 'the second one ends')
})
