// SPDX-License-Identifier: Apache-2.0
// A wake secret and a target's token are replaced while wakes come: every wake is taken at once, and
// runs once. By SIGHUP, and by "watch".
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { Crowd } from './crowd.mjs'
import { route, scratch, startGateway, trigger } from './gateway.mjs'
import { startRuntime } from './runtimes.mjs'
import { newWake } from './wakes.mjs'

const secrets = { old: 'the-old-secret-0123456789abcdef', new: 'the-new-secret-0123456789abcdef' }
const tokens = { old: 'the-old-token-0123456789abcdef', new: 'the-new-token-0123456789abcdef' }
const ENOUGH = 60 // wakes in each state

for (const how of ['SIGHUP', 'watch'])
  test(`a secret and a token are rotated under load, by ${how}: lost 0, doubled 0, refused 0`, { timeout: 120_000 }, async t => {
    const runtime = await startRuntime(t, 'poke')
    const seen = { old: 0, new: 0 } // deliveries by token
    let taken = ['old'] // tokens that the runtime takes
    runtime.take = request => {
      const which = Object.keys(tokens).find(name => request.headers.authorization === `Bearer ${tokens[name]}`)
      if (!taken.includes(which)) return { status: 401, body: { error: 'Invalid API key' } }
      seen[which]++
      return { status: 200, body: { success: true }, run: 'message' }
    }

    const directory = scratch(t)
    const write = (name, value) => {
      const file = path.join(directory, name)
      fs.writeFileSync(`${file}.next`, `${value}\n`)
      fs.renameSync(`${file}.next`, file) // never half a file
      return { file }
    }
    const files = { old: write('old', secrets.old), new: write('new', secrets.new) }
    const token = write('token', tokens.old)
    const config = (...names) => ({
      watch: how === 'watch',
      log_level: 'info',
      routes: { relay: route('agentchat', trigger(runtime, { token }), { secrets: names.map(name => files[name]) }) }
    })
    const gateway = await startGateway(t, config('old'), { directory })
    let reloads = 0
    const reloaded = async () => {
      if (how === 'SIGHUP') gateway.child.kill('SIGHUP')
      await gateway.event('reloaded', ++reloads)
    }
    const reload = (...names) => {
      write('wakegate.json', JSON.stringify(config(...names)))
      return reloaded()
    }

    let signers = ['old'] // secrets that senders sign with
    const crowd = new Crowd(8, async (wake, serial) => {
      const secret = secrets[signers[serial % signers.length]]
      const got = await gateway.wake('relay', 'agentchat', wake, { secret })
      assert.equal(got.json?.status, 'relayed', got.text)
    })

    await crowd.more(ENOUGH)
    await reload('old', 'new')
    await crowd.more(ENOUGH)
    signers = ['old', 'new'] // AgentChat changes over while it sends
    await crowd.more(ENOUGH)
    taken = ['old', 'new']
    write('token', tokens.new)
    await reloaded()
    await crowd.landed() // what was under way has the old token
    taken = ['new']
    signers = ['new']
    await crowd.landed()
    await reload('new')
    await crowd.more(ENOUGH)
    await crowd.stop()

    const { lost, doubled } = crowd.count(runtime.runs)
    t.diagnostic(`${crowd.accepted.size} wakes, lost ${lost.length}, doubled ${doubled.length}; by token ${JSON.stringify(seen)}`)
    assert.deepEqual({ lost, doubled }, { lost: [], doubled: [] })
    assert.equal(runtime.runs.length, crowd.accepted.size)
    assert.equal(crowd.accepted.size, crowd.begun)
    assert.ok(seen.old >= 3 * ENOUGH && seen.new >= ENOUGH, JSON.stringify(seen))
    const used = Object.entries(await gateway.metrics()).filter(([name, value]) => /secret_matches_total/.test(name) && value > 0)
    assert.ok(used.length >= 2, JSON.stringify(used))
    assert.equal((await gateway.wake('relay', 'agentchat', newWake(), { secret: secrets.old })).status, 401)
  })
