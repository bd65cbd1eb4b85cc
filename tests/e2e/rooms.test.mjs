// SPDX-License-Identifier: Apache-2.0
// Rooms: real Socket.IO clients on the gateway's own port, and wakes that are relayed into a thread:
// left there, or offered and taken by one client alone, or withdrawn so that a trigger gets them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answersTo, makeGateway, route, startGateway, trigger } from './gateway.mjs'
import { startRedis } from './redis.mjs'
import { assertWhole, member, room, roomClient, rooms, tokens, tokenOf } from './room_clients.mjs'
import { startRuntime } from './runtimes.mjs'
import { pause, until } from './until.mjs'
import { newWake } from './wakes.mjs'

const env = tokens

function config(target, over = {}) {
  return { budget: '4s', rooms: rooms(), routes: { relay: route('agentchat', target) }, ...over }
}

const gatewayWith = (t, target, over) => startGateway(t, config(target, over), { env })
const send = (gateway, wake) => gateway.wake('relay', 'agentchat', wake)

// --- the protocol ---

test('hello comes once, the same at GET /protocol; /health needs nobody', async t => {
  const gateway = await gatewayWith(t, room())
  const hello = { protocol: { major: 1, minor: 17 }, minClientMajor: 1 }
  const protocol = await gateway.get('/protocol')
  assert.equal(protocol.status, 200)
  assert.deepEqual(protocol.json, hello)
  assert.equal((await gateway.get('/health')).status, 200)
  for (const transports of [['websocket'], ['polling'], ['polling', 'websocket']]) {
    const client = await member(t, gateway, 'watcher', 'wakes', { transports })
    assert.deepEqual(client.hello, [hello])
    assert.deepEqual(client.joined, { ok: true, messages: [] })
  }
})

test('without rooms there is neither /protocol nor Socket.IO', async t => {
  const runtime = await startRuntime(t, 'grok')
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime)) } })
  for (const path of ['/protocol', '/health', '/socket.io/?EIO=4&transport=polling'])
    assert.equal((await gateway.get(path)).status, 404)
})

test('who has no token, or a wrong one, is refused; a header is as good as auth', async t => {
  const gateway = await gatewayWith(t, room())
  for (const options of [{}, { auth: { token: 'nonsense' } }, { auth: { token: '' } }, { extraHeaders: { authorization: 'Bearer nonsense' } }]) {
    const client = roomClient(t, gateway, undefined, options)
    await until(() => client.refusal, 'it is refused')
    assert.equal(client.refusal, 'Not authorized')
    assert.deepEqual(client.hello, [])
  }
  const client = roomClient(t, gateway, undefined, { extraHeaders: { authorization: `Bearer ${tokenOf('worker')}` } })
  await client.ready()
  assert.doesNotMatch(gateway.everything(), /e2e-room-token|nonsense/)
})

test('anonymous clients read where that is configured', async t => {
  const gateway = await gatewayWith(t, room(), { rooms: rooms({ anonymous: { threads: ['team-*'] } }) })
  const client = await roomClient(t, gateway).ready()
  assert.equal((await client.join('team-a')).ok, true)
  assert.equal((await client.ask('thread:messages', { threadId: 'wakes' })).error.code, 'CONVERSATION_NOT_FOUND')
})

