// SPDX-License-Identifier: Apache-2.0
// growth: what a gateway costs at rest (J5), and whether a wake costs more beside many ids, routes and
// connections (J6). Each gives { rows, goals, figures }.
import crypto from 'node:crypto'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { pause } from '../e2e/until.mjs'
import { median, medians } from './figures.mjs'
import { Process, descriptors } from './machinery.mjs'
import { requests, send, startRedis, startTarget, startWakegate } from './relays.mjs'

const crowd = Math.min(5000, descriptors() - 2000)
const manyRoutes = 10_000
const starts = 5
const restMs = 3000
const flat = 1.1 // two runs of the same thing differ by as much

/** What the others of J5 and J6 need. */
async function base(scratch) {
  const redis = await startRedis(scratch, `redis-${crypto.randomUUID().slice(0, 8)}`)
  const target = await startTarget(scratch)
  const end = async () => {
    redis.client.disconnect()
    await redis.process.end('SIGTERM')
    await target.process.end('SIGTERM')
  }
  return { redis, target, store: `redis+unix://${redis.socket}`, end }
}

// ---- J5

async function startOften(program, scratch, place) {
  const each = []
  for (let i = 0; i < starts; i++) {
    const server = await startWakegate(program, scratch, place)
    each.push({ readyMs: server.readyMs, mb: server.process.resident() / 1e6 })
    await server.process.end('SIGTERM')
  }
  return medians(each)
}

/** Memory and time with connections that had a wake each and then say nothing. */
async function rest({ program, load, scratch }, place) {
  const server = await startWakegate(program, scratch, place)
  const file = path.join(scratch, 'requests')
  requests.fresh(file, crowd)
  const words = [load, '-k', '-r', 2000, new URL(server.url).port, file, crowd]
  const held = new Process(words.map(String))
  await held.line()
  const before = server.process.busy()
  await pause(restMs)
  const percent = ((server.process.busy() - before) / restMs) * 100
  const mb = server.process.resident() / 1e6
  await held.end()
  await server.process.end('SIGTERM')
  return { mb, percent }
}

export async function idle(options) {
  const { program, scratch } = options
  const { target, store, end } = await base(scratch)
  const one = await startOften(program, scratch, { store, target: target.url })
  const many = await startOften(program, scratch, { store, target: target.url, routes: manyRoutes })
  const resting = await rest(options, { store, target: target.url })
  await end()
  const row = (name, { mb, readyMs, percent }) => [name, mb.toFixed(1), readyMs?.toFixed(0) ?? '-', percent?.toFixed(2) ?? '-']
  return {
    figures: { one, many, resting },
    rows: [['J5 idle', 'MB', 'ready after ms', 'cpu %'], row('1 route', one), row(`${manyRoutes} routes`, many), row(`${crowd} kept connections`, resting)],
    goals: [
      { goal: `J5: resident memory with ${crowd} connections, MB`, limit: 'under 60', value: resting.mb, met: resting.mb < 60 },
      { goal: 'J5: ready, ms after its start', limit: 'at most 50', value: one.readyMs, met: one.readyMs <= 50 }
    ]
  }
}

// ---- J6

const fillRedis = `
for i = 1, ARGV[1] do
  redis.call('SET', 'wakegate:1:{relay}:claim:target/' .. ARGV[2] .. i, 'R' .. ARGV[3] .. ' 0 0 0 0123456789abcdef', 'PX', 172800000)
end`
const fillPart = 50_000 // so many in one script

async function rememberInRedis(client, count) {
  for (let done = 0; done < count; done += fillPart)
    await client.eval(fillRedis, 0, Math.min(fillPart, count - done), `${crypto.randomUUID()}-`, Date.now())
}

const fillSqlite = `
import sqlite3, sys, time, uuid
now = int(time.time() * 1000)
db = sqlite3.connect(sys.argv[1])
rows = (("relay/target/%s" % uuid.uuid4(), 2, "0123456789abcdef", now, 0, now + 172800000, 0, 0) for _ in range(int(sys.argv[2])))
db.executemany("INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
db.commit()
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
`

