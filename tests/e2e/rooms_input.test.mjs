// SPDX-License-Identifier: Apache-2.0
// Rooms: what an honest JavaScript client may send without knowing better, and what it may get. Its
// command may be refused; it is never thrown out for it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import WebSocket from 'ws'
import { route, startGateway } from './gateway.mjs'
import { member, room, rooms, tokens } from './room_clients.mjs'
import { newWake } from './wakes.mjs'

function startWith(t, target, over = {}) {
  const config = { budget: '4s', rooms: rooms(over), routes: { relay: route('agentchat', target) } }
  return startGateway(t, config, { env: tokens })
}

const nested = levels => Array.from({ length: levels }).reduce(inner => [inner], 1)

const values = {
  'beyond 64 bits': 2 ** 63,
  'beyond all integers': 1e20,
  'a NUL': 'a\u0000b',
  'a high surrogate alone': 'x\ud800y',
  'a low surrogate alone': '\udc00',
  'a thousand levels': nested(1000),
  'more levels than are read': nested(2500)
}

for (const transport of ['websocket', 'polling'])
  test(`odd values in commands over ${transport}`, async t => {
    const gateway = await startWith(t, room())
    const client = await member(t, gateway, 'other', 'wakes', { transports: [transport] })
    for (const [what, value] of Object.entries(values)) {
      const commands = [
        ['run:resume', { threadId: 'wakes', interruptId: 'i', answer: value }],
        ['run:start', { threadId: 'wakes', messageId: 'm', input: value }],
        ['run:cancel', { runId: value }],
        ['run:cancel', { runId: 'r', [typeof value === 'string' ? value : 'k']: value }]
      ]
      for (const [command, payload] of commands) {
        const answer = await client.ask(command, payload)
        assert.match(answer.error?.code ?? '', /^(INVALID_COMMAND|UNKNOWN_RUN)$/, what)
      }
    }
    assert.match((await client.ask('run:cancel', { runId: 'a\u0000' })).error.message, /runId: has a NUL/)
    assert.deepEqual(client.reasons, [])
    assert.equal((await client.join('wakes')).ok, true)
  })

test('who is refused may try again, and is sent away after the tenth time', async t => {
  const gateway = await startWith(t, room())
  const client = new WebSocket(`${gateway.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`)
  t.after(() => client.terminate())
  const refusals = []
  client.on('message', message => `${message}`.startsWith('44') && refusals.push(`${message}`))
  await once(client, 'message')
  for (let i = 0; i < 50; i++) client.send('40{"token":"nonsense"}')
  await once(client, 'close')
  assert.deepEqual(refusals, Array(10).fill('44{"message":"Not authorized"}'))
  assert.equal(gateway.log('room_client_refused').length, 10)
})

test('sessions that were opened and never connected make room; connected ones do not', async t => {
  const gateway = await startWith(t, room(), { max_clients: 3 })
  const open = () => gateway.get('/socket.io/?EIO=4&transport=polling')
  const opened = []
  for (let i = 0; i < 6; i++) opened.push(await open())
  assert.deepEqual(opened.map(({ status }) => status), Array(6).fill(200))
  const sids = opened.map(({ text }) => JSON.parse(text.slice(1)).sid)
  const ask = sid => gateway.get(`/socket.io/?EIO=4&transport=polling&sid=${sid}`)
  for (const sid of sids.slice(0, 3)) assert.equal((await ask(sid)).json?.message, 'Session ID unknown')
  const clients = []
  for (const transport of ['websocket', 'polling', 'websocket'])
    clients.push(await member(t, gateway, 'watcher', 'wakes', { transports: [transport] }))
  assert.equal((await open()).status, 503)
  for (const client of clients) assert.equal((await client.join('wakes')).ok, true)
})

test('a thread of many large wakes is joined all the same: it has the newest', async t => {
  const gateway = await startWith(t, room({ accept: 'stored' }))
  let last
  for (let i = 0; i < 150; i++) {
    last = newWake({ summary: `${i} ${'x'.repeat(60_000)}` })
    assert.equal((await gateway.wake('relay', 'agentchat', last)).status, 200)
  }
  const client = await member(t, gateway, 'watcher')
  const { messages } = client.joined
  assert.ok(messages.length > 1 && messages.length < 150)
  assert.equal(messages.at(-1).id, `wake-${last.delivery_id}`)
  assert.ok(JSON.stringify(messages).length < 512 * 1024)
  assert.deepEqual(client.reasons, [])
})
