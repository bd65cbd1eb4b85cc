// SPDX-License-Identifier: Apache-2.0
// budget: how many instructions a wake takes in user space, counted by callgrind, by the object in
// which they are. One connection with one request under way, so that runs are alike. It fails when
// wakegate's own part of a job is more than 3 % over the figure in budget.json; the libraries' parts
// differ between processors and are only told. With another compiler than that of the figures
// everything is only told.
//
//   node budget.mjs --build <directory> [--update] [--functions <job>]
//
// --update writes what was counted into budget.json. --functions tells the costliest functions too.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { table } from './figures.mjs'
import { newIds, requests, send, startRedis, startTarget, startWakegate } from './relays.mjs'

const { values: options } = parseArgs({
  options: { build: { type: 'string' }, update: { type: 'boolean' }, functions: { type: 'string' } }
})
const program = path.join(options.build, 'wakegate')
const load = path.join(options.build, 'tests', 'wakes')
const wakes = 400
const warmUp = 100 // before anything is counted
const slack = 0.03
const own = 'wakegate'
const told = 40 // functions
const committed = new URL('budget.json', import.meta.url)
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'wakegate-budget-'))
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }))

const jobs = {
  refuse: { status: 401, write: (file, count) => requests.forged(file, count) },
  duplicate: { status: 200, write: (file, count, ids) => requests.repeated(file, count, ids), known: true },
  relay: { status: 200, write: (file, count) => requests.fresh(file, count) }
}

// ---- counting

/** The instructions of a profile, by object and by function, without those of what they called. */
function readProfile(file) {
  const objects = {}
  const functions = {}
  let object, fn
  let called = false
  const spaces = { ob: new Map(), fn: new Map() }
  for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
    const key = /^(ob|cob|fn|cfn|fl|fi|fe|cfi|cfl)=(\(\d+\).*)$/.exec(line)
    if (key) {
      const space = key[1].endsWith('ob') ? spaces.ob : key[1].endsWith('fn') ? spaces.fn : null
      if (!space) continue
      const [, id, name] = /^\((\d+)\)(?: (.*))?$/.exec(key[2])
      if (name !== undefined) space.set(id, name)
      if (key[1] === 'ob') object = path.basename(space.get(id)).replace(/\.so.*$/, '')
      if (key[1] === 'fn') fn = space.get(id)
    } else if (line.startsWith('calls=')) {
      called = true
    } else if (/^[+\-*\d]/.test(line)) {
      const cost = Number(line.split(' ')[1])
      if (!called) {
        objects[object] = (objects[object] ?? 0) + cost
        const whole = `${object}: ${fn}`
        functions[whole] = (functions[whole] ?? 0) + cost
      }
      called = false
    }
  }
  return { objects, functions }
}

const dump = pid => execFileSync('callgrind_control', ['--dump', String(pid)], { stdio: 'ignore', timeout: 60_000 })

async function count(name, { status, write, known }, place) {
  const out = path.join(scratch, `${name}.out`)
  const valgrind = ['valgrind', '-q', '--tool=callgrind', `--callgrind-out-file=${out}`]
  const server = await startWakegate([...valgrind, program], scratch, place)
  const file = path.join(scratch, 'requests')
  const ids = newIds(warmUp)
  const lockStep = { connections: 1, status }
  if (known) {
    requests.repeated(file, warmUp, ids)
    await send(load, server, file, { connections: 1 })
  }
  write(file, warmUp, ids)
  await send(load, server, file, lockStep)
  dump(server.process.child.pid)
  write(file, wakes, ids)
  await send(load, server, file, lockStep)
  dump(server.process.child.pid)
  const profile = readProfile(`${out}.2`)
  await server.process.end('SIGTERM')
  return profile
}

// ---- what is told of it

const perWake = instructions => Math.round(instructions / wakes)
const bySize = of => Object.entries(of).sort((a, b) => b[1] - a[1])
const total = of => Object.values(of).reduce((sum, one) => sum + one, 0)

const redis = await startRedis(scratch, 'redis')
const target = await startTarget(scratch)
const place = { store: `redis+unix://${redis.socket}`, target: target.url }
const profiles = {}
for (const [name, job] of Object.entries(jobs)) if (!options.functions || name === options.functions) profiles[name] = await count(name, job, place)
redis.client.disconnect()
await redis.process.end('SIGTERM')
await target.process.end('SIGTERM')

const figures = Object.fromEntries(Object.entries(profiles).map(([job, { objects }]) => [job, Object.fromEntries(bySize(objects).map(([name, cost]) => [name, perWake(cost)]))]))
const objects = [...new Set(Object.values(figures).flatMap(Object.keys))]
const rows = [
  ['instructions a wake', ...Object.keys(figures)],
  ...objects.map(name => [name, ...Object.values(figures).map(of => String(of[name] ?? 0))]),
  ['all', ...Object.values(figures).map(of => String(total(of)))]
]
console.log(table(rows) + '\n')
for (const { functions } of options.functions ? Object.values(profiles) : [])
  for (const [name, cost] of bySize(functions).slice(0, told)) console.log(`${String(perWake(cost)).padStart(7)}  ${name}`)

const compiler = execFileSync('cc', ['-dumpfullversion'], { encoding: 'utf8' }).trim()
if (options.update) {
  const kept = Object.fromEntries(Object.entries(figures).map(([job, of]) => [job, of[own]]))
  fs.writeFileSync(committed, JSON.stringify({ compiler, ...kept }, null, 2) + '\n')
} else if (!options.functions) {
  const { compiler: theirs, ...budget } = JSON.parse(fs.readFileSync(committed))
  if (compiler !== theirs) console.log(`not held against budget.json, which was made with version ${theirs} of the compiler; this is ${compiler}`)
  for (const [job, limit] of Object.entries(compiler === theirs ? budget : {})) {
    const change = figures[job][own] / limit - 1
    const over = change > slack
    console.log(`${over ? 'FAILED' : 'ok    '}  ${job}: ${figures[job][own]} of wakegate's own, ${(change * 100).toFixed(1)} % from the ${limit} of budget.json`)
    if (over) process.exitCode = 1
  }
}
