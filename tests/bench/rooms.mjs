// SPDX-License-Identifier: Apache-2.0
// rooms: many idle WebSocket clients on one process, then one envelope to all of them: wakegate
// beside npm ws and npm socket.io, in turns. Then wakes to a gateway with and without such clients.
// Prints a table of medians, which goals are met, and the same as JSON. Speed is told, not asserted:
// it fails only when something does not work.
//
//   node rooms.mjs --build <directory> [--clients 10000] [--rounds 5] [--json <file>]
//
//   wakegate, WebSocket   the Engine.IO server: a client is in when its handshake was answered
//   wakegate, Socket.IO   the Socket.IO server with a small application: a client is in when its
//                         CONNECT was answered too
//   wakegate serve        the whole program: a client is in when it has joined a thread; what it is
//                         told is a wake, which is five envelopes and goes through the store
//   ws                    npm ws: in when its handshake was answered; nothing else is said to it
//   ws, same words        npm ws, told by hand what wakegate, Socket.IO tells its clients
//   socket.io             npm socket.io: as wakegate, Socket.IO
//
// Memory is what the server's resident set grew by from before the clients until they are idle.
// "cpu" is the server's own time for each client, the kernel's part included: where the machine has
// other work to do, that is the steadier figure.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { pause } from '../e2e/until.mjs'
import { median, medians, table } from './figures.mjs'
import { Crowd, Process, descriptors, machine, sendWake, startGateway, startServer, version, writeWakes } from './machinery.mjs'

const { values: options } = parseArgs({
  options: {
    build: { type: 'string' },
    clients: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' }
  }
})
const own = name => path.join(options.build, 'tests', name)
const here = name => new URL(name, import.meta.url).pathname
const rounds = Number(options.rounds)
const spare = 2000 // descriptors of a server that are no client's
const clients = Math.min(Number(options.clients), descriptors() - spare)
const envelopes = 3 // in each round
const settleMs = 1500
const firstClients = 100 // they come and go before anything is measured
const wakes = { count: 6000, connections: 32 }
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'wakegate-bench-'))
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }))

// ---- clients

const engine = { path: '/engine.io/?EIO=4&transport=websocket', speaks: 'ws' }
const socketio = { path: '/socket.io/?EIO=4&transport=websocket', speaks: 'socketio' }
const thread = { ...socketio, speaks: 'thread' }
const app = () => startServer([own('socketio_app'), '--connections', '50000'])
const npm = (...words) => startServer([process.execPath, here(words[0]), ...words.slice(1)])
const gateway = () => startGateway(path.join(options.build, 'wakegate'), scratch, clients)
const servers = {
  'wakegate, WebSocket': { start: app, ...engine, silent: true },
  'wakegate, Socket.IO': { start: app, ...socketio },
  'wakegate serve': { start: gateway, ...thread, send: sendWake },
  ws: { start: () => npm('ws_server.mjs'), path: '/', speaks: 'ws' },
  'ws, same words': { start: () => npm('ws_server.mjs', '--exchange'), path: '/', speaks: 'socketio' },
  'socket.io': { start: () => npm('socketio_server.mjs'), ...socketio }
}

async function gather(server, url, count) {
  const crowd = new Crowd(own('crowd'), url, server, count)
  return { crowd, ...(await crowd.gathered()) }
}

async function visit(server, url) {
  const { crowd } = await gather(server, url, firstClients)
  await crowd.leave()
  await pause(settleMs / 4)
}

async function tellAll(server, url, crowd, running) {
  const told = []
  for (let i = 0; i < envelopes; i++) {
    const before = running.busy()
    const { last_ms: lastMs } = await crowd.told(server.send && (() => server.send(url)))
    told.push({ lastMs, toldCpuUs: ((running.busy() - before) * 1000) / clients })
    await pause(settleMs / 10)
  }
  return medians(told)
}

async function measure(server) {
  const { process: running, url } = await server.start()
  await visit(server, url)
  const before = { bytes: running.resident(), ms: running.busy() }
  const { crowd, ms } = await gather(server, url, clients)
  const cpu = running.busy() - before.ms
  await pause(settleMs)
  const bytes = running.resident() - before.bytes
  const told = server.silent ? {} : await tellAll(server, url, crowd, running)
  await crowd.leave()
  await running.end('SIGTERM')
  return { perSecond: (clients * 1000) / ms, connectCpuUs: (cpu * 1000) / clients, bytesPerClient: bytes / clients, ...told }
}

