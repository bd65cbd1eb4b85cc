// SPDX-License-Identifier: Apache-2.0
// Clients that mean harm, or are broken: slow, many, half there, gone. Whatever they do, nothing is
// relayed that was not a whole genuine wake, and the others are served meanwhile.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkAnswer, exchange } from './contract/harness.mjs'
import { overloaded, relayed, slowBody, slowHead } from './contract/rows.mjs'
import { route, startGateway, trigger } from './gateway.mjs'
import { bytes, chunked, genuine, RawSocket, rawRequest, say } from './raw_socket.mjs'
import { startRuntime } from './runtimes.mjs'
import { until } from './until.mjs'
import { newWake } from './wakes.mjs'

async function start(t, config = {}, options) {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime)) }, ...config }, options)
  const sockets = []
  t.after(() => sockets.forEach(socket => socket.destroy()))
  const open = () => {
    sockets.push(new RawSocket(gateway.url))
    return sockets.at(-1)
  }
  const relay = async () => exchange({ gateway, route: 'relay', runtime, data: wake(), expect: relayed })
  return { runtime, gateway, open, relay }
}

const wake = (over = {}) => rawRequest({ ...genuine('agentchat', newWake()), ...over })
const chunkedWake = () => {
  const { fields, body } = genuine('agentchat', newWake())
  return bytes(rawRequest({ fields: [...fields, ['Transfer-Encoding', 'chunked']], length: false }), chunked(body, 50))
}
/** Waits until as many connections are left as are open here, and the one that asks. */
const connections = (gateway, count) => until(async () => (await gateway.metrics()).wakegate_connections === count + 1, async () => `${count} connections are left`)

// --- pieces of requests --------------------------------------------------------------------------

for (const [name, make] of [['with a length', wake], ['chunked', chunkedWake]])
  test(`a wake ${name} that ends after any of its bytes has no effect`, async t => {
    const { runtime, gateway, open, relay } = await start(t)
    const ends = ['reset', 'halfClose', 'destroy']
    const data = make()
    for (let from = 0; from < data.length; from += 60)
      await Promise.all(
        Array.from({ length: Math.min(60, data.length - from) }, async (_, i) => {
          const socket = open()
          await socket.connected
          await new Promise(resolve => socket.socket.write(data.subarray(0, from + i), resolve))
          socket[ends[(from + i) % 3]]()
          if (ends[(from + i) % 3] === 'halfClose') await socket.ended()
          assert.equal(socket.answers.filter(({ status }) => status < 400).length, 0)
          socket.destroy()
        })
      )
    await connections(gateway, 0)
    assert.equal(runtime.requests.length, 0)
    await exchange({ gateway, route: 'relay', runtime, data, expect: relayed })
    await relay()
  })

test('a wake of which each byte comes alone is relayed', async t => {
  const { runtime, open } = await start(t)
  for (const data of [wake(), chunkedWake()]) {
    const socket = open()
    await socket.connected
    for (const byte of data) await new Promise(resolve => socket.socket.write(Buffer.of(byte), resolve))
    checkAnswer(await socket.answer(), relayed)
  }
  assert.equal(runtime.requests.length, 2)
})

test('who closes its side after the request still gets the answer', async t => {
  const { runtime, gateway, open } = await start(t)
  runtime.behave('park')
  const socket = open()
  socket.write(wake())
  socket.halfClose()
  await until(() => runtime.parked === 1, 'the runtime has it')
  runtime.unpark()
  checkAnswer(await socket.answer(), relayed)
  await socket.ended()
  await connections(gateway, 0)
})

test('pipelined requests are answered in order, good and bad', async t => {
  const { runtime, open } = await start(t)
  const wakes = Array.from({ length: 60 }, () => newWake())
  const forged = index => index % 3 === 1
  const data = wakes.map((one, index) => rawRequest(genuine('agentchat', one, forged(index) ? { secret: 'somebody-elses-secret-of-some-length' } : {})))
  const socket = open()
  socket.write(bytes(data))
  await socket.answer(wakes.length)
  for (const [index, { status, json }] of socket.answers.entries()) {
    assert.equal(status, forged(index) ? 401 : 200)
    if (!forged(index)) assert.equal(json.delivery_id, wakes[index].delivery_id)
  }
  assert.equal(runtime.requests.length, 40)
  socket.write(bytes(wake(), 'no request at all\r\n\r\n', wake()))
  await socket.ended()
  assert.equal(socket.answers.filter(({ status }) => status === 200).length, 41)
  assert.equal(runtime.requests.length, 41, 'nothing after the noise')
})

test('a client that asks and asks and never reads', async t => {
  const { gateway, open, relay } = await start(t, { idle_timeout: '1s' })
  const socket = open()
  await socket.connected
  socket.socket.pause()
  socket.write(bytes(Array(20_000).fill('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n')))
  await relay()
  await until(async () => (await gateway.metrics()).wakegate_connections === 1, 'it is shut out')
})

// --- slow ----------------------------------------------------------------------------------------