test('what is refused says why, in the acknowledgement and as protocol:error', async t => {
  const gateway = await gatewayWith(t, room())
  const client = await member(t, gateway, 'other')
  const watcher = await member(t, gateway, 'watcher')
  const start = { threadId: 'wakes', messageId: 'm', input: 'x' }
  const cases = [
    [client, 'run:start', start, 'INVALID_COMMAND', /no runtime stands behind/],
    [watcher, 'run:start', start, 'INVALID_COMMAND', /may not start/],
    [client, 'run:start', { ...start, extra: 1 }, 'INVALID_COMMAND', /extra: is not a known field/],
    [client, 'run:start', { ...start, input: 'x'.repeat(16001) }, 'INVALID_COMMAND', /input: has more than 16000/],
    [client, 'run:start', { ...start, threadId: 'secret' }, 'CONVERSATION_NOT_FOUND', /./],
    [client, 'run:start', { ...start, threadId: 'team-none' }, 'CONVERSATION_NOT_FOUND', /./],
    [client, 'run:resume', { threadId: 'wakes', interruptId: 'i', answer: { take: true } }, 'UNKNOWN_RUN', /./],
    [client, 'run:resume', { threadId: 'wakes', interruptId: 'i', answer: null }, 'UNKNOWN_RUN', /./],
    [client, 'run:resume', { threadId: 'wakes', interruptId: 'i' }, 'INVALID_COMMAND', /answer: is missing/],
    [watcher, 'run:resume', { threadId: 'wakes', interruptId: 'i', answer: 1 }, 'INVALID_COMMAND', /may not answer/],
    [client, 'run:resume', { threadId: 'secret', interruptId: 'i', answer: 1 }, 'CONVERSATION_NOT_FOUND', /./],
    [client, 'run:cancel', { runId: 'r' }, 'UNKNOWN_RUN', /./],
    [client, 'run:detach', { runId: 'r', toolCallId: 'c' }, 'UNKNOWN_RUN', /./],
    [client, 'run:cancel', 'r', 'INVALID_COMMAND', /not an object/],
    [client, 'run:cancel', Buffer.from('r'), 'INVALID_COMMAND', /binary/]
  ]
  for (const [who, command, payload, code, message] of cases) {
    const answer = await who.ask(command, payload)
    assert.equal(answer.ok, false)
    assert.equal(answer.error.code, code, JSON.stringify(answer))
    assert.match(answer.error.message, message)
    assert.deepEqual(who.errors.pop(), answer.error)
  }
  assert.equal((await client.ask('thread:messages', { threadId: 'secret' })).error.code, 'CONVERSATION_NOT_FOUND')
  assert.deepEqual(client.errors, [], 'thread:messages is answered by its acknowledgement alone')
})

test('commands need no acknowledgement, and an unknown event is ignored', async t => {
  const gateway = await gatewayWith(t, room())
  const client = await member(t, gateway, 'other')
  client.socket.emit('something:else', { x: 1 })
  client.socket.emit('thread:messages', { threadId: 'nowhere' })
  client.socket.emit('run:cancel', { runId: 'r' })
  await until(() => client.errors.length === 2, 'both are refused')
  assert.deepEqual(client.errors.map(error => error.code), ['CONVERSATION_NOT_FOUND', 'UNKNOWN_RUN'])
})

test('who sends too much is disconnected, and told why', async t => {
  const gateway = await gatewayWith(t, room(), { rooms: rooms({ messages_per_second: 5 }) })
  const client = await member(t, gateway, 'watcher')
  for (let i = 0; i < 20; i++) client.socket.emit('run:cancel', { runId: 'r' })
  await until(() => client.reasons.length > 0, 'it is disconnected')
  assert.match(client.errors.at(-1).message, /too many messages/)
  assert.ok(client.errors.length <= 11)
})

test('a connection is in so many rooms and no more', async t => {
  const gateway = await gatewayWith(t, room(), { rooms: rooms({ rooms_per_client: 1 }) })
  const client = await member(t, gateway, 'watcher')
  assert.match((await client.ask('thread:messages', { threadId: 'team-a' })).error.message, /too many rooms/)
  assert.equal((await client.join('wakes')).ok, true)
})

// --- stored ---

test('stored: the append is the acceptance; whoever joins later finds the message', async t => {
  const gateway = await gatewayWith(t, room({ accept: 'stored' }))
  const early = await member(t, gateway, 'watcher')
  const wake = newWake()
  const got = await send(gateway, wake)
  assert.equal(got.json.status, 'relayed', got.text)
  await early.event('RUN_FINISHED')
  assert.deepEqual(early.events.map(({ event }) => event.type), [
    'RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'RUN_FINISHED'
  ])
  assertWhole(early.events)
  assert.equal(early.events[0].runId, got.json.run)
  const message = early.events[0].event.message
  assert.equal(message.id, `wake-${wake.delivery_id}`)
  assert.ok(message.content.startsWith(wake.summary))
  assert.equal((await send(gateway, wake)).json.status, 'duplicate')
  const late = await member(t, gateway, 'other')
  assert.deepEqual(late.joined, { ok: true, messages: [message] })
  await gateway.stop()
  await gateway.restart()
  const again = await member(t, gateway, 'worker')
  assert.deepEqual(again.joined, { ok: true, messages: [message] }, 'it lasts')
})

