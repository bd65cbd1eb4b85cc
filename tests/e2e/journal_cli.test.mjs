// SPDX-License-Identifier: Apache-2.0
// wakegate deliveries and wakegate redeliver, against a running gateway.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { program, route, run, scratch, startGateway, trigger } from './gateway.mjs'
import { freePort } from './redis.mjs'
import { answer, startRuntime } from './runtimes.mjs'
import { until } from './until.mjs'
import { newWake } from './wakes.mjs'

const token = 'e2e-admin-token-0123456789'
const env = { E2E_ADMIN: token }

/** A gateway on a port that its config names, with a route to a runtime. */
async function house(t, kind = 'openclaw', config = {}) {
  const runtime = await startRuntime(t, kind)
  const listen = `127.0.0.1:${await freePort()}`
  const routes = { relay: route('agentchat', trigger(runtime, { id: 'there' })) }
  const gateway = await startGateway(t, { listen, admin_token: { env: 'E2E_ADMIN' }, routes, ...config }, { env })
  const wakegate = (...words) => run([...words, '--config', gateway.file], { env })
  return { runtime, gateway, wakegate, send: wake => gateway.wake('relay', 'agentchat', wake) }
}

const lines = text => text.trim().split('\n')

/** The deliveries as JSON, once there are `count`. */
function listed(wakegate, count, ...words) {
  return until(async () => {
    const { code, out, err } = await wakegate('deliveries', '--json', ...words)
    assert.equal(code, 0, err)
    const list = out ? lines(out).map(line => JSON.parse(line)) : []
    return list.length >= count && list
  }, `${count} deliveries are listed`)
}

test('deliveries finds gateway and token in the config: a table, or a line of JSON for each', async t => {
  const { runtime, wakegate, send } = await house(t)
  const wakes = [newWake(), newWake()]
  await send(wakes[0])
  runtime.behave(answer(401, 'Unauthorized'))
  await send(wakes[1])
  const list = await listed(wakegate, 2)
  assert.deepEqual(list.map(line => [line.delivery_id, line.outcome]), [[wakes[0].delivery_id, 'accepted'], [wakes[1].delivery_id, 'refused']])

  const table = await wakegate('deliveries')
  assert.equal(table.code, 0)
  assert.equal(table.err, '')
  const [head, first, second, ...more] = lines(table.out)
  assert.match(head, /^AT +OUTCOME +TOOK +ROUTE\/TARGET +DELIVERY ID +RUN OR DETAIL$/)
  assert.match(first, new RegExp(`^20\\S+Z +accepted +\\d+ ms +relay/there +${wakes[0].delivery_id} +${runtime.runs[0].run}$`))
  assert.match(second, new RegExp(`refused .*${wakes[1].delivery_id} +401`))
  assert.deepEqual(more, [])

  assert.equal((await listed(wakegate, 1, '--outcome', 'refused')).length, 1)
  assert.equal((await listed(wakegate, 1, '--id', wakes[0].delivery_id)).length, 1)
  assert.equal((await listed(wakegate, 0, '--route', 'other')).length, 0)
  assert.equal((await listed(wakegate, 2, '--since', '1h', '--target', 'there')).length, 2)
  assert.equal((await listed(wakegate, 0, '--since', new Date(Date.now() + 3600_000).toISOString())).length, 0)
})

test('more than one page', async t => {
  const { wakegate, send } = await house(t, 'grok')
  const wakes = Array.from({ length: 520 }, () => newWake())
  for (const wake of wakes) await send(wake)
  const list = await listed(wakegate, 520)
  assert.deepEqual(list.map(line => line.delivery_id), wakes.map(wake => wake.delivery_id))
})

