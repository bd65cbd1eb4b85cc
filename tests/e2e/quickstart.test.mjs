// SPDX-License-Identifier: Apache-2.0
// deploy/quickstart, as a stranger runs it: it ends well, shows the three wakes, can be run twice, and
// stops what it started and nothing else.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { program, scratch } from './gateway.mjs'
import { until } from './until.mjs'

const script = new URL('../../deploy/quickstart', import.meta.url).pathname

async function quickstart(directory, ...words) {
  const child = spawn(script, words, { env: { PATH: process.env.PATH, WAKEGATE: program, XDG_STATE_HOME: directory }, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (text += chunk))
  const [code] = await once(child, 'exit')
  return { code, text }
}

const alive = pid => fs.existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))

test('quickstart: relayed, duplicate, refused; again; stop', async t => {
  const directory = scratch(t)
  const state = path.join(directory, 'wakegate-quickstart')
  const pid = name => Number(fs.readFileSync(path.join(state, `${name}.pid`), 'utf8'))
  t.after(() => quickstart(directory, 'stop'))

  const first = await quickstart(directory)
  assert.equal(first.code, 0, first.text)
  for (const word of [/relayed/, /duplicate/, /401/, /deploy\/quickstart stop/]) assert.match(first.text, word)
  const secret = fs.readFileSync(path.join(state, 'wake-secret'), 'utf8')
  assert.equal(first.text.includes(secret), false)
  assert.equal(fs.statSync(path.join(state, 'wake-secret')).mode & 0o077, 0)
  const firstPids = ['gateway', 'sink'].map(pid)
  for (const one of firstPids) assert.ok(alive(one))

  const second = await quickstart(directory)
  assert.equal(second.code, 0, second.text)
  for (const one of firstPids) assert.equal(alive(one), false, 'the earlier ones were stopped')
  const secondPids = ['gateway', 'sink'].map(pid)
  for (const one of secondPids) assert.ok(alive(one))

  const stopped = await quickstart(directory, 'stop')
  assert.equal(stopped.code, 0, stopped.text)
  await until(() => secondPids.every(one => !alive(one)), 'both are gone')

  // A pid file that names a stranger's process is left alone.
  fs.writeFileSync(path.join(state, 'gateway.pid'), `${process.pid}\n`)
  assert.equal((await quickstart(directory, 'stop')).code, 0)
})