// --- answered ---

test('answered: a client takes the wake, is named, and that is the acceptance', async t => {
  const gateway = await gatewayWith(t, room())
  const worker = await member(t, gateway, 'worker')
  const watcher = await member(t, gateway, 'watcher')
  const wake = newWake()
  const answer = send(gateway, wake)
  const { event, runId } = await worker.event('INTERRUPT')
  assert.equal(event.payload.clientTool, 'agentchat_wake')
  assert.deepEqual(event.payload.arguments, wake)
  const late = await member(t, gateway, 'other')
  assert.equal(late.joined.pendingInterrupt.interruptId, event.interruptId)
  assert.deepEqual(late.joined.pendingInterrupt.payload, event.payload)
  assert.deepEqual(await worker.resume('wakes', event.interruptId), { ok: true, taker: 'worker' })
  const got = await answer
  assert.equal(got.json.status, 'relayed', got.text)
  assert.equal(got.json.run, runId)
  for (const client of [worker, watcher, late])
    assert.deepEqual(await client.settled(event.interruptId), { interruptId: event.interruptId, settled: 'taken', taker: 'worker' })
  assertWhole(worker.events)
  assert.equal((await late.resume('wakes', event.interruptId)).error.code, 'UNKNOWN_RUN')
  assert.equal((await send(gateway, wake)).json.status, 'duplicate')
  assert.equal((await late.join('wakes')).pendingInterrupt, undefined)
})

test('answered: the offer of a wake is neither cancelled nor detached', async t => {
  const gateway = await gatewayWith(t, room())
  const worker = await member(t, gateway, 'other')
  const answer = send(gateway, newWake())
  const { event, runId } = await worker.event('INTERRUPT')
  assert.equal((await worker.ask('run:cancel', { runId })).error.code, 'UNKNOWN_RUN')
  assert.equal((await worker.ask('run:detach', { runId })).error.code, 'UNKNOWN_RUN')
  assert.equal((await worker.resume('wakes', event.interruptId)).ok, true)
  assert.equal((await answer).json.status, 'relayed')
})

test('first: nobody is there, so the trigger gets it at once', async t => {
  const runtime = await startRuntime(t, 'grok')
  const gateway = await gatewayWith(t, { first: [room({ wait: '3s' }), trigger(runtime)] })
  await member(t, gateway, 'watcher') /* may not answer */
  const began = Date.now()
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  assert.ok(Date.now() - began < 2500, 'the offer was not waited for')
  assert.equal(runtime.runs.length, 1)
})

test('first: a client that declines or says nothing: withdrawn, then the trigger', async t => {
  const runtime = await startRuntime(t, 'grok')
  const gateway = await gatewayWith(t, { first: [room({ wait: '1s' }), trigger(runtime)] })
  const worker = await member(t, gateway, 'worker')
  const answer = send(gateway, newWake())
  const { event } = await worker.event('INTERRUPT')
  assert.equal((await worker.resume('wakes', event.interruptId, { take: false })).ok, true)
  assert.equal((await answer).json.status, 'relayed')
  assert.deepEqual(await worker.settled(event.interruptId), { interruptId: event.interruptId, settled: 'withdrawn' })
  assert.equal(runtime.runs.length, 1)
  assert.equal((await worker.resume('wakes', event.interruptId)).error.code, 'UNKNOWN_RUN')
  assert.equal((await worker.join('wakes')).pendingInterrupt, undefined)
})

test('answered alone: nobody there is 503, and the same id is offered again with the same message', async t => {
  const gateway = await gatewayWith(t, room(), { budget: '1500ms' })
  const wake = newWake()
  assert.equal((await send(gateway, wake)).json.code, 'target_unavailable')
  const worker = await member(t, gateway, 'worker')
  assert.equal((await send(gateway, wake)).json.code, 'target_unavailable', 'it says nothing')
  worker.takeAll('wakes')
  assert.equal((await send(gateway, wake)).json.status, 'relayed')
  await until(() => worker.taken.length === 1, 'it has it')
  const starts = worker.of('RUN_STARTED').filter(({ event }) => event.message)
  assert.deepEqual(starts.map(({ event }) => event.message.id), [`wake-${wake.delivery_id}`, `wake-${wake.delivery_id}`])
  assert.notEqual(starts[0].runId, starts[1].runId)
  const ids = (await worker.join('wakes')).messages.map(message => message.id)
  assert.equal(new Set(ids).size, ids.length, 'each message stands there once')
})

