// SPDX-License-Identifier: Apache-2.0
// machinery: the processes of a benchmark, each started here and ended here by its own id; what
// they cost, as the kernel counts it; what they run on.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { request } from '../e2e/http.mjs'
import { until } from '../e2e/until.mjs'
import { framed, handle, newWake, secret } from '../e2e/wakes.mjs'

/** How many descriptors a process here may have. */
export const descriptors = () => {
  const hard = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim()
  return hard === 'unlimited' ? Infinity : Number(hard)
}

export const machine = () => `${os.cpus().length} x ${os.cpus()[0].model.trim()}, Linux ${os.release()}, load ${os.loadavg()[0].toFixed(2)}`

/** The version of a package of this directory. */
export const version = name => JSON.parse(fs.readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version

const sum = numbers => numbers.reduce((all, number) => all + number, 0)
const threads = pid => fs.readdirSync(`/proc/${pid}/task`).map(task => `/proc/${pid}/task/${task}`)
const words = file => fs.readFileSync(file, 'utf8').split(' ').filter(Boolean)

/** A process and those that it started. */
const family = pid => [pid, ...threads(pid).flatMap(thread => words(`${thread}/children`).flatMap(child => family(Number(child))))]
const tasks = pid => family(pid).flatMap(threads)

process.setMaxListeners(100) // one for each process that is to be ended

/** A process that tells lines and is ended by closing its input, or with a signal. */
export class Process {
  constructor(words, env = {}, stderr = 'inherit') {
    this.name = words.map(word => path.basename(word)).join(' ')
    this.child = spawn(words[0], words.slice(1), { stdio: ['pipe', 'pipe', stderr], env: { ...process.env, ...env } })
    const kill = () => this.child.exitCode ?? this.child.kill()
    process.on('exit', kill)
    this.over = once(this.child, 'exit').finally(() => process.off('exit', kill))
    this.lines = readline.createInterface({ input: this.child.stdout })[Symbol.asyncIterator]()
  }

  /** Its next line. */
  async line() {
    const { value, done } = await this.lines.next()
    if (done) throw new Error(`${this.name} ended`)
    return value
  }

  say(line) {
    this.child.stdin.write(line + '\n')
  }

  /** The bytes of its memory that are in RAM; memory that processes share counts once. */
  resident() {
    const pids = family(this.child.pid)
    const field = pids.length > 1 ? 'Pss' : 'Rss'
    return sum(pids.map(pid => Number(new RegExp(`^${field}: +(\\d+) kB`, 'm').exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]))) * 1024
  }

  /** The time that its threads have had a processor, in ms. */
  busy() {
    return sum(tasks(this.child.pid).map(task => Number(fs.readFileSync(`${task}/schedstat`, 'utf8').split(' ')[0]))) / 1e6
  }

  async end(signal) {
    this.child.stdin.end()
    if (signal) this.child.kill(signal)
    const [code] = await this.over
    if (code !== 0) throw new Error(`${this.name} ended with ${code}`)
  }
}

/** A server that prints where it listens: { process, url }. */
export async function startServer(words, env) {
  const process = new Process(words, env)
  return { process, url: await process.line() }
}

export async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

const secrets = { told: `${secret}-told`, aside: `${secret}-aside` }

const stored = (thread, variable) => ({
  dialect: 'agentchat',
  handle,
  secrets: [{ env: variable }],
  target: { room: { thread, accept: 'stored' } }
})

export function ready(url) {
  const isReady = () => request(`${url}/readyz`, { method: 'GET' }).then(answer => answer.status === 200, () => false)
  return until(isReady, 'the gateway is ready')
}

/** The program itself, with room for so many clients: { process, url }. A wake to the route `told`
 * goes to the thread that they join, one to `aside` to a thread that they do not. */
export async function startGateway(program, directory, clients) {
  const url = `http://127.0.0.1:${await freePort()}`
  const file = path.join(directory, 'wakegate.json')
  const config = {
    listen: url.slice('http://'.length),
    store: `sqlite:${path.join(fs.mkdtempSync(path.join(directory, 'store-')), 'wakegate.db')}`,
    log_level: 'warn',
    drain: '0',
    max_connections: clients + 1000,
    connections_per_address: clients,
    rooms: { anonymous: { threads: ['wakes'], rights: ['read'] }, origins: ['*'], max_clients: clients },
    routes: { told: stored('wakes', 'BENCH_TOLD'), aside: stored('aside', 'BENCH_ASIDE') }
  }
  fs.writeFileSync(file, JSON.stringify(config))
  const process = new Process([program, 'serve', '--config', file], { BENCH_TOLD: secrets.told, BENCH_ASIDE: secrets.aside })
  await ready(url)
  return { process, url }
}

const signed = route => framed('agentchat', newWake(), { secret: secrets[route] })

/** One wake to the thread of the clients. */
export async function sendWake(url) {
  const answer = await request(`${url}/wake/told`, signed('told'))
  if (answer.status !== 200) throw new Error(`the wake was answered ${answer.status} ${answer.text}`)
}

/** A file for the program `wakes`: what `make` gives for each number: { path, headers, body }. */
export function writeRequests(file, count, make) {
  const texts = Array.from({ length: count }, (_, i) => {
    const { path: where, headers, body } = make(i)
    const fields = { host: 'localhost', ...headers, 'content-length': Buffer.byteLength(body) }
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    const text = `POST ${where} HTTP/1.1\r\n${head.join('')}\r\n${body}`
    return `${Buffer.byteLength(text)}\n${text}`
  })
  fs.writeFileSync(file, texts.join(''))
}

/** Wakes to the other thread, each with an id of its own. */
export const writeWakes = (file, count) => writeRequests(file, count, () => ({ path: '/wake/aside', ...signed('aside') }))

/** Idle clients of a server. */
export class Crowd {
  constructor(program, url, { path: where, speaks }, count) {
    this.process = new Process([program, new URL(url).port, where, speaks, String(count)])
  }

  async gathered() {
    return JSON.parse(await this.process.line())
  }

  /** One of them sends an envelope to all; with `send` something else lets the server do that. */
  async told(send) {
    this.process.say(send ? 'expect' : 'tell')
    if (send) {
      await this.process.line()
      await send()
    }
    return JSON.parse(await this.process.line())
  }

  leave() {
    return this.process.end()
  }
}