/** Each server in each round, so that whatever else the machine does falls on all alike. */
async function measureAll() {
  const measured = Object.fromEntries(Object.keys(servers).map(name => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const [name, server] of Object.entries(servers)) measured[name].push(await measure(server))
  return measured
}

// ---- wakes beside them

async function takeIn(running, url) {
  const file = path.join(scratch, 'wakes')
  writeWakes(file, wakes.count)
  const before = running.busy()
  const load = new Process([own('wakes'), new URL(url).port, file, String(wakes.connections)])
  const { answers, ms } = JSON.parse(await load.line())
  await load.end()
  return { perSecond: (answers * 1000) / ms, cpuUs: ((running.busy() - before) * 1000) / answers }
}

/** On one process: without clients, and beside all of them idle. What the process remembers grows
 * with every wake, so now the one comes first and now the other. */
async function measureIntake() {
  const { process: running, url } = await gateway()
  const alone = []
  const beside = []
  const takeAlone = async () => alone.push(await takeIn(running, url))
  const takeBeside = async () => {
    const { crowd } = await gather(thread, url, clients)
    await pause(settleMs)
    beside.push(await takeIn(running, url))
    await crowd.leave()
    await pause(settleMs)
  }
  await takeIn(running, url)
  for (let round = 0; round < rounds; round++)
    for (const take of round % 2 ? [takeBeside, takeAlone] : [takeAlone, takeBeside]) await take()
  await running.end('SIGTERM')
  const ratio = median(beside.map((one, round) => one.perSecond / alone[round].perSecond))
  return { alone: medians(alone), beside: medians(beside), ratio }
}

// ---- what is told of it

const noise = 0.05 // two runs of the same thing differ by more

/** Ratios are made within a round, in which the machine was the same for both. */
function judge(measured, intake) {
  const [bare, room, whole] = ['wakegate, WebSocket', 'wakegate, Socket.IO', 'wakegate serve']
  const [ws, talking] = ['ws', 'ws, same words']
  const ratio = (key, of, to) => median(measured[of].map((one, round) => one[key] / measured[to][round][key]))
  const most = (goal, value, limit, cpu) => ({ goal, limit: `at most ${limit}`, value, met: value <= limit, cpu })
  const least = (goal, value, limit, cpu) => ({ goal, limit: `at least ${limit}`, value, met: value >= limit, cpu })
  return [
    most('bytes of user memory for each idle client, wakegate serve', median(measured[whole].map(one => one.bytesPerClient)), 2048),
    least('connects per second, WebSocket, of those of ws', ratio('perSecond', bare, ws), 3, ratio('connectCpuUs', ws, bare)),
    least('connects per second, Socket.IO, of those of ws with the same words', ratio('perSecond', room, talking), 3, ratio('connectCpuUs', talking, room)),
    most('last receipt of one envelope, Socket.IO, of that of ws', ratio('lastMs', room, ws), 0.75, ratio('toldCpuUs', room, ws)),
    least('wakes per second beside idle clients, of those without', intake.ratio, 1 - noise, intake.alone.cpuUs / intake.beside.cpuUs)
  ]
}

function figures(results) {
  const number = (value, digits = 0) => (value === undefined ? '-' : value.toFixed(digits))
  const ratio = (value, other) => (value === undefined ? '-' : (value / other).toFixed(2))
  const { ws } = results
  return [
    ['', 'connects/s', 'of ws', 'cpu us', 'bytes/client', 'of ws', 'last receipt ms', 'of ws', 'cpu us'],
    ...Object.entries(results).map(([name, of]) => [
      name,
      number(of.perSecond),
      ratio(of.perSecond, ws.perSecond),
      number(of.connectCpuUs, 1),
      number(of.bytesPerClient),
      ratio(of.bytesPerClient, ws.bytesPerClient),
      number(of.lastMs, 1),
      ratio(of.lastMs, ws.lastMs),
      number(of.toldCpuUs, 1)
    ])
  ]
}

function intakeFigures({ alone, beside }) {
  const row = (name, of) => [name, of.perSecond.toFixed(0), of.cpuUs.toFixed(1)]
  return [['wakes to wakegate serve', 'wakes/s', 'cpu us'], row('without clients', alone), row(`beside ${clients} idle clients`, beside)]
}

const about = { clients, rounds, machine: machine(), node: process.version, ws: version('ws'), 'socket.io': version('socket.io') }
const limited = clients < Number(options.clients) ? ` (there are no more than ${descriptors()} descriptors)` : ''
console.log(`${clients} idle clients${limited}, ${rounds} rounds, medians`)
console.log(`Node.js ${about.node}, ws ${about.ws}, socket.io ${about['socket.io']}; ${about.machine}\n`)
const measured = await measureAll()
const results = Object.fromEntries(Object.entries(measured).map(([name, each]) => [name, medians(each)]))
console.log(table(figures(results)) + '\n')
const intake = await measureIntake()
console.log(table(intakeFigures(intake)) + '\n')
const goals = judge(measured, intake)
for (const { goal, limit, value, met, cpu } of goals)
  console.log(`${met ? 'met    ' : 'not met'}  ${goal}, ${limit}: ${value.toFixed(value < 100 ? 2 : 0)}${cpu ? ` (by cpu: ${cpu.toFixed(2)})` : ''}`)
const json = JSON.stringify({ ...about, results, intake, goals })
console.log('\n' + json)
if (options.json) fs.writeFileSync(options.json, json + '\n')