test('one offer at a time in a thread', async t => {
  const runtime = await startRuntime(t, 'grok')
  const gateway = await gatewayWith(t, { first: [room({ wait: '2s' }), trigger(runtime)] })
  const worker = await member(t, gateway, 'worker')
  const first = send(gateway, newWake())
  const { event } = await worker.event('INTERRUPT')
  assert.equal((await send(gateway, newWake())).json.status, 'relayed')
  assert.equal(runtime.runs.length, 1, 'the second one did not wait')
  assert.equal((await worker.resume('wakes', event.interruptId)).ok, true)
  assert.equal((await first).json.status, 'relayed')
})

test('two clients answer at once: one has it', async t => {
  const gateway = await gatewayWith(t, room())
  const clients = [await member(t, gateway, 'worker'), await member(t, gateway, 'other')]
  for (const client of clients) client.takeAll('wakes')
  for (let i = 0; i < 10; i++) {
    const wake = newWake()
    assert.equal((await send(gateway, wake)).json.status, 'relayed')
    await until(() => clients.some(client => client.taken.includes(wake.delivery_id)), 'somebody has it')
  }
  const taken = clients.flatMap(client => client.taken)
  assert.equal(taken.length, 10)
  assert.equal(new Set(taken).size, 10)
})

test('the taker is gone before it saw its name: it finds it when it comes back', async t => {
  const gateway = await gatewayWith(t, room())
  const worker = await member(t, gateway, 'worker')
  const answer = send(gateway, newWake())
  const { event } = await worker.event('INTERRUPT')
  worker.socket.emit('run:resume', { threadId: 'wakes', interruptId: event.interruptId, answer: { take: true } })
  worker.socket.close()
  const got = await answer
  if (got.json.status === 'relayed') {
    const { messages } = (await member(t, gateway, 'worker')).joined
    assert.equal(messages.at(-1).content, 'Taken by worker.')
  } else assert.equal(got.json.code, 'target_unavailable', 'the answer never left')
})

// --- several instances ---

async function pair(t, target, over = {}) {
  const redis = await startRedis(t)
  const shared = { store: redis.url, ...over }
  const gateways = [await gatewayWith(t, target, shared), await gatewayWith(t, target, shared)]
  for (const gateway of gateways) await answersTo(() => gateway.get('/readyz'), 200)
  return { redis, gateways }
}

test('two instances: a client of one takes what the other offers', async t => {
  const { gateways } = await pair(t, room())
  const worker = await member(t, gateways[1], 'worker')
  worker.takeAll('wakes')
  for (let i = 0; i < 5; i++) assert.equal((await send(gateways[0], newWake())).json.status, 'relayed')
  await until(() => worker.taken.length === 5, 'it has them all')
  assertWhole(worker.events)
})

test('two instances: clients of both answer at once, and both see the same in the same order', async t => {
  const { gateways } = await pair(t, room())
  const clients = [await member(t, gateways[0], 'worker'), await member(t, gateways[1], 'other')]
  for (const client of clients) client.takeAll('wakes')
  const wakes = Array.from({ length: 12 }, () => newWake())
  for (const [i, wake] of wakes.entries()) assert.equal((await send(gateways[i % 2], wake)).json.status, 'relayed')
  await until(() => clients.every(client => client.events.length === wakes.length * 12), 'all is announced')
  const taken = clients.flatMap(client => client.taken)
  assert.equal(taken.length, wakes.length)
  assert.equal(new Set(taken).size, wakes.length)
  assert.deepEqual(clients[0].events, clients[1].events)
  for (const client of clients) assertWhole(client.events)
  const snapshots = [await member(t, gateways[0], 'watcher'), await member(t, gateways[1], 'watcher')]
  assert.deepEqual(snapshots[0].joined, snapshots[1].joined)
})

