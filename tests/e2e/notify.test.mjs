// SPDX-License-Identifier: Apache-2.0
// What a service manager is told, over a real datagram socket: ready, reloading, stopping, and signs
// of life while the loop turns.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { test } from 'node:test'
import { makeGateway, route, scratch, trigger } from './gateway.mjs'
import { startRuntime } from './runtimes.mjs'
import { until } from './until.mjs'

// Node.js has no datagram sockets of this family.
const manager = `
import json, socket, sys
name = sys.argv[1]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\\0" + name[1:] if name[0] == "@" else name)
print(json.dumps("bound"), flush=True)
while True:
    print(json.dumps(s.recv(4096).decode()), flush=True)
`

/** A service manager that listens at `name`; what it was told stands in `heard`. */
async function startManager(t, name) {
  const child = spawn('python3', ['-c', manager, name], { stdio: ['ignore', 'pipe', 'inherit'] })
  const failed = once(child, 'error').then(([error]) => error.message)
  const heard = []
  let rest = ''
  child.stdout.on('data', chunk => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    heard.push(...lines.map(line => JSON.parse(line)))
  })
  if (await Promise.race([failed, once(child, 'spawn').then(() => null)])) return null
  const over = once(child, 'exit')
  t.after(async () => {
    child.kill()
    await over
  })
  await until(() => heard.shift() === 'bound', 'the manager listens')
  return heard
}

const states = heard => heard.filter(message => message !== 'WATCHDOG=1')

for (const abstract of [false, true]) {
  test(`ready, reloading and stopping are told ${abstract ? 'at an abstract name' : 'at a path'}`, async t => {
    const directory = scratch(t)
    const socket = (abstract ? '@' : '') + path.join(directory, 'notify')
    const heard = await startManager(t, socket)
    if (!heard) {
      t.skip('there is no python3 here')
      return
    }
    const runtime = await startRuntime(t, 'poke')
    const config = { drain: '1s', grace: '5s', routes: { relay: route('agentchat', trigger(runtime)) } }
    const gateway = makeGateway(t, config, { directory, env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '200000' } })

    await gateway.start()
    await until(() => states(heard).length === 1, 'it tells that it is ready')
    assert.deepEqual(states(heard), ['READY=1'])
    await until(() => heard.filter(message => message === 'WATCHDOG=1').length >= 3, 'it gives signs of life')

    for (const [what, text] of [['reloaded', gateway.config], ['reload_failed', '{']]) {
      const before = states(heard).length
      gateway.write(text)
      gateway.child.kill('SIGHUP')
      await gateway.event(what)
      await until(() => states(heard).length === before + 2, `the reload's end is told (${what})`)
      const [reloading, ready] = states(heard).slice(before)
      assert.match(reloading, /^RELOADING=1\nMONOTONIC_USEC=\d+$/)
      assert.equal(ready, 'READY=1')
      const [began] = /\d+$/.exec(reloading)
      assert.ok(Number(began) * 1000 <= Number(process.hrtime.bigint()), 'by the same clock')
    }

    const before = states(heard).length
    gateway.child.kill('SIGTERM')
    await gateway.event('leaving')
    await until(() => states(heard).length > before, 'it tells that it stops')
    const life = heard.length
    assert.deepEqual(await gateway.ended(), { code: 0, signal: null })
    // The drain of a second needs ten intervals.
    await until(() => heard.slice(life).includes('WATCHDOG=1'), 'signs of life go on to the end')
    assert.deepEqual(states(heard).slice(before), ['STOPPING=1\nEXTEND_TIMEOUT_USEC=16000000'])
  })
}

test('a process that stands still gives no sign of life', async t => {
  const directory = scratch(t)
  const socket = path.join(directory, 'notify')
  const heard = await startManager(t, socket)
  if (!heard) {
    t.skip('there is no python3 here')
    return
  }
  const runtime = await startRuntime(t, 'poke')
  const gateway = makeGateway(
    t,
    { routes: { relay: route('agentchat', trigger(runtime)) } },
    { directory, env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '100000' } }
  )
  await gateway.start()
  await until(() => heard.includes('WATCHDOG=1'), 'it gives signs of life')
  gateway.child.kill('SIGSTOP')
  let before
  await until(async () => {
    before = heard.length
    await new Promise(resolve => setTimeout(resolve, 500))
    return heard.length === before
  }, 'it is quiet for ten intervals')
  gateway.child.kill('SIGCONT')
  await until(() => heard.length > before, 'it gives them again')
})

test('a manager that is not there changes nothing', async t => {
  const directory = scratch(t)
  const runtime = await startRuntime(t, 'poke')
  const gateway = makeGateway(
    t,
    { routes: { relay: route('agentchat', trigger(runtime)) } },
    { directory, env: { NOTIFY_SOCKET: path.join(directory, 'nobody') } }
  )
  await gateway.start()
  const line = await gateway.event('notify_failed')
  assert.match(line.text, /READY=1: No such file or directory/)
})
