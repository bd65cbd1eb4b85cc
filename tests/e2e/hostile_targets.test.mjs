// SPDX-License-Identifier: Apache-2.0
// Targets that misbehave, byte by byte: answers without an end, too large, too slow, compressed, or
// none. Each is bounded, has its reason in the log, and leaves the id as the contract says.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import { test } from 'node:test'
import zlib from 'node:zlib'
import { route, startGateway, trigger } from './gateway.mjs'
import { pause, until } from './until.mjs'
import { newWake } from './wakes.mjs'

/** A server that reads each request whole and hands its socket to the next of `next`, or to `always`. */
class Target {
  next = []
  requests = []
  connections = 0
  written = 0
  #sockets = new Set()

  async listen(t) {
    this.server = net.createServer(socket => this.#accept(socket)).listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    this.url = `http://127.0.0.1:${this.server.address().port}`
    t.after(() => {
      for (const socket of this.#sockets) socket.destroy()
      this.server.close()
    })
    return this
  }

  #accept(socket) {
    let text = ''
    this.connections++
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0)
      if (end < 0 || text.length < end + 4 + length) return
      this.requests.push(text)
      text = ''
      const how = this.next.shift() ?? (it => it.end(this.good))
      how(socket, this)
    })
  }

  /** Writes `piece` as long as somebody takes it. */
  async pour(socket, piece) {
    while (!socket.destroyed) {
      this.written += piece.length
      if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {})
    }
    this.over = true
  }
}

const body = text => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
const ok = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
const say = bytes => socket => socket.end(bytes)
const stay = bytes => socket => socket.write(bytes)
const endless = (head, piece) => (socket, target) => {
  socket.write(head)
  target.pour(socket, Buffer.from(piece))
}
/** A byte now and then, for ever. */
const drip = (head, byte) => async socket => {
  socket.write(head)
  while (!socket.destroyed) {
    socket.write(byte)
    await pause(20)
  }
}
const good = `${ok}Connection: close\r\n${body('{"success":true,"run":"good"}')}`
const kib = 'x'.repeat(1024)
const chunk = `400\r\n${kib}\r\n`