test('two instances: one is killed while it offers; the offer ends by itself and is offered again', async t => {
  const { gateways } = await pair(t, room(), { budget: '2s' })
  const worker = await member(t, gateways[1], 'worker')
  const lost = send(gateways[0], newWake()).catch(() => undefined)
  const { event } = await worker.event('INTERRUPT')
  await gateways[0].kill()
  await lost
  const wake = newWake()
  const got = await send(gateways[1], wake)
  assert.equal(got.json.code, 'target_unavailable', got.text)
  await until(async () => {
    await pause(200)
    return (await worker.join('wakes')).pendingInterrupt === undefined
  }, 'the offer is over')
  assert.equal((await worker.resume('wakes', event.interruptId)).error.code, 'UNKNOWN_RUN')
  worker.takeAll('wakes')
  assert.equal((await send(gateways[1], wake)).json.status, 'relayed')
})

test('two instances: one that is killed leaves no client behind for longer than five seconds', async t => {
  const runtime = await startRuntime(t, 'grok')
  const { gateways } = await pair(t, { first: [room({ wait: '500ms' }), trigger(runtime)] })
  await member(t, gateways[1], 'worker')
  await gateways[1].kill()
  const nobody = async () => (await gateways[0].metrics())['wakegate_room_offers_total{result="nobody"}']
  await until(async () => {
    assert.equal((await send(gateways[0], newWake())).json.status, 'relayed')
    return nobody()
  }, 'nobody is believed to be there', 8000)
})

test('two instances: an answer at the one while the wait runs out at the other', async t => {
  const runtime = await startRuntime(t, 'grok')
  const { gateways } = await pair(t, { first: [room({ wait: '250ms' }), trigger(runtime)] })
  const worker = await member(t, gateways[1], 'worker')
  const taken = []
  let answered = 0
  worker.socket.on('run:event', async ({ event }) => {
    if (event.type !== 'INTERRUPT') return
    await pause(235 + Math.random() * 30)
    const answer = await worker.resume('wakes', event.interruptId)
    answered++
    if (answer.ok) taken.push(event.payload.arguments.delivery_id)
    else assert.equal(answer.error.code, 'UNKNOWN_RUN', answer.error.message)
  })
  const wakes = Array.from({ length: 20 }, () => newWake())
  for (const wake of wakes) {
    const got = await send(gateways[0], wake)
    assert.ok(['relayed', 'duplicate'].includes(got.json.status), got.text)
  }
  await until(() => answered === wakes.length, 'every answer is decided')
  const all = [...taken, ...runtime.runs.map(({ request }) => request.json.delivery_id)]
  assert.deepEqual(all.sort(), wakes.map(wake => wake.delivery_id).sort(), 'and never both')
})

test('two instances: the offering one is killed at every step: taken or fired once at most', async t => {
  const runtime = await startRuntime(t, 'grok')
  const target = { first: [room({ wait: '400ms' }), trigger(runtime)] }
  const { redis, gateways } = await pair(t, target, { budget: '2s' })
  const takers = [await member(t, gateways[1], 'worker'), await member(t, gateways[1], 'other')]
  const taken = []
  for (const [i, client] of takers.entries())
    client.socket.on('run:event', async ({ event }) => {
      if (event.type !== 'INTERRUPT') return
      await pause(Math.random() * 500 * i)
      const answer = await client.resume('wakes', event.interruptId)
      if (answer.ok) taken.push(event.payload.arguments.delivery_id)
    })
  const wakes = []
  for (let round = 0; round < 8; round++) {
    const victim = await gatewayWith(t, target, { store: redis.url, budget: '2s' })
    await answersTo(() => victim.get('/readyz'), 200)
    const wake = newWake()
    wakes.push(wake.delivery_id)
    const lost = send(victim, wake).catch(() => undefined)
    await pause(round * 80)
    await victim.kill()
    await lost
    for (let i = 0; i < 3; i++) {
      const got = await send(gateways[1], wake)
      assert.ok([200, 503].includes(got.status), got.text)
      await pause(50)
    }
  }
  await pause(2500) /* no offer of a dead one is left */
  const fired = runtime.runs.map(({ request }) => request.json.delivery_id)
  for (const id of wakes) {
    const times = [...taken, ...fired].filter(other => other === id).length
    assert.ok(times <= 1, `${id}: taken ${taken.filter(other => other === id).length}, fired ${fired.filter(other => other === id).length}`)
  }
})

