// SPDX-License-Identifier: Apache-2.0
// A target whose name never resolves must not slow anything else down. The gateway runs in a network
// namespace of its own whose resolver is a UDP socket that swallows every question.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { makeGateway, route, scratch, trigger } from './gateway.mjs'
import { makeNamespace } from './namespace.mjs'
import { framed, newWake } from './wakes.mjs'

/** A Node program inside the namespace: a resolver that never answers, a runtime that always does, and
 * a client that runs what the test asks for, since nothing outside can reach in. */
const inside = `
  import dgram from 'node:dgram'
  import http from 'node:http'
  const resolver = dgram.createSocket('udp4')
  let questions = 0
  resolver.on('message', () => questions++)
  resolver.bind(53, '127.0.0.1')
  const runtime = http.createServer((req, res) => {
    req.resume()
    req.on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end('{"success":true}'))
  }).listen(0, '127.0.0.1')
  const say = message => process.stdout.write(JSON.stringify(message) + '\\n')
  runtime.on('listening', () => resolver.on('listening', () => {}) && say({ port: runtime.address().port }))
  let order = 0
  const ask = ({ id, url, method, headers, body }) => {
    const out = http.request(url, { method, headers, agent: false }, answer => {
      let text = ''
      answer.on('data', chunk => (text += chunk))
      answer.on('end', () => say({ id, status: answer.statusCode, text, order: order++, questions }))
    })
    out.on('error', error => say({ id, error: error.message, order: order++ }))
    out.end(body)
  }
  let rest = ''
  process.stdin.on('data', chunk => {
    const lines = (rest + chunk).split('\\n')
    rest = lines.pop()
    for (const line of lines) ask(JSON.parse(line))
  })
  process.stdin.on('end', () => process.exit(0))
`

async function startInside(t, prefix) {
  const child = spawn(prefix[0], [...prefix.slice(1), process.execPath, '--input-type=module', '-e', inside], { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map()
  let ready
  const started = new Promise(resolve => (ready = resolve))
  let rest = ''
  child.stdout.on('data', chunk => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      const message = JSON.parse(line)
      if (message.port) ready(message.port)
      else waiting.get(message.id)(message)
    }
  })
  const over = once(child, 'exit')
  t.after(async () => {
    child.stdin.end()
    await over
  })
  let next = 0
  return {
    port: await started,
    ask: request =>
      new Promise(resolve => {
        const id = next++
        waiting.set(id, resolve)
        child.stdin.write(JSON.stringify({ id, ...request }) + '\n')
      })
  }
}

test('a name that never resolves: other wakes and livez overtake it', async t => {
  const { prefix, why } = makeNamespace(t, { resolv: 'nameserver 127.0.0.1\noptions timeout:5 attempts:2\n' })
  if (why) {
    t.skip(`no network namespace can be made here: ${why}`)
    return
  }
  const world = await startInside(t, prefix)
  const quick = { kind: 'grok', url: `http://127.0.0.1:${world.port}` }
  const slow = { kind: 'grok', url: 'http://never-resolves.example' }
  const gateway = makeGateway(
    t,
    { budget: '8s', grace: '1s', routes: { quick: route('agentchat', trigger(quick)), slow: route('agentchat', trigger(slow)) } },
    { prefix, directory: scratch(t), ready: false }
  )
  await gateway.start()
  const send = where => {
    const wake = newWake()
    return world.ask({ url: `${gateway.url}/wake/${where}`, ...framed('agentchat', wake) })
  }

  // More hanging names than the pool of threads has, so that a resolver on that pool would be found.
  const hanging = Array.from({ length: 6 }, () => send('slow'))
  await send('quick')
  const others = []
  for (let i = 0; i < 50; i++) {
    others.push(await send('quick'))
    others.push(await world.ask({ url: `${gateway.url}/livez`, method: 'GET' }))
  }
  for (const got of others) assert.equal(got.status, 200, JSON.stringify(got))
  const slowOnes = await Promise.all(hanging)
  const last = Math.max(...others.map(got => got.order))
  for (const got of slowOnes) {
    assert.ok(got.order > last, 'the hanging wakes ended after all the others')
    assert.equal(got.status, 503, JSON.stringify(got))
    assert.equal(JSON.parse(got.text).code, 'target_unavailable')
  }
  assert.ok(slowOnes.at(-1).questions > 0, 'the resolver was asked')
  assert.equal((await send('quick')).status, 200)
})