/** name: [how, what the sender gets, what the id is worth, the reason in the log]. */
const cases = {
  'an endless chunked body after 200': [endless(`${ok}Transfer-Encoding: chunked\r\n\r\n`, chunk), 'relayed', 'relayed'],
  'an endless body until the end of the connection': [endless(`${ok}\r\n`, kib), 'relayed', 'relayed'],
  'an endless body after 400': [endless('HTTP/1.1 400 No\r\n\r\n', kib), 'target_refused', 'free', /^400/],
  'an endless body after 503': [endless('HTTP/1.1 503 No\r\nRetry-After: 7\r\n\r\n', kib), 'target_unavailable', 'free', /^503/],
  'a body that is said to have 2^62 bytes': [endless(`${ok}Content-Length: 4611686018427387904\r\n\r\n`, kib), 'relayed', 'relayed'],
  'endless chunk extensions': [endless(`${ok}Transfer-Encoding: chunked\r\n\r\n1`, `;${kib}`), 'target_timeout', 'held', /timed out|given up|chunk/i],
  'endless trailers': [endless(`${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n`, `X-Trailer: ${kib}\r\n`), 'target_timeout', 'held', /headers/],
  'endless headers': [endless(ok, `X-Filler: ${kib}\r\n`), 'target_timeout', 'held', /more than 32768 bytes of headers/],
  'one endless header': [endless(`${ok}X-Filler: `, kib), 'target_timeout', 'held', /too long|larger/],
  'an endless status line': [endless('HTTP/1.1 200 ', kib), 'target_timeout', 'held', /too long|larger/],
  'a flood of 1xx': [endless('', 'HTTP/1.1 102 Processing\r\n\r\n'), 'target_timeout', 'held', /more than 32768 bytes of headers/],
  'a flood of 103 with links': [endless('', `HTTP/1.1 103 Early Hints\r\nLink: </${kib}>\r\n\r\n`), 'target_timeout', 'held', /headers/],
  '101 that nobody asked for': [endless('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n', kib), 'target_timeout', 'held'],
  'endless bytes that are no HTTP': [endless('', kib), 'target_timeout', 'held', /HTTP/],
  'a status line that drips': [drip('HTTP/1.1 200 ', 'O'), 'target_timeout', 'held', /timed out|given up/i],
  'a head that drips': [drip(`${ok}X-Slow: `, 'o'), 'target_timeout', 'held', /timed out|given up/i],
  'a body that drips': [drip(`${ok}Content-Length: 100000\r\n\r\n`, 'o'), 'target_timeout', 'held', /timed out|given up/i],
  'chunks that drip': [drip(`${ok}Transfer-Encoding: chunked\r\n\r\n`, '1\r\no\r\n'), 'target_timeout', 'held', /timed out|given up/i],
  '1xx that drip': [drip('', 'HTTP/1.1 102 Processing\r\n\r\n'), 'target_timeout', 'held', /timed out|given up/i],
  'a head and nothing more': [stay(`${ok}Content-Length: 5\r\n\r\n`), 'target_timeout', 'held', /timed out|given up/i],
  'silence': [() => {}, 'target_timeout', 'held', /timed out|given up/i],
  'a body cut short': [say(`${ok}Content-Length: 50\r\n\r\n{}`), 'target_timeout', 'held', /./],
  'a reset in the middle of the body': [socket => socket.write(`${ok}Content-Length: 50\r\n\r\n{}`, () => socket.resetAndDestroy()), 'target_timeout', 'held', /./],
  'a chunk of a size that is none': [say(`${ok}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nx`), 'target_timeout', 'held', /./],
  'two lengths': [say(`${ok}Content-Length: 2\r\nContent-Length: 20\r\n\r\n{}`), undefined, undefined],
  'a length that is none': [say(`${ok}Content-Length: -1\r\n\r\n{}`), undefined, undefined],
  'a redirect to a metadata service': [say(`HTTP/1.1 307 Go\r\nLocation: http://169.254.169.254/latest\r\n${body('')}`), 'target_refused', 'free', /^307 redirect/],
  'a redirect to a file': [say(`HTTP/1.1 302 Go\r\nLocation: file:///etc/passwd\r\n${body('')}`), 'target_refused', 'free', /^302 redirect/],
  'a redirect without a place': [say(`HTTP/1.1 301 Go\r\n${body('')}`), 'target_refused', 'free', /^301 redirect/]
}

/** A gateway with one route to a target in `kind`'s dialect. */
async function relayTo(t, kind, config = {}) {
  const target = await new Target().listen(t)
  target.good = good
  const routes = { relay: route('agentchat', trigger({ kind, url: target.url })) }
  const gateway = await startGateway(t, { budget: '1s', grace: '1s', routes, ...config })
  return { target, gateway, send: wake => gateway.wake('relay', 'agentchat', wake) }
}

/** What libcurl may have in hand, and what two sockets hold, of an answer that is no longer wanted. */
const MOST_WRITTEN = 16 * 1024 * 1024

async function tryCase(gateway, place, target, [how, code, worth, reason]) {
  const wake = newWake()
  const send = () => gateway.wake(place, 'agentchat', wake)
  target.next.push(how)
  const got = await send()
  const said = got.json.code ?? got.json.status
  if (code) assert.equal(said, code, got.text)
  else assert.ok(['relayed', 'target_timeout'].includes(said), got.text)
  const line = await until(() => gateway.log('delivery').find(entry => entry.delivery_id === wake.delivery_id), 'the delivery is logged')
  if (reason) assert.match(line.detail, reason)
  if (target.written > 0) await until(() => target.over, 'the connection is closed')
  // Chunk extensions are read and forgotten; the time ends them.
  if (!/timed out|given up/i.test(line.detail)) assert.ok(target.written < MOST_WRITTEN, `${target.written} bytes were taken`)
  const again = await send()
  const expected = { relayed: 'duplicate', free: 'relayed', held: 'held' }[worth]
  if (expected) assert.equal(again.json.code ?? again.json.status, expected, again.text)
  assert.equal(target.requests.length, worth === 'free' ? 2 : 1)
}

test('answers without an end, too slow, broken', async t => {
  const routes = {}
  const targets = []
  for (const i of Object.keys(cases).keys()) {
    targets[i] = await new Target().listen(t)
    targets[i].good = good
    routes[`case-${i}`] = route('agentchat', trigger({ kind: 'grok', url: targets[i].url }))
  }
  const gateway = await startGateway(t, { budget: '1500ms', grace: '1s', routes })
  await Promise.all(
    Object.entries(cases).map(([name, row], i) => t.test(name, () => tryCase(gateway, `case-${i}`, targets[i], row)))
  )
  assert.equal((await gateway.get('/livez')).status, 200)
})