test('deliveries --follow goes on, also over a restart of the gateway', async t => {
  const { gateway, send } = await house(t)
  const before = newWake()
  await send(before)
  const child = spawn(program, ['deliveries', '--follow', '--json', '--config', gateway.file], { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const over = once(child, 'close')
  t.after(() => child.kill('SIGKILL'))
  let out = ''
  child.stdout.on('data', chunk => (out += chunk))
  child.stderr.resume()
  await until(() => out.includes(before.delivery_id), 'what was there is shown')
  const meanwhile = newWake()
  await send(meanwhile)
  await until(() => out.includes(meanwhile.delivery_id), 'what comes is shown')
  await gateway.stop()
  await gateway.restart()
  const after = newWake()
  await send(after)
  await until(() => out.includes(after.delivery_id), 'what comes after a restart is shown')
  child.kill('SIGTERM')
  await over
  assert.deepEqual(lines(out).map(line => JSON.parse(line).delivery_id), [before, meanwhile, after].map(wake => wake.delivery_id), 'each once')
})

test('redeliver starts the runtime again, and says what came of it', async t => {
  const { runtime, wakegate, send } = await house(t)
  const wake = newWake()
  await send(wake)
  await listed(wakegate, 1)
  const again = await wakegate('redeliver', wake.delivery_id)
  assert.equal(again.code, 0, again.err)
  assert.equal(runtime.runs.length, 2)
  assert.equal(again.out, `${wake.delivery_id}: relayed, generation 1, run ${runtime.runs[1].run}\n`)
  const json = await wakegate('redeliver', wake.delivery_id, '--json', '--route=relay', '--target=there')
  assert.equal(JSON.parse(json.out).generation, 2)
  await listed(wakegate, 3)
  assert.match((await wakegate('deliveries')).out, new RegExp(`${wake.delivery_id} again=2 `))

  runtime.behave(answer(400, {}))
  const refused = await wakegate('redeliver', wake.delivery_id)
  assert.equal(refused.code, 1)
  assert.match(refused.err, /^wakegate redeliver: http:\S+ answered 502 target_refused: /)
  const unknown = await wakegate('redeliver', 'nothing-of-this-name')
  assert.equal(unknown.code, 1)
  assert.match(unknown.err, /answered 404 unknown_delivery/)
})

test('redeliver of a held id says what --force does', async t => {
  const { runtime, wakegate, send } = await house(t, 'claude-code')
  const wake = newWake()
  runtime.behave('reset')
  await send(wake)
  await listed(wakegate, 1)
  const held = await wakegate('redeliver', wake.delivery_id)
  assert.equal(held.code, 1)
  assert.match(held.err, /answered 503 held: .*\n--force delivers it all the same; the agent may then run twice\.\n$/)
  assert.equal(runtime.runs.length, 0)
  const forced = await wakegate('redeliver', '--force', wake.delivery_id)
  assert.equal(forced.code, 0, forced.err)
  assert.equal(runtime.runs.length, 1)
})

test('--url and --token-...: the config is not looked at, and its token goes nowhere else', async t => {
  const { gateway, send } = await house(t)
  const wake = newWake()
  await send(wake)
  const file = path.join(scratch(t), 'token')
  fs.writeFileSync(file, `${token}\n`)
  const deliveries = (words, more = {}) => run(['deliveries', '--url', gateway.url, ...words], { env: more })
  await until(async () => (await deliveries(['--token-file', file, '--json'])).out.includes(wake.delivery_id), 'it is listed')
  assert.equal((await deliveries(['--token-env', 'MINE'], { MINE: token })).code, 0)
  const without = await deliveries(['--config', gateway.file], env)
  assert.equal(without.code, 1)
  assert.match(without.err, /answered 401 unauthorized: .*Use --token-file or --token-env\.\n$/)
  for (const words of [['--token-file', '/none'], ['--token-env', 'NONE'], ['--token-env', 'A', '--token-file', file]])
    assert.equal((await deliveries(words)).code, 1)
  for (const url of ['https://127.0.0.1', 'ftp://x', 'http://', `http://127.0.0.1:${await freePort()}`, 'unix:/none'])
    assert.equal((await run(['deliveries', '--url', url])).code, 1, url)
  for (const words of [['--since', 'x'], ['--route', 'a b'], ['--outcome', 'x&y=1'], ['x']])
    assert.equal((await deliveries(words)).code, 2, words.join(' '))
  for (const words of [[], ['a', 'b'], ['a/b'], ['a', '--rout=x']])
    assert.equal((await run(['redeliver', '--url', gateway.url, ...words])).code, 2, words.join(' '))
})

test('over a unix socket, with no token; and where no admin API is served it says so', async t => {
  const socket = path.join(scratch(t), 'admin.sock')
  const { gateway, wakegate, send } = await house(t, 'poke', { admin: `unix:${socket}`, admin_token: undefined })
  const wake = newWake()
  await send(wake)
  assert.equal((await listed(wakegate, 1))[0].delivery_id, wake.delivery_id)
  assert.match((await run(['redeliver', '--url', `unix:${socket}`, wake.delivery_id])).out, /relayed, generation 1/)
  assert.equal((await run(['healthcheck', `unix:${socket}`])).code, 0)
  const nowhere = await run(['deliveries', '--url', gateway.url])
  assert.equal(nowhere.code, 1)
  assert.match(nowhere.err, /answered 404 unknown_route: .*"admin_token"/)
})

test('without a config and without --url it says what is missing', async t => {
  const { code, err } = await run(['deliveries'], { cwd: scratch(t) })
  assert.equal(code, 1)
  assert.match(err, /wakegate\.json/)
  assert.match(err, /--url/)
})
