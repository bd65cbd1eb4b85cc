// SPDX-License-Identifier: Apache-2.0
// deploy/quickstart, as a stranger runs it: it ends well, shows the three wakes, can be run twice, keeps
// what was edited, and stops what it started and nothing else.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { program, report } from './gateway.mjs'
import { until } from './until.mjs'

const script = new URL('../../deploy/quickstart', import.meta.url).pathname

async function quickstart(directory, ...words) {
  const child = spawn(script, words, { env: { PATH: process.env.PATH, WAKEGATE: program, XDG_STATE_HOME: directory }, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (text += chunk))
  const [code] = await once(child, 'exit')
  return { code, text }
}

/** A directory of the test's own; what was started there ends before it is removed. */
function place(t) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'wakegate-e2e-'))
  t.after(async () => {
    await quickstart(directory, 'stop')
    for (const name of ['gateway.log', 'sink.log']) {
      const log = path.join(directory, 'wakegate-quickstart', name)
      if (fs.existsSync(log)) assert.doesNotMatch(fs.readFileSync(log, 'utf8'), report)
    }
    fs.rmSync(directory, { recursive: true, force: true })
  })
  return directory
}

const alive = pid => fs.existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))

test('quickstart: relayed, duplicate, refused; again; stop', async t => {
  const directory = place(t)
  const state = path.join(directory, 'wakegate-quickstart')
  const pid = name => Number(fs.readFileSync(path.join(state, `${name}.pid`), 'utf8'))

  const first = await quickstart(directory)
  assert.equal(first.code, 0, first.text)
  for (const word of [/relayed/, /duplicate/, /401/, /deploy\/quickstart stop/]) assert.match(first.text, word)
  const secret = fs.readFileSync(path.join(state, 'wake-secret'), 'utf8')
  assert.equal(first.text.includes(secret), false)
  assert.equal(fs.statSync(path.join(state, 'wake-secret')).mode & 0o077, 0)
  const firstPids = ['gateway', 'sink'].map(pid)
  for (const one of firstPids) assert.ok(alive(one))

  assert.match(first.text, /wakegate serve --config /)

  // Edited: another handle, one more route; a second run keeps that, the secrets, the ports, the logs.
  const config = path.join(state, 'wakegate.json')
  const edited = JSON.parse(fs.readFileSync(config, 'utf8'))
  edited.routes.demo.handle = '@my-own-agent'
  edited.grace = '3s'
  fs.writeFileSync(config, JSON.stringify(edited, null, 4))
  const contents = name => fs.readFileSync(path.join(state, name), 'utf8')
  const before = ['wakegate.json', 'wake-secret', 'runtime-token'].map(contents)
  const logs = ['gateway.log', 'sink.log'].map(contents)
  fs.rmSync(path.join(state, 'forger-secret'))

  const second = await quickstart(directory)
  assert.equal(second.code, 0, second.text)
  assert.match(second.text, /kept as it is: wakegate\.json/)
  assert.match(second.text, /made: forger-secret/)
  assert.doesNotMatch(second.text, /made: w/)
  assert.match(second.text, /relayed[^]*duplicate[^]*401/)
  assert.match(second.text, new RegExp(`listens at http://${edited.listen}\n`))
  assert.deepEqual(['wakegate.json', 'wake-secret', 'runtime-token'].map(contents), before)
  for (const [at, name] of ['gateway.log', 'sink.log'].entries()) {
    assert.ok(contents(name).startsWith(logs[at]), `${name} goes on`)
    assert.ok(contents(name).length > logs[at].length)
  }
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

test('quickstart with a config that leads to a real runtime: the gateway runs, nothing is sent', async t => {
  const directory = place(t)
  const state = path.join(directory, 'wakegate-quickstart')
  const config = path.join(state, 'wakegate.json')
  const calls = []
  const runtime = http.createServer((asked, answer) => { calls.push(asked.url); answer.end('{}') }).listen(0, '127.0.0.1')
  await once(runtime, 'listening')
  t.after(() => runtime.close())
  const first = await quickstart(directory)
  assert.equal(first.code, 0, first.text)
  const edited = JSON.parse(fs.readFileSync(config, 'utf8'))
  const { trigger } = edited.routes.demo.target
  edited.routes.demo.target = { all: [{ trigger }, { trigger: { ...trigger, url: `http://127.0.0.1:${runtime.address().port}/fire` } }] }
  fs.writeFileSync(config, JSON.stringify(edited))
  const again = await quickstart(directory)
  assert.equal(again.code, 0, again.text)
  assert.match(again.text, /nothing is sent/)
  assert.match(again.text, /wakegate serve --config /)
  assert.equal(fs.existsSync(path.join(state, 'sink.pid')), false)
  assert.ok(alive(Number(fs.readFileSync(path.join(state, 'gateway.pid'), 'utf8'))))
  assert.deepEqual(calls, [])

  // A mistake in it: told, and what runs goes on.
  fs.writeFileSync(config, JSON.stringify({ ...edited, listne: 'x' }))
  const wrong = await quickstart(directory)
  assert.equal(wrong.code, 1)
  assert.match(wrong.text, /did you mean "listen"/)
  assert.ok(alive(Number(fs.readFileSync(path.join(state, 'gateway.pid'), 'utf8'))))
})