/** Sends a byte now and then, so that the connection is never idle, until it is shut out. */
async function drip(socket, data) {
  await socket.connected
  for (const byte of data) {
    if (socket.closed) return true
    socket.write(Buffer.of(byte))
    await sleep(40)
  }
  return socket.closed
}

for (const [name, first, slow, expect] of [
  ['a head', '', 'POST /wake/relay HTTP/1.1\r\nHost: x\r\n' + 'X: y\r\n'.repeat(100), slowHead],
  ['a body', 'POST /wake/relay HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n', 'x'.repeat(999), slowBody],
  ['a body behind a go-ahead', 'POST /wake/relay HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n', 'x'.repeat(999), slowBody],
  ['chunks', 'POST /wake/relay HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'.repeat(200), slowBody],
  ['a second head', wake().toString('latin1'), 'POST /wake/relay HTTP/1.1\r\nHost: x\r\n' + 'X: y\r\n'.repeat(100), slowHead]
])
  test(`${name} that drips in is over when its time is over`, async t => {
    const { gateway, open, relay } = await start(t, { head_timeout: '1s', body_timeout: '1s', idle_timeout: '1s' })
    const socket = open()
    const second = name === 'a second head'
    socket.write(bytes(first))
    if (second) checkAnswer(await socket.answer(), relayed)
    const over = drip(socket, bytes(slow))
    await relay()
    assert.equal(await over, true, 'it was shut out while it was still sending')
    checkAnswer(socket.answers.at(-1), expect)
    assert.equal((await gateway.metrics())[`wakegate_request_timeouts_total{part="${expect.timedOut}"}`], 1)
    await relay()
  })

// --- many ----------------------------------------------------------------------------------------

test('too many connections from one address are closed and counted; another address is served', async t => {
  const { gateway, open, relay } = await start(t, { listen: '[::]:0', connections_per_address: 4 })
  gateway.url = gateway.url.replace(/\[::\]|0\.0\.0\.0/, '127.0.0.1')
  const sockets = Array.from({ length: 12 }, open)
  const closed = () => sockets.filter(socket => socket.closed).length
  await until(() => closed() >= 8, () => `eight are closed, not ${closed()}`)
  const kept = sockets.find(socket => !socket.closed)
  kept.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n')
  const refused = /wakegate_connections_refused_total\{reason="per_address"\} (\d+)\n/.exec((await kept.answer()).text)
  assert.equal(Number(refused[1]), closed())
  const elsewhere = gateway.url
  gateway.url = elsewhere.replace('127.0.0.1', '[::1]')
  await relay()
  gateway.url = elsewhere
  for (const socket of sockets) socket.destroy()
  await until(async () => (await gateway.get('/livez').catch(() => ({}))).status === 200, 'served again')
  await connections(gateway, 0)
  await relay()
})

test('more connections than are allowed in all', async t => {
  const { gateway, open, relay } = await start(t, { max_connections: 6 })
  const sockets = Array.from({ length: 10 }, open)
  await until(() => sockets.filter(socket => socket.closed).length >= 4, () => `four are closed, not ${sockets.filter(socket => socket.closed).length}`)
  for (const socket of sockets) socket.destroy()
  await until(async () => (await gateway.get('/livez').catch(() => ({}))).status === 200, 'served again')
  assert.ok((await gateway.metrics())['wakegate_connections_refused_total{reason="total"}'] >= 4)
  await relay()
})

test('more than 1024 idle connections, and thousands that come and go (telefonicaid/fiware-orion#2724, #1384, babelouest/ulfius#208)', async t => {
  const { runtime, gateway, open, relay } = await start(t, { connections_per_address: 4000 })
  const idle = Array.from({ length: 2500 }, open)
  await Promise.all(idle.map(socket => socket.connected))
  await connections(gateway, idle.length)
  await relay()
  for (const socket of [idle[0], idle[1100], idle.at(-1)]) {
    socket.write(wake())
    checkAnswer(await socket.answer(), relayed)
  }
  for (const socket of idle) socket.reset()
  for (let round = 0; round < 10; round++)
    await Promise.all(Array.from({ length: 200 }, async () => {
      const socket = open()
      await socket.connected
      socket.reset()
    }))
  await connections(gateway, 0)
  await relay()
  assert.equal(runtime.requests.length, 5)
})

// --- descriptors ---------------------------------------------------------------------------------

