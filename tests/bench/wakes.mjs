// SPDX-License-Identifier: Apache-2.0
// wakes: what a wake costs: wakegate beside Node.js and nginx doing the same job, in turns. Prints a
// table of medians, which goals are met, and the same as JSON. Speed is told, not asserted: it fails
// only when something does not work.
//
//   node wakes.mjs --build <directory> [--rounds 3] [--seconds 2] [--json <file>] [--only jobs|growth]
//
//   J1 refuse     forged signatures, answered 401; the limit beside it is nginx with `return 202`
//   J2 duplicate  a genuine wake whose id was relayed before: verify, decode, one look-up, 200
//   J3 relay      a new wake: verify, claim in Redis, post to a local target, settle, answer
//   J4 embedded   J3 with SQLite in place of Redis
//   J5 idle       memory and time with 5,000 kept connections and with 10,000 routes; time to ready
//   J6 growth     J3 with many ids, many routes, many connections
//
// Each job is first run as fast as it goes over 64 kept connections ("closed loop"), then by all at
// one rate, half of what the best peer reached in that round.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { median, medians, table } from './figures.mjs'
import { idle, growth } from './growth.mjs'
import { machine, version } from './machinery.mjs'
import { newIds, requests, send, startLimit, startPeer, startRedis, startTarget, startWakegate } from './relays.mjs'

const { values: options } = parseArgs({
  options: {
    build: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string' },
    json: { type: 'string' }
  }
})
const program = path.join(options.build, 'wakegate')
const load = path.join(options.build, 'tests', 'wakes')
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const known = 2000 // ids that were relayed before the duplicates come
const counts = { refuse: 60_000, duplicate: 60_000, relay: 40_000, embedded: 40_000 }
const leastRate = 100
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'wakegate-bench-'))
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }))
const inScratch = name => path.join(scratch, name)

// ---- the servers

const peerNames = { 'Node http': ['http', 1], 'Node http, 2': ['http', 2], Fastify: ['fastify', 1], 'Fastify, 2': ['fastify', 2] }

async function startAll() {
  const redis = await startRedis(scratch, 'redis')
  const target = await startTarget(scratch)
  const limit = await startLimit(scratch)
  const store = `redis+unix://${redis.socket}`
  const wakegate = await startWakegate(program, scratch, { store, target: target.url })
  const embedded = await startWakegate(program, scratch, { store: `sqlite:${inScratch('wakegate.db')}`, target: target.url })
  const peers = {}
  for (const [name, [framework, workers]] of Object.entries(peerNames))
    peers[name] = await startPeer(framework, workers, { socket: redis.socket, target: target.url })
  return { redis, target, limit, wakegate, embedded, peers }
}

/** Who does which job, and how. `prepare` comes before each run of a server. */
function jobsOf({ redis, limit, wakegate, embedded, peers }) {
  const forget = () => redis.client.flushdb()
  const file = inScratch('requests')
  const ids = newIds(known)
  return {
    refuse: {
      servers: { wakegate, 'nginx, return 202': limit },
      status: name => (name === 'wakegate' ? 401 : 202),
      write: count => requests.forged(file, count),
      prepare: () => {}
    },
    duplicate: {
      redis: redis.process,
      servers: { wakegate, ...peers },
      write: count => {
        requests.repeated(inScratch('first'), known, ids)
        requests.repeated(file, count, ids)
      },
      prepare: async server => {
        await forget()
        await send(load, server, inScratch('first'))
      }
    },
    relay: { redis: redis.process, servers: { wakegate, ...peers }, write: count => requests.fresh(file, count), prepare: forget },
    embedded: { servers: { 'wakegate, SQLite': embedded }, write: count => requests.fresh(file, count), prepare: () => {} }
  }
}

async function run(job, name, rate) {
  const server = job.servers[name]
  await job.prepare(server)
  const before = job.redis?.busy()
  const figures = await send(load, server, inScratch('requests'), { status: job.status?.(name), seconds, rate })
  return { ...figures, redisCpuUs: job.redis ? ((job.redis.busy() - before) * 1000) / figures.answers : 0 }
}

const isOurs = name => name.startsWith('wakegate')

/** One round of one job: each server as fast as it goes, then each at the same rate. */
async function measure(job, count, rateOf) {
  const names = Object.keys(job.servers)
  const closed = {}
  const fixed = {}
  job.write(count)
  for (const name of names) closed[name] = await run(job, name)
  const rate = rateOf(closed)
  for (const name of names) {
    job.write(rate * seconds) // signed anew, and for a store that does not forget with new ids
    fixed[name] = await run(job, name, rate)
  }
  const figures = name => ({ ...closed[name], rate, ratedCpuUs: fixed[name].cpuUs, ratedP50Ms: fixed[name].p50_ms, ratedP99Ms: fixed[name].p99_ms })
  return Object.fromEntries(names.map(name => [name, figures(name)]))
}

async function measureAll(jobs) {
  const each = Object.fromEntries(Object.entries(jobs).map(([job, { servers }]) => [job, Object.fromEntries(Object.keys(servers).map(name => [name, []]))]))
  for (let round = 0; round < rounds; round++) {
    const rates = {}
    for (const [name, job] of Object.entries(jobs)) {
      const rateOf = closed => {
        const others = Object.entries(closed).filter(([server]) => !isOurs(server))
        rates[name] = Math.max(leastRate, Math.round(Math.max(...others.map(([, of]) => of.perSecond), 0) / 2)) // nobody else: that of J3
        return others.length > 0 ? rates[name] : rates.relay
      }
      for (const [server, figures] of Object.entries(await measure(job, counts[name], rateOf))) each[name][server].push(figures)
    }
  }
  return each
}

