// SPDX-License-Identifier: Apache-2.0
// What platforms and clusters put into the environment: PORT, and Kubernetes' words about Services.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { makeGateway, route, run, scratch, startGateway } from '../e2e/gateway.mjs'
import { freePort } from '../e2e/redis.mjs'
import { request } from '../e2e/http.mjs'
import { until } from '../e2e/until.mjs'

const target = { trigger: { dialect: 'poke', url: 'https://poke.example/x', token: { env: 'E2E_SECRET' } } }
const routes = { relay: route('agentchat', target) }

test('PORT is where it listens when nothing else says so', async t => {
  const port = await freePort()
  const gateway = await startGateway(t, { listen: undefined, routes }, { env: { PORT: String(port) }, ready: false })
  assert.equal((await request(`http://127.0.0.1:${port}/livez`, { method: 'GET' })).status, 200)
  assert.equal(new URL(gateway.url).port, String(port))
  gateway.child.kill('SIGHUP')
  await until(async () => (await gateway.metrics())['wakegate_reloads_total{result="ok"}'] === 1, 'it is reloaded')
  assert.deepEqual(gateway.log('reload'), [], 'and nothing waits for a restart')
})

test('listen in the config wins over PORT', async t => {
  const port = await freePort()
  const gateway = await startGateway(t, { routes }, { env: { PORT: String(port) } })
  assert.notEqual(new URL(gateway.url).port, String(port))
})

test('a PORT that is none is refused with a hint', async t => {
  const gateway = makeGateway(t, { listen: undefined, routes }, { env: { PORT: 'tcp://10.0.0.1:8080' } })
  const { code, out } = await run(['check', '--config', gateway.file], { env: gateway.env })
  assert.equal(code, 1)
  assert.match(out, /the variable PORT is "tcp:\/\/10\.0\.0\.1:8080", must be a port from 1 to 65535; .*WAKEGATE_LISTEN/)
})

test('the words of a Service called wakegate change nothing, and are hinted at once', async t => {
  const env = {
    WAKEGATE_PORT: 'tcp://10.0.0.1:80', WAKEGATE_SERVICE_HOST: '10.0.0.1', WAKEGATE_SERVICE_PORT: '80', WAKEGATE_SERVICE_PORT_HTTP: '80',
    WAKEGATE_PORT_80_TCP: 'tcp://10.0.0.1:80', WAKEGATE_PORT_80_TCP_PROTO: 'tcp', WAKEGATE_PORT_80_TCP_PORT: '80', WAKEGATE_PORT_80_TCP_ADDR: '10.0.0.1'
  }
  const directory = scratch(t)
  const file = path.join(directory, 'wakegate.json')
  fs.writeFileSync(file, JSON.stringify({ store: 'sqlite:x.db', routes }))
  const { code, out } = await run(['check', '--config', file], { env, cwd: directory })
  assert.equal(code, 0, out)
  assert.equal(out.match(/enableServiceLinks: false/g).length, 1, out)
  const gateway = makeGateway(t, { routes }, { env })
  gateway.mayWrite = /Kubernetes service link/
  await gateway.start()
  assert.equal((await gateway.get('/livez')).status, 200)
})
