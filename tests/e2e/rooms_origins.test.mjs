// SPDX-License-Identifier: Apache-2.0
// Rooms: which web pages may connect, over polling (where the browser asks) and over WebSocket
// (where it does not).
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import WebSocket from 'ws'
import { route, startGateway } from './gateway.mjs'
import { request } from './http.mjs'
import { room, rooms, tokens } from './room_clients.mjs'

const query = 'EIO=4&transport='
const app = 'https://app.example'

function startWith(t, over) {
  return startGateway(t, { rooms: rooms(over), routes: { relay: route('agentchat', room()) } }, { env: tokens })
}

function poll(gateway, origin, method = 'GET') {
  const headers = origin ? { origin } : {}
  return request(`${gateway.url}/socket.io/?${query}polling`, { method, headers })
}

/** The status of a WebSocket handshake. */
async function upgrade(t, gateway, origin) {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/socket.io/?${query}websocket`, { origin })
  t.after(() => socket.terminate())
  socket.on('error', () => {})
  return Promise.race([once(socket, 'open').then(() => 101), once(socket, 'unexpected-response').then(([, answer]) => answer.statusCode)])
}

test('a page that is listed, the own one, and whoever is no page', async t => {
  const gateway = await startWith(t, { origins: [app] })
  const listed = await poll(gateway, app)
  assert.equal(listed.status, 200)
  assert.equal(listed.headers['access-control-allow-origin'], app)
  for (const origin of [undefined, gateway.url, app]) {
    assert.equal((await poll(gateway, origin)).status, 200)
    assert.equal(await upgrade(t, gateway, origin), 101)
  }
  const preflight = await poll(gateway, app, 'OPTIONS')
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers['access-control-allow-methods'], 'GET, POST')
})

test('any other page gets no WebSocket, and no answer that it could read', async t => {
  const gateway = await startWith(t, { origins: [app] })
  for (const origin of ['https://evil.example', `${app}.evil.example`, 'null', 'http://', 'http:/']) {
    const kept = await poll(gateway, origin)
    assert.equal(kept.status, 200, origin)
    assert.equal(kept.headers['access-control-allow-origin'], undefined, 'the browser keeps it from the page')
    assert.equal(await upgrade(t, gateway, origin), 403)
  }
})

test('with * every page may, and where nothing is said only the browser decides', async t => {
  const all = await startWith(t, { origins: ['*'] })
  const answer = await poll(all, 'https://any.example')
  assert.equal(answer.headers['access-control-allow-origin'], '*')
  assert.equal(await upgrade(t, all, 'https://any.example'), 101)
  const none = await startWith(t, {})
  const silent = await poll(none, 'https://any.example')
  assert.equal(silent.status, 200)
  assert.equal(silent.headers['access-control-allow-origin'], undefined)
})