test('redirects are never followed, whatever the status and the place', async t => {
  const elsewhere = await new Target().listen(t)
  elsewhere.good = good
  const { target, send } = await relayTo(t, 'grok')
  for (const status of [300, 301, 302, 303, 305, 307, 308]) {
    for (const place of [elsewhere.url, `//${new URL(elsewhere.url).host}/x`, '/automations/webhook/other']) {
      const before = target.requests.length
      target.next.push(say(`HTTP/1.1 ${status} Go\r\nLocation: ${place}\r\nRefresh: 0; url=${elsewhere.url}\r\n${body('')}`))
      assert.equal((await send(newWake())).json.code, 'target_refused', `${status} ${place}`)
      assert.equal(target.requests.length, before + 1)
    }
  }
  assert.equal(elsewhere.connections, 0)
})

test('no coding is asked for, and what comes coded is not decoded', async t => {
  const { target, gateway, send } = await relayTo(t, 'agentchat')
  const plain = '{"status":"relayed","run":"decoded"}'
  const codings = { gzip: zlib.gzipSync(plain), deflate: zlib.deflateSync(plain), br: zlib.brotliCompressSync(plain) }
  for (const field of ['Content-Encoding', 'Transfer-Encoding'])
    for (const [coding, bytes] of Object.entries(codings)) {
      target.next.push(socket => {
        socket.write(`${ok}${field}: ${coding}\r\nConnection: close\r\n\r\n`)
        socket.end(bytes)
      })
      const got = await send(newWake())
      assert.equal(got.json.status, 'relayed', `${field}: ${coding}: ${got.text}`)
      assert.equal(got.json.run, undefined, 'the status counts, the body is not read')
    }
  for (const text of target.requests) assert.doesNotMatch(text, /^(accept-encoding|te):/im)

  // Three layers around the blocks of a deflate stream that carry nothing: a few hundred bytes that
  // a decoder works on for a long time without one byte coming out.
  const nothing = zlib.gzipSync('').subarray(0, 10)
  const inner = Buffer.concat([nothing, Buffer.alloc(64 * 1024 * 1024, Buffer.from([0, 0, 0, 0xff, 0xff]))])
  const bomb = zlib.gzipSync(zlib.gzipSync(inner))
  assert.ok(bomb.length < 4096)
  for (const field of ['Content-Encoding', 'Transfer-Encoding'])
    for (const status of ['200 OK', '400 No']) {
      target.next.push(socket => {
        socket.write(`HTTP/1.1 ${status}\r\n${field}: gzip, gzip, gzip\r\nConnection: close\r\n\r\n`)
        socket.end(bomb)
      })
      const got = await send(newWake())
      assert.equal(got.json.code ?? got.json.status, status[0] === '2' ? 'relayed' : 'target_refused', `${field}: ${got.text}`)
    }
  assert.equal((await gateway.get('/livez')).status, 200)
})

test('many targets that pour and drip at once: memory is bounded, and others are served', async t => {
  const { target, gateway, send } = await relayTo(t, 'openclaw', { budget: '2s' })
  const memory = () => 1024 * Number(/^VmRSS:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8'))[1])
  target.good = ok + body('{"ok":true}')
  await send(newWake())
  const before = memory()
  const kinds = [endless(ok, `X-Filler: ${kib}\r\n`), endless(`${ok}\r\n`, kib), drip(ok, 'X'), endless('', 'HTTP/1.1 102 Processing\r\n\r\n')]
  const wakes = Array.from({ length: 60 }, newWake)
  target.next.push(...wakes.map((_, i) => kinds[i % kinds.length]))
  const answers = await Promise.all(wakes.map(send))
  for (const got of answers) assert.ok([200, 504].includes(got.status), got.text)
  assert.equal((await send(newWake())).json.status, 'relayed')
  const most = 60 * 1024 * 1024 // a megabyte for each, with what a sanitizer adds
  assert.ok(memory() - before < most, `${before} -> ${memory()}`)
})
