// SPDX-License-Identifier: Apache-2.0
// rooms: many idle WebSocket clients on one process, then one envelope to all of them; wakegate's
// Socket.IO server beside npm ws and npm socket.io, in turns. Prints a table of medians, the same as
// JSON, and which goals are met: speed is told, not asserted; it fails when something does not work.
//
//   node rooms.mjs --build <directory> [--clients 10000] [--rounds 5] [--json <file>]
//
// A WebSocket client is in when its handshake was answered; a Socket.IO client when it has been told
// its session and its CONNECT to "/" was answered too. Memory is what the server's resident set grew
// by from before the clients until they are idle. "cpu" is the server's own, kernel included.
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { pause } from '../e2e/until.mjs'
import { medians, table } from './figures.mjs'
import { Crowd, Process, descriptors, machine, version } from './machinery.mjs'

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
const envelopes = 3
const settleMs = 2000
const firstClients = 100 // they come and go before anything is measured

const engine = { path: '/engine.io/?EIO=4&transport=websocket', speaks: 'ws' }
const socketio = { path: '/socket.io/?EIO=4&transport=websocket', speaks: 'socketio' }
const app = [own('socketio_app'), '--connections', '50000']
const servers = [
  { name: 'wakegate, WebSocket', words: app, ...engine, silent: true },
  { name: 'wakegate, Socket.IO', words: app, ...socketio },
  { name: 'ws', words: [process.execPath, here('ws_server.mjs')], path: '/', speaks: 'ws' },
  { name: 'socket.io', words: [process.execPath, here('socketio_server.mjs')], ...socketio }
]

async function visit(server, url) {
  const crowd = new Crowd(own('crowd'), url, server, firstClients)
  await crowd.gathered()
  await crowd.leave()
  await pause(settleMs / 4)
}

async function tellAll(crowd, process) {
  const told = []
  for (let i = 0; i < envelopes; i++) {
    const before = process.busy()
    const { last_ms: ms } = await crowd.tell()
    told.push({ lastMs: ms, tellCpuUs: ((process.busy() - before) * 1000) / clients })
    await pause(settleMs / 10)
  }
  return medians(told)
}

async function measure(server) {
  const process = new Process(server.words)
  const url = await process.line()
  await visit(server, url)
  const before = { bytes: process.resident(), ms: process.busy() }
  const crowd = new Crowd(own('crowd'), url, server, clients)
  const { ms } = await crowd.gathered()
  const cpu = process.busy() - before.ms
  await pause(settleMs)
  const bytes = process.resident() - before.bytes
  const told = server.silent ? {} : await tellAll(crowd, process)
  await crowd.leave()
  await process.end()
  return { perSecond: (clients * 1000) / ms, connectCpuUs: (cpu * 1000) / clients, bytesPerClient: bytes / clients, ...told }
}

/** Each server in each round, so that what else the machine does falls on all alike. */
async function measureAll() {
  const measured = new Map(servers.map(server => [server.name, []]))
  for (let round = 0; round < rounds; round++) for (const server of servers) measured.get(server.name).push(await measure(server))
  return Object.fromEntries([...measured].map(([name, each]) => [name, medians(each)]))
}

function judge(results) {
  const { ws, 'wakegate, WebSocket': bare, 'wakegate, Socket.IO': room } = results
  const goal = (what, value, limit, met) => ({ goal: what, value, limit, met })
  const most = (what, value, limit) => goal(what, value, limit, value <= limit)
  const least = (what, value, limit) => goal(what, value, limit, value >= limit)
  return [
    most('bytes of user memory per idle Socket.IO client, at most', room.bytesPerClient, 2048),
    least("connects per second, WebSocket, of ws's, at least", bare.perSecond / ws.perSecond, 3),
    most("last receipt, of ws's, at most", room.lastMs / ws.lastMs, 0.75)
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
      number(of.tellCpuUs, 1)
    ])
  ]
}

const about = { clients, rounds, machine: machine(), node: process.version, ws: version('ws'), 'socket.io': version('socket.io') }
const limited = clients < Number(options.clients) ? ` (descriptors allow no more: ${descriptors()})` : ''
console.log(`${clients} idle clients${limited}, ${rounds} rounds, medians`)
console.log(`Node.js ${about.node}, ws ${about.ws}, socket.io ${about['socket.io']}; ${about.machine}\n`)
const results = await measureAll()
const goals = judge(results)
console.log(table(figures(results)) + '\n')
for (const { goal, value, limit, met } of goals)
  console.log(`${met ? 'met    ' : 'not met'}  ${goal} ${limit}: ${value.toFixed(limit < 100 ? 2 : 0)}`)
console.log('not run  wake intake beside idle clients: the program has no rooms yet')
const json = JSON.stringify({ ...about, results, goals })
console.log('\n' + json)
if (options.json) fs.writeFileSync(options.json, json + '\n')
