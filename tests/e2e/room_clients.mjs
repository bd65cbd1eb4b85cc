// SPDX-License-Identifier: Apache-2.0
// room_clients: clients of the rooms, as pilotoo's chat-core is one: on the real socket.io-client.
import assert from 'node:assert/strict'
import { io } from 'socket.io-client'
import { until } from './until.mjs'

export const tokens = {
  E2E_ROOM_WORKER: 'e2e-room-token-worker',
  E2E_ROOM_OTHER: 'e2e-room-token-other',
  E2E_ROOM_WATCHER: 'e2e-room-token-watcher'
}

/** What a gateway with rooms is configured with; `over` wins. */
export function rooms(over = {}) {
  const client = (name, rights) => ({ client: name, token: { env: `E2E_ROOM_${name.toUpperCase()}` }, threads: ['wakes', 'team-*'], rights })
  return {
    tokens: [client('worker', ['read', 'answer']), client('other', ['read', 'answer', 'start', 'cancel']), client('watcher', ['read'])],
    threads: ['wakes', 'team-a', 'secret'],
    ...over
  }
}

export const tokenOf = client => tokens[`E2E_ROOM_${client.toUpperCase()}`]

export class RoomClient {
  events = []
  errors = []
  hello = []
  reasons = []

  constructor(url, { auth, ...options } = {}) {
    this.socket = io(url, { auth, forceNew: true, reconnection: false, transports: ['websocket'], ...options })
    this.socket.on('protocol:hello', hello => this.hello.push(hello))
    this.socket.on('run:event', envelope => this.events.push(envelope))
    this.socket.on('protocol:error', error => this.errors.push(error))
    this.socket.on('disconnect', reason => this.reasons.push(reason))
    this.socket.on('connect_error', error => (this.refusal = error.message))
  }

  /** Waits for protocol:hello, before which a client sends nothing. */
  async ready() {
    await until(() => this.hello.length > 0 || this.refusal, 'protocol:hello comes')
    assert.equal(this.refusal, undefined)
    return this
  }

  /** One command; resolves to its acknowledgement. */
  ask(command, payload) {
    return this.socket.timeout(10_000).emitWithAck(command, payload)
  }

  async join(threadId) {
    const answer = await this.ask('thread:messages', { threadId })
    assert.equal(answer.ok, true, JSON.stringify(answer))
    return answer
  }

  resume(threadId, interruptId, answer = { take: true }) {
    return this.ask('run:resume', { threadId, interruptId, answer })
  }

  /** The events of one type, whatever else came. */
  of(type) {
    return this.events.filter(envelope => envelope.event.type === type)
  }

  async event(type, count = 1) {
    return until(() => this.of(type)[count - 1], () => `${type} comes; there came ${JSON.stringify(this.events)}`)
  }

  /** The run that settled an offer, once it came. */
  async settled(interruptId) {
    const end = await until(
      () => this.of('RUN_FINISHED').find(envelope => envelope.event.result?.interruptId === interruptId),
      () => `it is announced what became of the offer; there came ${JSON.stringify(this.events)}`
    )
    return end.event.result
  }

  /** Takes every wake that is offered from now on. */
  takeAll(threadId) {
    this.taken = []
    this.socket.on('run:event', async ({ event }) => {
      if (event.type !== 'INTERRUPT') return
      // The test may end, and close the socket, before the answer is there.
      const answer = await this.resume(threadId, event.interruptId).catch(() => ({ ok: false }))
      if (answer.ok) this.taken.push(event.payload.arguments.delivery_id)
    })
  }
}

/** Connects as the client `name` (undefined: without a token) and ends with the test. */
export function roomClient(t, gateway, name, options = {}) {
  const auth = name ? { token: tokenOf(name) ?? name } : undefined
  const client = new RoomClient(gateway.url, { auth, ...options })
  t.after(() => client.socket.close())
  return client
}

/** A client that is ready and has joined `threadId`; its answer stands in `joined`. */
export async function member(t, gateway, name, threadId = 'wakes', options = {}) {
  const client = await roomClient(t, gateway, name, options).ready()
  client.joined = await client.join(threadId)
  return client
}

/** A target that is a room's thread. */
export const room = (over = {}) => ({ room: { thread: 'wakes', ...over } })

/** Every run's sequences begin at 1 and rise by 1; every envelope names the thread. */
export function assertWhole(events, threadId = 'wakes') {
  const next = {}
  for (const { v, threadId: named, runId, sequence } of events) {
    assert.equal(v, 1)
    assert.equal(named, threadId)
    next[runId] = (next[runId] ?? 0) + 1
    assert.equal(sequence, next[runId], JSON.stringify(events))
  }
}
