// SPDX-License-Identifier: Apache-2.0
// Names whose answers change. The gateway runs in a network namespace with a name server of this
// file's own, in which one runtime listens on a public address and on the loopback one.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { test } from 'node:test'
import { makeAuthority } from './authority.mjs'
import { route, scratch, startGateway, trigger } from './gateway.mjs'
import { request } from './http.mjs'
import { makeNamespace } from './namespace.mjs'
import { until } from './until.mjs'
import { framed, newWake } from './wakes.mjs'

/** A Node program: reads { names, key, cert } as a line, answers A questions for a name with its next
 * list of addresses (the last one again and again), and takes every wake over TLS. It says
 * { port }, and later { asked: name } and { taken: address } for each. */
const inside = `
  import dgram from 'node:dgram'
  import https from 'node:https'
  import { once } from 'node:events'
  const say = message => process.stdout.write(JSON.stringify(message) + '\\n')
  process.stdin.on('end', () => process.exit(0))
  const [line] = await once(process.stdin, 'data')
  const { names, key, cert } = JSON.parse(line)
  const resolver = dgram.createSocket('udp4')
  resolver.on('message', (question, from) => {
    const labels = []
    let at = 12
    for (; question[at]; at += question[at] + 1) labels.push(question.toString('latin1', at + 1, at + 1 + question[at]))
    const name = labels.join('.').toLowerCase()
    const end = at + 5
    const lists = names[name]
    let addresses = []
    if (question.readUInt16BE(at + 1) === 1 && lists) {
      addresses = lists.length > 1 ? lists.shift() : lists[0]
      say({ asked: name })
    }
    const head = Buffer.from(question.subarray(0, end))
    head.writeUInt16BE(lists ? 0x8180 : 0x8183, 2)
    head.writeUInt16BE(addresses.length, 6)
    head.writeUInt32BE(0, 8)
    const records = addresses.map(address => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]))
    resolver.send(Buffer.concat([head, ...records]), from.port, from.address)
  })
  resolver.bind(53, '127.0.0.1')
  await once(resolver, 'listening')
  const runtime = https.createServer({ key, cert }, (req, res) => {
    say({ taken: req.socket.localAddress })
    req.resume()
    req.on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end('{"success":true}'))
  }).listen(0, '0.0.0.0')
  runtime.on('tlsClientError', () => {})
  await once(runtime, 'listening')
  say({ port: runtime.address().port })
`

async function startInside(t, prefix, world) {
  const child = spawn(prefix[0], [...prefix.slice(1), process.execPath, '--input-type=module', '-e', inside], { stdio: ['pipe', 'pipe', 'inherit'] })
  const said = []
  let rest = ''
  child.stdout.on('data', chunk => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) said.push(JSON.parse(line))
  })
  const over = once(child, 'exit')
  t.after(async () => {
    child.stdin.end()
    await over
  })
  child.stdin.write(JSON.stringify(world) + '\n')
  const { port } = await until(() => said.find(message => message.port), 'the runtime listens')
  const of = what => said.filter(message => message[what]).map(message => message[what])
  return { port, taken: () => of('taken'), asked: name => of('asked').filter(asked => asked === name).length }
}

const here = '93.184.216.34'
const nowhere = '93.184.216.35'

test('a name that changes: the address that is connected to decides, each time', async t => {
  const { prefix, why } = makeNamespace(t, { resolv: 'nameserver 127.0.0.1\noptions timeout:1 attempts:2\n' })
  if (why) {
    t.skip(`no network namespace can be made here: ${why}`)
    return
  }
  const added = spawnSync(prefix[0], [...prefix.slice(1), 'ip', 'addr', 'add', `${here}/32`, 'dev', 'lo'], { encoding: 'utf8' })
  assert.equal(added.status, 0, added.stderr)
  const names = {
    'flips.example': [[here], ['127.0.0.1'], ['169.254.169.254'], [here]],
    'both.example': [[nowhere, '127.0.0.1']],
    'mixed.example': [['169.254.169.254', here]]
  }
  const authority = makeAuthority(t)
  const cert = authority.cert(Object.keys(names).map(name => `DNS:${name}`).join(','))
  const world = await startInside(t, prefix, { names, key: authority.key.toString(), cert: cert.toString() })
  const target = name => trigger({ kind: 'grok', url: `https://${name}:${world.port}` }, { private: false })
  const routes = { flips: route('agentchat', target('flips.example')), both: route('agentchat', target('both.example')), mixed: route('agentchat', target('mixed.example')) }
  const directory = scratch(t)
  const socketPath = path.join(directory, 'wakegate.sock') // reachable from outside the namespace
  const gateway = await startGateway(t, { listen: `unix:${socketPath}`, ca_file: authority.ca, budget: '5s', routes }, { prefix, directory, ready: false })
  const send = (name, wake) => request(`http://localhost/wake/${name}`, { ...framed('agentchat', wake), socketPath })
  const detail = (wake, nth = 0) => until(() => gateway.log('wake').filter(entry => entry.delivery_id === wake.delivery_id)[nth]?.detail, 'the wake is logged')
  // An answer is remembered for a minute; a process that starts asks again.
  const again = async () => {
    assert.equal((await gateway.stop()).code, 0)
    await gateway.restart()
  }

  assert.equal((await send('flips', newWake())).json.status, 'relayed', gateway.everything())
  assert.deepEqual(world.taken(), [here])
  const wake = newWake()
  for (const [nth, reason] of [/127\.0\.0\.1 is private/, /169\.254\.169\.254 is link-local/].entries()) {
    await again()
    const got = await send('flips', wake)
    assert.equal(got.status, 503, got.text)
    assert.equal(got.json.code, 'target_unavailable')
    assert.match(await detail(wake, nth), reason)
  }
  await again()
  assert.equal((await send('flips', wake)).json.status, 'relayed', 'the id stayed free')
  assert.equal(world.asked('flips.example'), 4)

  const other = newWake()
  assert.equal((await send('both', other)).json.code, 'target_unavailable')
  assert.match(await detail(other), /127\.0\.0\.1 is private/, 'a second address of one answer is looked at like the first')
  assert.equal((await send('mixed', newWake())).json.status, 'relayed', 'a good address beside a bad one is taken')
  assert.deepEqual(world.taken(), [here, here, here], 'nothing reached the loopback address')
})
