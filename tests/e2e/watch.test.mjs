// SPDX-License-Identifier: Apache-2.0
// "watch": config and secrets are read again when a file of theirs changes.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { route, scratch, startGateway, trigger } from './gateway.mjs'
import { startRuntime } from './runtimes.mjs'
import { pause } from './until.mjs'
import { newWake } from './wakes.mjs'

/** Directories exchanged behind a symbolic link, as Kubernetes mounts a ConfigMap or a Secret. */
function mount(directory, generation, files) {
  const fresh = path.join(directory, `..${generation}`)
  fs.mkdirSync(fresh)
  for (const [name, text] of Object.entries(files)) {
    fs.writeFileSync(path.join(fresh, name), text)
    if (generation === 1) fs.symlinkSync(path.join('..data', name), path.join(directory, name))
  }
  fs.symlinkSync(`..${generation}`, path.join(directory, '..next'))
  fs.renameSync(path.join(directory, '..next'), path.join(directory, '..data'))
}

test('watch: a config and a secret that are exchanged are read again, by themselves', async t => {
  const runtime = await startRuntime(t, 'hermes')
  const mounted = scratch(t), secrets = ['the first secret of all', 'the second secret of all']
  const config = over => ({ watch: true, log_level: 'info', ...over, routes: { relay: route('agentchat', trigger(runtime), { secrets: [{ file: path.join(mounted, 'wake') }] }) } })
  mount(mounted, 1, { wake: secrets[0] })
  const gateway = await startGateway(t, config())
  const send = secret => gateway.wake('relay', 'agentchat', newWake(), { secret })

  assert.equal((await send(secrets[0])).status, 200)
  mount(mounted, 2, { wake: secrets[1] })
  await gateway.event('reloaded')
  assert.equal((await send(secrets[1])).status, 200)
  assert.equal((await send(secrets[0])).status, 401)

  gateway.write('{"routes": ')
  await gateway.event('reload_failed')
  assert.equal((await send(secrets[1])).status, 200)
  fs.writeFileSync(`${gateway.file}.new`, JSON.stringify(config({ budget: '9s' })))
  fs.renameSync(`${gateway.file}.new`, gateway.file)
  await gateway.event('reloaded', 2)
  fs.writeFileSync(path.join(mounted, 'unrelated'), 'x')
  gateway.write(config({ watch: false }))
  await gateway.event('reloaded', 3)
  gateway.write(config({ watch: true }))
  await pause(600)
  assert.equal(gateway.log('reloaded').length, 3)
})