/** Ticks of processor time that `pid` has used. */
function ticks(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** Fails when `pid` uses a third of what somebody uses who only spins; that one runs for 100 ticks. */
async function spendsLittle(t, pid) {
  const spinner = spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' })
  t.after(() => spinner.kill('SIGKILL'))
  const [began, spun] = [ticks(pid), ticks(spinner.pid)]
  await until(() => ticks(spinner.pid) - spun >= 100, 'the spinner has had its time', 60_000)
  const used = ticks(pid) - began
  spinner.kill('SIGKILL')
  assert.ok(used < 30, `it used ${used} ticks while a spinner used 100`)
}

test('no descriptors left: a pause, not a spin; who is connected is served (socketio/socket.io#1079, libuv/libuv#690, ninenines/ranch#36)', async t => {
  const { gateway, open, relay } = await start(t)
  const { pid } = gateway.child
  const kept = open()
  kept.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
  await kept.answer()
  const taken = new Set(fs.readdirSync(`/proc/${pid}/fd`).map(Number))
  let free = 0
  while (taken.has(free)) free++
  execFileSync('prlimit', ['--pid', pid, `--nofile=${free + 2}:`])
  let closed = 0
  const waiting = new Set()
  const knock = () => { // and again, so that there is always somebody to be let in
    const socket = open()
    waiting.add(socket)
    socket.ended(60_000).then(() => waiting.delete(socket) && ++closed && knock(), () => {})
  }
  for (let i = 0; i < 60; i++) knock()
  await until(() => closed >= 3, 'some were taken in order to close them')
  await spendsLittle(t, pid)
  kept.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n')
  const { text } = await kept.answer(2)
  assert.match(text, /wakegate_accept_pauses_total [1-9]/)
  assert.match(text, /wakegate_connections_refused_total\{reason="descriptors"\} [1-9]/)
  execFileSync('prlimit', ['--pid', pid, '--nofile=1024:'])
  for (const socket of [...waiting]) waiting.delete(socket) && socket.destroy()
  await until(async () => (await gateway.get('/livez').catch(() => ({}))).status === 200, 'served again')
  await relay()
})

test('memory that is full of what is no line costs no processor time', async t => {
  const { gateway, open, relay } = await start(t, { head_timeout: '2m', body_timeout: '2m' })
  const body = 'POST /wake/relay HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
  for (const data of [body + '1;' + 'a'.repeat(100_000), body + '1\r\nx\r\n0\r\nX: ' + 'a'.repeat(100_000), 'POST /' + 'a'.repeat(100_000)])
    for (let i = 0; i < 5; i++) open().write(data)
  checkAnswer(await say(gateway.url, wake()), relayed)
  await spendsLittle(t, gateway.child.pid)
  await relay()
})

// --- memory --------------------------------------------------------------------------------------

const unfinished = (length, sent) => bytes(`POST /wake/relay HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`, 'x'.repeat(sent))

test('bodies that never end fill their memory, and wakes still come through', async t => {
  const { gateway, open, relay } = await start(t, { body_memory: 1024 * 1024, body_timeout: '1m' })
  const large = Array.from({ length: 40 }, open)
  for (const socket of large) socket.write(unfinished(65536, 60000))
  await until(() => large.filter(socket => socket.closed).length >= 24, 'the surplus is refused')
  for (const socket of large.filter(({ closed }) => closed)) checkAnswer(socket.answers[0], { ...overloaded, closed: true })
  const refused = large.filter(({ closed }) => closed).length
  assert.equal((await gateway.metrics())['wakegate_wakes_total{route="relay",code="overloaded"}'], refused)
  await relay()
  for (const socket of large) socket.reset()
  await connections(gateway, 0)
  const socket = open()
  socket.write(wake({ body: 'x'.repeat(65536) }))
  assert.equal((await socket.answer()).status, 401, 'there is room for a large one again')
})

// What README.md states: memory of a connection, and of all bodies, in bytes.
const PER_CONNECTION = 20 * 1024
const BODIES = 8 * 1024 * 1024
const SLACK = 12 * 1024 * 1024

test('memory while attackers hold every connection with half a head, or half a body', async t => {
  if (!process.env.WAKEGATE_RELEASE) return t.skip('WAKEGATE_RELEASE names no release build, and memory says nothing about another one')
  const most = 3000
  const config = { max_connections: most, connections_per_address: most, body_memory: BODIES, head_timeout: '2m', body_timeout: '2m' }
  const { gateway, open, relay } = await start(t, config, { binary: process.env.WAKEGATE_RELEASE })
  const resident = () => Number(/^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${gateway.child.pid}/status`, 'latin1'))[1]) * 1024
  await relay()
  const before = resident()
  let peak = before
  const attack = async (count, data) => {
    const sockets = Array.from({ length: count }, open)
    for (const socket of sockets) socket.write(data)
    await until(async () => {
      peak = Math.max(peak, resident())
      return sockets.every(socket => socket.closed || socket.socket.writableLength === 0)
    }, 'all of it is sent')
    return sockets
  }
  await attack(900, bytes('POST /wake/relay HTTP/1.1\r\nHost: x\r\n', 'X: y\r\n'.repeat(30), `X: ${'a'.repeat(6000)}`))
  await attack(900, unfinished(65536, 4000))
  const large = await attack(1200, unfinished(65536, 65000))
  await until(() => large.filter(({ closed }) => closed).length > 900, 'the surplus is refused')
  checkAnswer(await say(gateway.url, wake()), relayed)
  peak = Math.max(peak, resident())
  const bound = most * PER_CONNECTION + BODIES + SLACK
  t.diagnostic(`${((peak - before) / 1048576).toFixed(1)} MiB more, of ${(bound / 1048576).toFixed(1)} MiB`)
  assert.ok(peak - before < bound, `${peak - before} bytes more, the bound is ${bound}`)
  assert.ok((await gateway.metrics()).wakegate_connections > 1800, 'they are still there')
})
