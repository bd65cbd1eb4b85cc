// SPDX-License-Identifier: Apache-2.0
// socketio_app: the test application on the Socket.IO server, started on a free port, and the two
// ways to speak to it byte by byte: frames over one WebSocket, and polling requests.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import WebSocket from 'ws'
import { program } from './gateway.mjs'
import { request } from './http.mjs'
import { until } from './until.mjs'

const app = process.env.SOCKETIO_APP ?? path.join(path.dirname(program), 'tests', 'socketio_app')

/** Starts it with these options ({ 'ping-interval': 300 }). The test fails when it writes anything
 * on standard error (a sanitizer's report), or does not end well. */
export async function startApp(t, options = {}) {
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  const [command, ...before] = app.split(' ')
  const child = spawn(command, [...before, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  let out = ''
  let err = ''
  child.stdout.on('data', chunk => (out += chunk))
  child.stderr.on('data', chunk => (err += chunk))
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    const [code, signal] = await closed
    assert.deepEqual({ code, signal, err }, { code: 0, signal: null, err: '' })
  })
  const url = await until(
    () => {
      assert.equal(child.exitCode, null, `the application ended: ${err}`)
      return out.endsWith('\n') && out.trim()
    },
    'the application listens'
  )
  return {
    url,
    pid: child.pid,
    /** How many sessions there are. */
    sessions: async () => Number((await request(`${url}/sessions`, { method: 'GET' })).text)
  }
}

/** One WebSocket at `where`, and what came over it in order. */
export class Wire {
  #came = []
  #wanted = []

  constructor(app, where, options = {}) {
    this.socket = new WebSocket(app.url.replace('http', 'ws') + where, options)
    this.closed = new Promise(resolve => {
      this.socket.on('close', (code, reason) => {
        resolve({ code, reason: reason.toString() })
        for (const want of this.#wanted.splice(0)) want.reject(new Error(`closed with ${code}`))
      })
      this.socket.on('unexpected-response', (sent, answer) => {
        let text = ''
        answer.on('data', chunk => (text += chunk))
        answer.on('end', () => resolve({ status: answer.statusCode, text }))
      })
    })
    this.socket.on('error', () => {})
    this.socket.on('message', (data, binary) => {
      const message = binary ? data : data.toString()
      const want = this.#wanted.shift()
      if (want) want.resolve(message)
      else this.#came.push(message)
    })
  }

  /** The next message: a text, or a Buffer. */
  next() {
    if (this.#came.length > 0) return Promise.resolve(this.#came.shift())
    if (this.socket.readyState > WebSocket.OPEN) return Promise.reject(new Error('closed'))
    return new Promise((resolve, reject) => this.#wanted.push({ resolve, reject }))
  }

  /** Nothing has come that nobody took. Ask after something that would come later. */
  get quiet() {
    return this.#came.length === 0
  }

  send(...messages) {
    for (const message of messages) this.socket.send(message)
  }

  opened() {
    return this.socket.readyState === WebSocket.OPEN ? undefined : once(this.socket, 'open')
  }
}

const closing = (t, wire) => t.after(() => wire.socket.terminate())

/** A session over WebSocket alone; `handshake` is what the open packet said. */
export async function openWire(t, app, base = '/engine.io/') {
  const wire = new Wire(app, `${base}?EIO=4&transport=websocket`)
  closing(t, wire)
  const open = await wire.next()
  assert.equal(open[0], '0')
  wire.handshake = JSON.parse(open.slice(1))
  return wire
}

/** A session over polling, which ends with the test. */
export async function openPolling(t, app, base = '/engine.io/') {
  const url = `${app.url}${base}?EIO=4&transport=polling`
  const open = await request(url, { method: 'GET' })
  assert.equal(open.status, 200, open.text)
  const handshake = JSON.parse(open.text.slice(1))
  const at = `${url}&sid=${handshake.sid}`
  t.after(() => request(at, { method: 'POST', body: '1' }).catch(() => {}))
  return {
    handshake,
    open,
    sid: handshake.sid,
    get: options => request(at, { method: 'GET', ...options }),
    post: (body, options) => request(at, { method: 'POST', body, headers: { 'content-type': 'text/plain;charset=UTF-8' }, ...options }),
    ask: (method, options) => request(at, { method, ...options }),
    /** The WebSocket that wants to take the session over. */
    probe: t => {
      const wire = new Wire(app, `${base}?EIO=4&transport=websocket&sid=${handshake.sid}`)
      closing(t, wire)
      return wire
    }
  }
}

/** A session over WebSocket that is in namespace `name`. */
export async function join(t, app, name = '/', auth = '') {
  const wire = await openWire(t, app, '/socket.io/')
  await enter(wire, name, auth)
  return wire
}

export async function enter(wire, name = '/', auth = '') {
  const prefix = name === '/' ? '' : `${name},`
  wire.send(`40${prefix}${auth}`)
  const answer = await wire.next()
  assert.match(answer, new RegExp(`^40${prefix}\\{"sid":"[^"]+"\\}$`))
  const event = await wire.next()
  assert.ok(event.startsWith(`42${prefix}["auth",`), event)
  return { sid: JSON.parse(answer.slice(2 + prefix.length)).sid, auth: JSON.parse(event.slice(2 + prefix.length))[1] }
}
