// SPDX-License-Identifier: Apache-2.0
// relays: the servers that do the same job, each started here and ended by its own id: wakegate, the
// peers on Node, and what all of them lean on: one Redis on a unix socket, and nginx as the target,
// which answers 200. Also the wakes that they are sent.
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { framed, handle, newWake, secret } from '../e2e/wakes.mjs'
import { until } from '../e2e/until.mjs'
import { Redis } from 'ioredis'
import { Process, freePort, ready, startServer, writeRequests } from './machinery.mjs'

const targetSecret = 'bench-target-secret-0123456789abcdef'
const secrets = { BENCH_SECRET: secret, BENCH_TARGET_SECRET: targetSecret }

/** A redis-server that keeps nothing on disk: { process, socket, client }. */
export async function startRedis(directory, name) {
  const socket = path.join(directory, `${name}.sock`)
  const words = ['redis-server', '--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no', '--dir', directory]
  const process = new Process(words, {}, 'ignore')
  process.child.stdout.resume()
  await until(() => fs.existsSync(socket), 'redis-server listens')
  return { process, socket, client: new Redis({ path: socket }) }
}

/** nginx in one process that answers everything with `answer`: { process, url }. */
export async function startNginx(directory, name, answer) {
  const port = await freePort()
  const file = path.join(directory, `${name}.conf`)
  const config = `
daemon off;
master_process off;
pid ${directory}/${name}.pid;
error_log /dev/null;
worker_rlimit_nofile 20000;
events { worker_connections 12000; }
http {
  access_log off;
  keepalive_requests 100000000;
  keepalive_timeout 600s;
  client_body_temp_path ${directory}/${name}-body;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / { ${answer} }
  }
}
`
  fs.writeFileSync(file, config)
  const process = new Process(['nginx', '-e', '/dev/null', '-p', directory, '-c', file], {}, 'ignore')
  const url = `http://127.0.0.1:${port}`
  await until(() => fetch(url, { method: 'POST' }).then(reply => reply.ok, () => false), 'nginx answers')
  return { process, url }
}

const targets = {
  nothing: 'return 202;',
  accepting: 'default_type application/json; return 200 "{\\"status\\":\\"accepted\\"}";'
}
export const startTarget = directory => startNginx(directory, 'target', targets.accepting)
export const startLimit = directory => startNginx(directory, 'limit', targets.nothing)

export const routeName = (number, count) => (count === 1 ? 'relay' : `relay-${number}`)

/** The config of a gateway whose `routes` routes all go to the target. */
function configOf(listen, store, target, routes) {
  const route = {
    dialect: 'agentchat',
    handle,
    secrets: [{ env: 'BENCH_SECRET' }],
    target: { trigger: { id: 'target', dialect: 'agentchat', url: target, secret: { env: 'BENCH_TARGET_SECRET' }, private: true } }
  }
  const names = Array.from({ length: routes }, (_, i) => routeName(i, routes))
  return {
    listen,
    store,
    drain: '0',
    connections_per_address: 10000,
    routes: Object.fromEntries(names.map(name => [name, route]))
  }
}

/** The program, a word or several, with its log at its usual level going to /dev/null: { process, url, readyMs }. */
export async function startWakegate(program, directory, { store, target, routes = 1 }) {
  const url = `http://127.0.0.1:${await freePort()}`
  const file = path.join(directory, `wakegate-${crypto.randomUUID()}.json`)
  fs.writeFileSync(file, JSON.stringify(configOf(url.slice('http://'.length), store, target, routes)))
  const began = performance.now()
  const process = new Process([...[program].flat(), 'serve', '--config', file], secrets, 'ignore')
  await ready(url)
  return { process, url, readyMs: performance.now() - began }
}

export function startPeer(framework, workers, { socket, target }) {
  const file = new URL('relay_server.mjs', import.meta.url).pathname
  const options = { framework, workers, redis: socket, target }
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  return startServer([process.execPath, file, ...words], { ...secrets, NODE_ENV: 'production' })
}

// ---- wakes

const signedTo = (where, wake, options) => ({ path: where, ...framed('agentchat', wake, { secret, ...options }) })

/** Files of requests, signed in advance, no two alike. */
export const requests = {
  /** Each with an id of its own, to each route in turn. */
  fresh(file, count, routes = 1) {
    writeRequests(file, count, i => signedTo(`/wake/${routeName(i % routes, routes)}`, newWake()))
  },
  /** The same ids again and again. Returns them. */
  repeated(file, count, ids) {
    writeRequests(file, count, i => signedTo('/wake/relay', newWake({ delivery_id: ids[i % ids.length], summary: `Look number ${i}.` })))
  },
  forged(file, count) {
    writeRequests(file, count, () => signedTo('/wake/relay', newWake(), { secret: 'another-secret-0123456789abcdef' }))
  }
}

export const newIds = count => Array.from({ length: count }, () => crypto.randomUUID())

/** Sends the requests of a file; `busy` is the process whose time counts. The figures of one run. */
export async function send(program, { process: server, url }, file, { connections = 64, status = 200, seconds = 60, rate } = {}) {
  const words = [program, '-s', status, '-t', seconds, ...(rate ? ['-r', rate] : []), new URL(url).port, file, connections]
  const before = server.busy()
  const load = new Process(words.map(String))
  const { answers, ms, ...latency } = JSON.parse(await load.line())
  const cpuUs = ((server.busy() - before) * 1000) / answers
  await load.end()
  return { answers, perSecond: (answers * 1000) / ms, cpuUs, residentMb: server.resident() / 1e6, ...latency }
}