async function rememberInSqlite(program, scratch, file, target, count) {
  const first = await startWakegate(program, scratch, { store: `sqlite:${file}`, target })
  await first.process.end('SIGTERM')
  execFileSync('python3', ['-c', fillSqlite, file, String(count)])
}

const few = 1000
const many = 1_000_000
const rate = 2000
const seconds = 2

/** The gateways, the first of each store being what the others of that store are held against. */
async function variants({ program, scratch }) {
  const [small, large] = [await base(scratch), await base(scratch)]
  const target = small.target.url
  const start = (store, routes) => startWakegate(program, scratch, { store, target, routes })
  const file = name => path.join(scratch, `${name}.db`)
  await rememberInRedis(large.redis.client, many)
  await rememberInSqlite(program, scratch, file('few'), target, few)
  await rememberInSqlite(program, scratch, file('many'), target, many)
  const reset = async () => {
    await small.redis.client.flushdb()
    await rememberInRedis(small.redis.client, few)
  }
  const first = await start(small.store, 1)
  const list = [
    { name: '1,000 ids, 1 route, 64 connections', server: first, reset, redis: small.redis },
    { name: '1,000,000 ids', server: await start(large.store, 1), redis: large.redis },
    { name: '100 routes', server: await start(small.store, 100), routes: 100, reset, redis: small.redis },
    { name: '10,000 routes', server: await start(small.store, manyRoutes), routes: manyRoutes, reset, redis: small.redis },
    { name: `${crowd} connections`, server: first, connections: crowd, reset, redis: small.redis },
    { name: 'SQLite, 1,000 ids', server: await start(`sqlite:${file('few')}`, 1), first: true },
    { name: 'SQLite, 1,000,000 ids', server: await start(`sqlite:${file('many')}`, 1) }
  ]
  const end = async () => {
    for (const server of new Set(list.map(one => one.server))) await server.process.end('SIGTERM')
    await small.end()
    await large.end()
  }
  return { list, end }
}

async function measure(load, scratch, { server, routes = 1, connections = 64, reset, redis }) {
  const file = path.join(scratch, 'requests')
  await reset?.()
  requests.fresh(file, rate * seconds, routes)
  const before = redis?.process.busy()
  const { cpuUs, p50_ms: p50Ms, p99_ms: p99Ms } = await send(load, server, file, { rate, connections })
  return { cpuUs, p50Ms, p99Ms, redisCpuUs: redis ? ((redis.process.busy() - before) * 1000) / (rate * seconds) : 0 }
}

export async function growth({ program, load, scratch, rounds }) {
  const { list, end } = await variants({ program, scratch })
  const each = list.map(() => [])
  for (let round = -1; round < rounds; round++) // the first one only warms up
    for (const [i, variant] of list.entries()) {
      const figures = await measure(load, scratch, variant)
      if (round >= 0) each[i].push(figures)
    }
  await end()
  const ofFirst = i => {
    const first = list[i].server && list.slice(0, i + 1).findLastIndex((one, at) => at === 0 || one.first)
    return median(each[i].map((one, round) => one.cpuUs / each[first][round].cpuUs))
  }
  const row = (name, i) => {
    const of = medians(each[i])
    return [name, of.cpuUs.toFixed(1), ofFirst(i).toFixed(2), of.redisCpuUs ? of.redisCpuUs.toFixed(1) : '-', of.p50Ms.toFixed(2), of.p99Ms.toFixed(2)]
  }
  return {
    figures: Object.fromEntries(list.map(({ name }, i) => [name, medians(each[i])])),
    rows: [[`J6 growth, ${rate} wakes/s`, 'cpu us', 'of the first', 'Redis cpu us', 'p50 ms', 'p99 ms'], ...list.map(({ name }, i) => row(name, i))],
    goals: list.flatMap(({ name, first }, i) => (i === 0 || first ? [] : [{ goal: `J6: processor time of a wake, ${name}`, limit: `at most ${flat}`, value: ofFirst(i), met: ofFirst(i) <= flat }]))
  }
}