// ---- what is told of it

function judge(each) {
  const rows = []
  const goal = (text, limit, value, met) => rows.push({ goal: text, limit, value, met })
  const byRound = of => Array.from({ length: rounds }, (_, round) => of(round))
  const ofNginx = byRound(i => each.refuse.wakegate[i].perSecond / each.refuse['nginx, return 202'][i].perSecond)
  goal('J1: wakes a second, of nginx', 'at least 0.6', median(ofNginx), median(ofNginx) >= 0.6)
  for (const [job, name, least] of [['duplicate', 'J2', 5], ['relay', 'J3', 4]]) {
    const best = (round, key, pick) => pick(...Object.keys(peerNames).map(peer => each[job][peer][round][key]))
    const own = (round, key) => each[job].wakegate[round][key]
    const speed = median(byRound(i => own(i, 'perSecond') / best(i, 'perSecond', Math.max)))
    goal(`${name}: wakes a second, of the best peer`, `at least ${least}`, speed, speed >= least)
    const p99 = median(byRound(i => own(i, 'ratedP99Ms') / best(i, 'ratedP99Ms', Math.min)))
    goal(`${name}: p99 at one rate, of the best peer`, 'below 1', p99, p99 < 1)
    const cpu = median(byRound(i => own(i, 'cpuUs') / best(i, 'cpuUs', Math.min)))
    goal(`${name}: processor time of a wake, as fast as it goes, of the best peer`, 'at most 0.25', cpu, cpu <= 0.25)
    const rated = median(byRound(i => own(i, 'ratedCpuUs') / best(i, 'ratedCpuUs', Math.min)))
    goal(`${name}: processor time of a wake at one rate, of the best peer`, 'at most 0.25', rated, rated <= 0.25)
  }
  const resident = median(each.relay.wakegate.map(one => one.residentMb))
  goal('J3: resident memory, MB', 'under 16', resident, resident < 16)
  return rows
}

const jobNames = { refuse: 'J1 refuse', duplicate: 'J2 duplicate', relay: 'J3 relay', embedded: 'J4 embedded' }

function figures(results) {
  const rows = [['', 'wakes/s', 'ratio', 'p99 ms', 'cpu us', 'Redis', 'MB', 'rate', 'p50 ms', 'p99 ms', 'cpu us']]
  for (const [job, servers] of Object.entries(results)) {
    const base = Object.values(servers)[0]
    for (const [name, of] of Object.entries(servers))
      rows.push([
        `${jobNames[job]}, ${name}`,
        of.perSecond.toFixed(0),
        (of.perSecond / base.perSecond).toFixed(2),
        of.p99_ms.toFixed(2),
        of.cpuUs.toFixed(1),
        of.redisCpuUs ? of.redisCpuUs.toFixed(1) : '-',
        of.residentMb.toFixed(1),
        of.rate.toFixed(0),
        of.ratedP50Ms.toFixed(2),
        of.ratedP99Ms.toFixed(2),
        of.ratedCpuUs.toFixed(1)
      ])
  }
  return rows
}

const said = (...words) => execFileSync('sh', ['-c', `${words.join(' ')} 2>&1`], { encoding: 'utf8' }).trim()
const about = {
  rounds,
  machine: machine(),
  wakegate: said(program, '--version').split('\n')[0],
  node: process.version,
  undici: version('undici'),
  ioredis: version('ioredis'),
  fastify: version('fastify'),
  nginx: said('nginx', '-v').split('/')[1],
  redis: /v=(\S+)/.exec(said('redis-server', '--version'))[1]
}
console.log(`${rounds} rounds, medians; 64 connections; ${about.machine}`)
console.log(`${about.wakegate}; Node.js ${about.node}, undici ${about.undici}, ioredis ${about.ioredis}, fastify ${about.fastify}; nginx ${about.nginx}; Redis ${about.redis}\n`)
const report = { ...about, goals: [] }

if (options.only !== 'growth') {
  const servers = await startAll()
  const each = await measureAll(jobsOf(servers))
  for (const { process: server } of [servers.wakegate, servers.embedded, servers.limit, ...Object.values(servers.peers)]) await server.end('SIGTERM')
  servers.redis.client.disconnect()
  await servers.redis.process.end('SIGTERM')
  await servers.target.process.end('SIGTERM')
  report.jobs = Object.fromEntries(Object.entries(each).map(([job, of]) => [job, Object.fromEntries(Object.entries(of).map(([name, all]) => [name, medians(all)]))]))
  report.goals.push(...judge(each))
  console.log(table(figures(report.jobs)) + '\n')
}
if (options.only !== 'jobs') {
  const place = { program, load, scratch, rounds }
  for (const part of [await idle(place), await growth(place)]) {
    console.log(table(part.rows) + '\n')
    report.goals.push(...part.goals)
  }
}
for (const { goal, limit, value, met } of report.goals) console.log(`${met ? 'met    ' : 'not met'}  ${goal}, ${limit}: ${value.toFixed(2)}`)
console.log('\n' + JSON.stringify(report))
if (options.json) fs.writeFileSync(options.json, JSON.stringify(report) + '\n')