// --- many, and odd ones ---

test('clients come and go by the hundred, and the gauges are back where they were', async t => {
  const gateway = await gatewayWith(t, room())
  for (let round = 0; round < 5; round++) {
    const clients = Array.from({ length: 40 }, (_, i) => roomClient(t, gateway, 'watcher', { transports: i % 4 ? ['websocket'] : ['polling'] }))
    await Promise.all(clients.map(client => client.ready().then(() => client.join('wakes'))))
    assert.equal((await gateway.metrics())['wakegate_room_members'], 40)
    for (const [i, client] of clients.entries()) i % 2 ? client.socket.close() : client.socket.io.engine.close()
    await until(async () => (await gateway.metrics())['wakegate_room_clients'] === 0, 'all are gone')
    assert.equal((await gateway.metrics())['wakegate_room_members'], 0)
  }
})

test('a client that does not read is dropped, and holds up nobody', async t => {
  const gateway = await gatewayWith(t, room({ accept: 'stored' }), { rooms: rooms({ max_queue: 65536 }) })
  const slow = await member(t, gateway, 'watcher')
  const quick = await member(t, gateway, 'other')
  slow.socket.io.engine.transport.ws._socket.pause()
  const clients = async () => (await gateway.metrics())['wakegate_room_clients']
  let sent = 0
  while ((await clients()) === 2) { // the system's own buffers take megabytes
    assert.ok(sent < 1500, 'the slow one is gone before 90 MB')
    for (let i = 0; i < 20; i++, sent++) assert.equal((await send(gateway, newWake({ summary: 'x'.repeat(60_000) }))).json.status, 'relayed')
  }
  await until(() => quick.of('RUN_FINISHED').length === sent, 'the other has it all')
  assertWhole(quick.events)
  assert.equal(await clients(), 1)
})

// --- reload and end ---

test('a reload that takes a token away disconnects its clients, and only those', async t => {
  const gateway = await gatewayWith(t, room())
  const [worker, watcher] = [await member(t, gateway, 'worker'), await member(t, gateway, 'watcher')]
  const fewer = rooms()
  fewer.tokens = fewer.tokens.filter(token => token.client !== 'worker')
  gateway.write({ ...gateway.config, rooms: fewer })
  gateway.child.kill('SIGHUP')
  await gateway.event('reloaded')
  await until(() => worker.reasons.length > 0, 'it is disconnected')
  assert.equal(worker.reasons[0], 'io server disconnect')
  assert.equal((await watcher.join('wakes')).ok, true)
  const again = roomClient(t, gateway, 'worker')
  await until(() => again.refusal, 'it is refused')
  assert.equal(gateway.log('reload').length, 0, 'no restart is asked for')
})

test('the end of the process: clients go, gauges fall, nothing is left behind', async t => {
  const gateway = await gatewayWith(t, room())
  const clients = []
  for (let i = 0; i < 10; i++) clients.push(await member(t, gateway, i % 2 ? 'worker' : 'watcher', 'wakes', i % 3 ? {} : { transports: ['polling'] }))
  assert.equal((await gateway.metrics())['wakegate_room_clients'], 10)
  for (const client of clients.slice(0, 5)) client.socket.close()
  await until(async () => (await gateway.metrics())['wakegate_room_clients'] === 5, 'five are left')
  assert.equal((await gateway.metrics())['wakegate_room_members'], 5)
  const lost = send(gateway, newWake())
  await clients[9].event('INTERRUPT')
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null }, gateway.everything())
  assert.notEqual((await lost).json.status, 'relayed')
  await until(() => clients.slice(5).every(client => client.reasons.length > 0), 'they are disconnected')
})

test('a config whose room has no rooms, or an unknown thread name, is refused', async t => {
  for (const [over, mistake] of [
    [{ rooms: undefined }, /target.room: there are no rooms/],
    [{ routes: { relay: route('agentchat', room({ thread: 'a b' })) } }, /thread: is no thread's name/]
  ]) {
    const gateway = makeGateway(t, config(room(), over), { env })
    gateway.mayFail = true
    gateway.mayWrite = /./
    gateway.launch()
    assert.equal((await gateway.ended()).code, 1)
    assert.match(gateway.everything(), mistake)
  }
})
