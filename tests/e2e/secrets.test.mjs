// SPDX-License-Identifier: Apache-2.0
// No secret leaks. Canaries stand wherever a secret can be configured; every path is driven; then all
// that came out is searched, in every form that a secret can have. A word that is no secret and does
// belong into those places is planted in the same way, so that a search that sees nothing fails.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import crypto from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { Canaries, unique } from './canaries.mjs'
import { makeGateway, program, run, scratch } from './gateway.mjs'
import { request } from './http.mjs'
import { startRedis } from './redis.mjs'
import { room, roomClient } from './room_clients.mjs'
import { answer, Runtime, runtimePaths } from './runtimes.mjs'
import { until } from './until.mjs'
import { framed, framings, handle, newWake, seconds } from './wakes.mjs'

const dialects = Object.keys(framings)
const kinds = Object.keys(runtimePaths)
const known = { 'claude-code': 'sk-ant-oat01-', poke: 'pk_', grok: 'crsr_' }

/** A secret for `dialect`, known to `canaries` under `name`. */
function makeSecret(canaries, name, dialect) {
  if (dialect === 'standard-webhooks') return canaries.addKey(name, 'whsec_' + crypto.randomBytes(32).toString('base64'), 'whsec_')
  const prefix = known[dialect] ?? ''
  return canaries.add(name, prefix + unique(), prefix)
}

/** The three ways to configure a secret, in turn. */
class Places {
  env = {}
  #count = 0

  constructor(directory) {
    this.directory = directory
  }

  of(secret) {
    const name = `CANARY_${this.#count++}`
    const way = this.#count % 3
    if (way === 0) return { literal: secret }
    if (way === 1) {
      this.env[name] = secret
      return { env: name }
    }
    return { file: this.file(name, secret) }
  }

  file(name, text) {
    const where = path.join(this.directory, name)
    fs.writeFileSync(where, text + '\n', { mode: 0o600 })
    return where
  }
}

const accepted = { hermes: { status: 'accepted' }, openclaw: { ok: true, runId: 'run-1' }, poke: { success: true }, agentchat: { status: 'relayed', run: 'run-2' } }
const takes = kind => () => ({ status: 200, body: accepted[kind] ?? { ok: true } })

/** All of a request, as a server that is too helpful repeats it. */
const whole = ({ method, path: where, headers, rawHeaders, body }) => ({ method, url: where, headers, rawHeaders, body })
/** The proof of a request alone: the one word that would look like an error's name. */
const proofOf = ({ headers }) =>
  (Object.entries(headers).find(([name]) => /signature|token|authorization/i.test(name)) ?? [])[1]?.replace(/^Bearer /, '').replaceAll(' ', '') ?? 'none'

const echo = status => (asked, response) => answer(status, whole(asked), { 'x-echo': JSON.stringify(asked.headers), location: `http://127.0.0.1:1/?${JSON.stringify(asked.headers)}` })(asked, response)
/** The proof, and the path, in every member that a dialect reads. */
const quote = (status, pick) => (asked, response) => {
  const word = pick(asked)
  const names = ['code', 'status', 'reason', 'event', 'type', 'run', 'runId', 'claude_code_session_id', 'claude_code_session_url', 'message', 'delivery_id', 'eventOutcome', 'detail']
  answer(status, { ...Object.fromEntries(names.map(name => [name, word])), error: { type: word, message: word, code: word } })(asked, response)
}

const misdeeds = {
  echo_400: echo(400),
  echo_500: echo(500),
  echo_200: echo(200),
  echo_redirect: echo(307),
  quote_200: quote(200, proofOf),
  quote_202_url: quote(202, asked => asked.path),
  quote_400: quote(400, proofOf),
  quote_401: quote(401, asked => `wrong:${proofOf(asked)}`),
  quote_401_piece: quote(401, asked => proofOf(asked).slice(0, 30)),
  quote_503_url: quote(503, asked => asked.path),
  text: (asked, response) => answer(403, JSON.stringify(whole(asked)).repeat(3), { 'content-type': 'text/plain' })(asked, response),
  status_line: (asked, response) => response.socket.end(`HTTP/1.1 400 ${proofOf(asked)}\r\nContent-Length: 0\r\n\r\n`),
  no_http: (asked, response) => response.socket.end(`${proofOf(asked)} ${asked.path}\r\n\r\n`),
  bad_header: (asked, response) => response.socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${proofOf(asked)}\r\nRetry-After: ${proofOf(asked)}\r\n\r\n`),
  reset: asked => asked.socket.resetAndDestroy(),
  hang() {}
}

/** Everything that came out of the program, by where it came out. */
class Surfaces {
  texts = {}

  put(where, ...things) {
    for (const thing of things) this.texts[where] = `${this.texts[where] ?? ''}${typeof thing === 'string' ? thing : JSON.stringify(thing)}\n`
  }

  leaks(canaries) {
    return Object.entries(this.texts).flatMap(([where, text]) => canaries.find(text).map(({ name, line }) => `${where}: ${name}: ${line.slice(0, 600)}`))
  }
}

test('the search finds a canary in every form, and in pieces', () => {
  const canaries = new Canaries()
  const secret = canaries.add('x', `pre_${unique()}/+ü"`, 'pre_')
  for (const form of Canaries.formsOf(secret.slice(4))) assert.notDeepEqual(canaries.find(`before ${form} after`), [], form)
  assert.notDeepEqual(canaries.find(`a log line ${secret.slice(0, 30)}...`), [], 'a piece')
  assert.notDeepEqual(canaries.find(Buffer.from(`Bearer ${secret}`).toString('base64')), [], 'inside base64')
  assert.deepEqual(canaries.find(`pre_ ${unique()} ${secret.slice(0, 12)}`), [])
  const signed = framed('agentchat', newWake())
  canaries.addProofs('wire', signed.headers)
  const digest = /v1=([0-9a-f]{64})/.exec(signed.headers['agentchat-signature'])[1]
  for (const form of [digest, Buffer.from(digest, 'hex').toString('base64'), digest.slice(0, 20)]) assert.notDeepEqual(canaries.find(`x${form}x`), [], form)
})

/** One route into each dialect, one to each kind of target, one to a secret URL, one to a room. */
async function makeWorld(t, canaries, places, planted) {
  const secrets = {}
  const routes = {}
  const runtimes = {}
  const add = (name, dialect, target) => {
    secrets[name] = makeSecret(canaries, `the wake secret of ${name}`, dialect)
    const previous = makeSecret(canaries, `the previous secret of ${name}`, dialect)
    routes[name] = { dialect, handle, secrets: [places.of(secrets[name]), places.of(previous)], target }
  }
  for (const kind of kinds) {
    const runtime = new Runtime(takes(kind))
    await runtime.listen()
    t.after(() => runtime.close())
    runtimes[kind] = runtime
    const dialect = kind === 'grok' ? 'bearer-json' : kind
    const key = ['hermes', 'standard-webhooks', 'agentchat'].includes(kind) ? 'secret' : 'token'
    const url = `${runtime.url}/${canaries.add(`the path to ${kind}`, unique())}${runtimePaths[kind]}?key=${canaries.add(`the query to ${kind}`, unique())}`
    const token = places.of(makeSecret(canaries, `the ${key} of ${kind}`, kind))
    add(`to-${kind}`, 'agentchat', { trigger: { dialect, url, [key]: token, private: true, hold: '1s', timeout: '500ms' } })
  }
  const hidden = `${canaries.add('the host', unique().slice(0, 40))}.localhost:${new URL(runtimes.grok.url).port}`
  const secretUrl = `http://${hidden}/${canaries.add('the path of the URL', unique())}`
  add('to-secret-url', 'agentchat', { trigger: { dialect: 'bearer-json', url: places.of(secretUrl), token: places.of(makeSecret(canaries, 'the token beside the URL', 'grok')), private: true, hold: '1s' } })
  add(`to-nobody-${planted}`, 'agentchat', { trigger: { dialect: 'bearer-json', url: places.of(secretUrl.replace(/:\d+/, ':1')), token: places.of(makeSecret(canaries, 'the token for nobody', 'grok')), private: true } })
  add('to-room', 'agentchat', room({ accept: 'stored' }))
  for (const dialect of dialects) add(`in-${dialect}`, dialect, { trigger: { ...routes['to-poke'].target.trigger, dialect: 'poke' } })
  return { secrets, routes, runtimes }
}

/** Sends everything that a sender could send, good and bad. */
async function sendAll(canaries, world, gateway, surfaces, planted, text) {
  const conversations = [{ id: 'conv_canary', unread: 1, latest_sender: `@${text}` }]
  const wake = () => newWake({ delivery_id: `${planted}-${crypto.randomUUID()}`, summary: `${text} wrote.`, conversations, more: text })
  const send = async (name, dialect, options = {}, change = x => x) => {
    const asked = change(framed(dialect, wake(), { secret: world.secrets[name], ...options }))
    canaries.addProofs('a wake', asked.headers)
    const got = await request(`${gateway.url}/wake/${name}`, asked)
    surfaces.put('answers', got.headers, got.text)
    return got
  }
  for (const dialect of dialects) {
    const name = `in-${dialect}`
    assert.equal((await send(name, dialect)).json.status, 'relayed', dialect)
    await send(name, dialect, { secret: makeSecret(canaries, 'a wrong secret', dialect) })
    await send(name, dialect, { body: `{"type": "agentchat.wake", "summary": "${text}` })
    await send(name, dialect, { body: JSON.stringify({ ...wake(), type: 'other', handle: '@nobody' }) })
    await send(name, dialect, { at: seconds() - 3600 })
    for (const cut of [value => value.slice(0, -1), value => `${value}0`, value => `${value}, ${value}`, value => value.toUpperCase(), value => value.replace(/[=,]/g, ';')])
      await send(name, dialect, {}, asked => ({ ...asked, headers: Object.fromEntries(Object.entries(asked.headers).map(([header, value]) => [header, /signature|token|authorization/i.test(header) ? cut(value) : value])) }))
    await send(name, dialect, {}, asked => ({ ...asked, headers: { ...asked.headers, 'content-encoding': 'gzip' } }))
  }
  const token = world.secrets['in-poke']
  for (const where of [`/wake/in-poke?token=${token}`, `/wake/${token}`, `/${token}?key=${token}`, `/socket.io/?EIO=4&transport=polling&token=${token}`]) {
    const got = await request(gateway.url + where, { headers: { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}`, cookie: `token=${token}` } })
    surfaces.put('answers', got.headers, got.text)
  }
  await send('to-secret-url', 'agentchat')
  assert.equal((await send(`to-nobody-${planted}`, 'agentchat')).json.code, 'target_unavailable')
  assert.equal((await send('to-room', 'agentchat')).json.status, 'relayed')
  return send
}

/** Has every target fail in every way. */
async function failAll(canaries, world, send) {
  await Promise.all(
    kinds.map(async kind => {
      const runtime = world.runtimes[kind]
      for (const [name, misdeed] of Object.entries(misdeeds)) {
        await until(async () => {
          const before = runtime.requests.length
          runtime.behave(misdeed, { always: true })
          await send(`to-${kind}`, 'agentchat')
          return runtime.requests.length > before
        }, `${kind} is asked for ${name}`)
      }
      runtime.behave(undefined, { always: true })
      for (const asked of runtime.requests) canaries.addProofs(`a request to ${kind}`, asked.headers)
    })
  )
  await world.runtimes.poke.close()
  await send('to-poke', 'agentchat')
  await world.runtimes.grok.close()
  await send('to-secret-url', 'agentchat')
}

/** Configs that are wrong in ways that involve a secret. */
function wrongConfigs(canaries, config) {
  const secret = name => canaries.add(`a secret in a wrong config: ${name}`, unique())
  const changed = change => {
    const copy = structuredClone(config)
    change(copy, copy.routes['in-poke'])
    return JSON.stringify(copy, null, 2)
  }
  const url = change => changed(copy => change(copy.routes['to-poke'].target.trigger))
  return [
    changed((_, route) => (route.secrets = [secret('bare')])),
    changed((_, route) => (route.secrets = secret('no array'))),
    changed((_, route) => (route.secrets = [{ env: secret('as the name of a variable') }])),
    changed((_, route) => (route.secrets = [{ env: secret('in capitals').toUpperCase() }])),
    changed((_, route) => (route.secrets = [{ file: secret('as the name of a file') }])),
    changed((_, route) => (route.secrets = [{ literal: `whsec_${secret('no base64')}!` }])),
    changed((_, route) => (route.secrets = [{ literal: `${secret('a newline')}\n\n${secret('a second line')}` }])),
    changed((_, route) => (route.secrets = [{ literal: secret('too long').repeat(50) }])),
    changed((_, route) => (route.secrets = [{ litteral: secret('a typing mistake') }])),
    changed((_, route) => (route.secrets = [{ literal: secret('twice'), env: secret('twice') }])),
    changed((_, route) => (route.secret = secret('a key that is not known'))),
    changed(copy => (copy.token = secret('at the top'))),
    changed(copy => (copy.store = `redis://:${secret('a slash')}/${secret('after the slash')}@127.0.0.1:1/0`)),
    changed(copy => (copy.store = `redis://${secret('no password')}@127.0.0.1`)),
    changed(copy => (copy.store = `redis://x:${secret('a percent')}%zz@127.0.0.1`)),
    changed(copy => (copy.store = `redis://x:${secret('a bad port')}@127.0.0.1:http`)),
    changed(copy => (copy.store = `redis://x:${secret('a query')}@127.0.0.1:1?password=${secret('in the query')}`)),
    changed(copy => (copy.store = `reddis://x:${secret('a scheme')}@127.0.0.1:1`)),
    changed(copy => (copy.rooms.tokens[0].token = secret('a bare token'))),
    changed(copy => (copy.rooms.tokens[1].token = copy.rooms.tokens[0].token)),
    url(trigger => (trigger.token = secret('a bare target token'))),
    url(trigger => (trigger.secret = trigger.token)),
    url(trigger => (trigger.url = `http://x:${secret('a user')}@127.0.0.1/`)),
    url(trigger => (trigger.url = `ftp://127.0.0.1/${secret('another scheme')}`)),
    url(trigger => (trigger.url = `http://127.0.0.1:x/${secret('no port')}`)),
    url(trigger => (trigger.url = `http://127.0.0.1/${secret('a fragment')}#x`)),
    url(trigger => (trigger.url = `http://127.0.0.1/${secret('a blank')} x`)),
    url(trigger => (trigger.url = `http://169.254.169.254/${secret('metadata')}`)),
    url(trigger => Object.assign(trigger, { url: `http://127.0.0.1/${secret('not private')}`, private: false })),
    url(trigger => (trigger.url = { env: secret('the URL as a name') })),
    url(trigger => (trigger.url = { literal: `nonsense ${secret('a URL that is none')}` })),
    url(trigger => (trigger.url = `http://127.0.0.1/${secret('a long URL').repeat(60)}`)),
    JSON.stringify(config).replace('"secrets"', `"secrets": [{"literal": "${secret('broken JSON')}"}`),
    `{"routes": {"x": {"secrets": [{"literal": "${secret('no end of the string')}`,
    `{"a": "${secret('a bad escape')}\\x"}`,
    `{"a": "${secret('bad UTF-8')}\u0000"}`
  ]
}

async function misconfigure(t, canaries, gateway, surfaces, planted) {
  const right = gateway.config
  const file = path.join(scratch(t), 'wrong.json')
  const wrong = [...wrongConfigs(canaries, right), JSON.stringify({ ...right, [planted]: 1 })]
  for (const [i, text] of wrong.entries()) {
    fs.writeFileSync(file, text)
    const checked = await run(['check', '--config', file], { env: gateway.env, cwd: gateway.directory })
    surfaces.put('errors', checked.out, checked.err)
    assert.equal(checked.code, 1, `wrong config ${i} is refused: ${text.slice(0, 300)}`)
    gateway.write(text)
    gateway.child.kill('SIGHUP')
    await gateway.event('reload_failed', i + 1)
  }
  gateway.write(right)
  gateway.child.kill('SIGHUP')
  await gateway.event('reloaded')
}

/** The clients of the rooms: with and without a right, with a wrong token and with none. */
async function join(t, canaries, gateway, surfaces, tokens) {
  const clients = []
  for (const [name, token] of Object.entries({ ...tokens, wrong: canaries.add('a wrong room token', unique()) }))
    for (const transports of [['websocket'], ['polling']]) {
      const options = name === 'header' ? { extraHeaders: { authorization: `Bearer ${token}` } } : { auth: { token } }
      const client = roomClient(t, gateway, undefined, { ...options, transports })
      client.name = name
      client.seen = ''
      client.socket.onAny((...things) => {
        surfaces.put('rooms', things)
        client.seen += JSON.stringify(things)
      })
      await until(() => client.hello.length > 0 || client.refusal, 'the room answers')
      surfaces.put('rooms', client.refusal ?? 'welcome')
      if (client.refusal) continue
      for (const threadId of ['wakes', 'other', token]) surfaces.put('rooms', await client.ask('thread:messages', { threadId }))
      surfaces.put('rooms', await client.ask('run:resume', { threadId: 'wakes', interruptId: token, answer: { token } }))
      clients.push(client)
    }
  return clients
}

/** The pages that anybody may read. */
async function look(gateway, surfaces) {
  for (const page of ['metrics', 'livez', 'readyz']) {
    const got = await gateway.get(`/${page}`)
    surfaces.put(page, got.headers, got.text)
  }
}

/** What Redis would write to disk. */
function saved(redis, password) {
  const done = spawnSync('redis-cli', ['-p', redis.port, '--no-auth-warning', 'SAVE'], { env: { ...process.env, REDISCLI_AUTH: password }, encoding: 'utf8' })
  assert.match(done.stdout, /OK/, done.stderr)
  return fs.readFileSync(path.join(redis.directory, 'dump.rdb'), 'latin1')
}

/** Redis is gone, wants another password, knows no AUTH and repeats it, is no Redis, comes back. */
async function loseStore(canaries, gateway, surfaces, redis, password, send) {
  const right = redis.options
  const told = reason => until(() => gateway.log('store_down').some(entry => reason.test(entry.text)), () => `${reason} is logged:\n${gateway.everything().slice(-3000)}`)
  const see = async () => {
    assert.equal((await send('to-openclaw', 'agentchat')).json.code, 'store_unavailable')
    await look(gateway, surfaces)
  }
  await redis.kill()
  await told(/refused|closed|reset/i)
  await see()
  const wrong = [
    [['--requirepass', canaries.add('another password of Redis', unique())], /WRONGPASS/],
    [['--requirepass', password, '--rename-command', 'AUTH', 'OTHER'], /unknown|refuses|ERR/]
  ]
  for (const [options, reason] of wrong) {
    redis.options = options
    await redis.start()
    await told(reason)
    await see()
    await redis.kill()
  }
  const parrot = net.createServer(socket => socket.on('error', () => {}).on('data', chunk => socket.end(`-${password} is none of ${chunk.toString().replaceAll('\r\n', ' ')}\r\n`))).listen(redis.port, '127.0.0.1')
  await once(parrot, 'listening')
  await told(/does not take the password/)
  await see()
  parrot.close()
  await once(parrot, 'close')
  redis.options = right
  await redis.start()
  await until(async () => (await gateway.get('/readyz')).status === 200, 'the store is there again')
}

/** The subcommands that print something of a wake or of a config. One that prints what the store
 * knows of deliveries belongs here. */
async function runCommands(t, canaries, gateway, surfaces, planted) {
  const directory = scratch(t)
  const options = { env: gateway.env, cwd: gateway.directory }
  const put = (where, { out, err }) => surfaces.put(where, out, err)
  const checked = await run(['check', '--config', gateway.file], options)
  assert.equal(checked.code, 0, checked.out + checked.err)
  put('check', checked)
  for (const shape of [[], ['--json']]) put('doctor', await run(['check', '--live', '--config', gateway.file, '--agentchat-url', 'http://127.0.0.1:9', ...shape], options))
  const words = ['--help', 'help', 'version', ...['serve', 'check', 'send', 'verify', 'sink', 'deliveries', 'redeliver', 'subscription', 'secret', 'healthcheck'].map(command => [command, '--help'])]
  for (const word of words) put('help', await run([word].flat(), options))
  const echoing = new Runtime(takes('poke'))
  await echoing.listen()
  t.after(() => echoing.close())
  for (const dialect of dialects) {
    const secret = makeSecret(canaries, `the secret of a command in ${dialect}`, dialect)
    const secretFile = path.join(directory, 'secret')
    const capture = path.join(directory, 'capture')
    fs.writeFileSync(secretFile, secret)
    const verify = async (key, over) => {
      const { headers, body } = framed(dialect, newWake({ delivery_id: `${planted}-${crypto.randomUUID()}` }), { secret: key, ...over })
      canaries.addProofs('a captured wake', headers)
      const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) }).map(([name, value]) => `${name}: ${value}\r\n`)
      fs.writeFileSync(capture, `POST /wake HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
      const result = await run(['verify', '--dialect', dialect, '--secret-file', secretFile, capture], options)
      put('verify', result)
      return result.code
    }
    assert.equal(await verify(secret), 0, dialect)
    assert.equal(await verify(makeSecret(canaries, 'another secret', dialect)), 1, dialect)
    await verify(secret, { at: seconds() - 9999, body: '{"broken' })

    const send = async url => put('send', await run(['send', '--dialect', dialect, '--secret-file', secretFile, '--url', url, '--handle', handle, '--delivery-id', `${planted}-sent`], options))
    for (const misdeed of Object.values(misdeeds).filter(how => how !== misdeeds.hang)) {
      echoing.behave(misdeed, { always: true })
      await send(echoing.url)
    }
    for (const asked of echoing.requests) canaries.addProofs('a request of send', asked.headers)

    const sink = spawn(program, ['sink', '--listen', '127.0.0.1:0', '--dialect', dialect, '--secret-file', secretFile])
    let out = ''
    for (const stream of [sink.stdout, sink.stderr]) stream.on('data', chunk => (out += chunk))
    const { listening } = JSON.parse(await until(() => out.split('\n').slice(0, -1)[0], 'the sink listens'))
    for (const key of [secret, makeSecret(canaries, 'a third secret', dialect)]) {
      const asked = framed(dialect, newWake({ delivery_id: `${planted}-${crypto.randomUUID()}` }), { secret: key })
      canaries.addProofs('a request to sink', asked.headers)
      const got = await request(`${listening}/wake?token=${secret}`, asked)
      surfaces.put('sink', got.text, got.headers)
    }
    sink.kill()
    await once(sink, 'close')
    surfaces.put('sink', out)
    // The secret in the place of its file, of an option, of a word; each command has its turn.
    const command = ['verify', 'sink', 'send', 'serve', 'check'][dialects.indexOf(dialect) % 5]
    for (const wrong of [['--secret-file', secret], [`--secret=${secret}`], ['--secret', secret], [secret]]) put('usage', await run([command, ...wrong], options))
  }
}

/** An AgentChat that repeats what it was sent, fails, and speaks no HTTP; and secrets in wrong places. */
async function runSubscription(t, canaries, surfaces, planted) {
  const directory = scratch(t)
  const chat = new Runtime(() => ({ status: 200, body: { state: 'active' } }))
  await chat.listen()
  t.after(() => chat.close())
  const key = canaries.add('the API key', `ac_live_${unique()}`, 'ac_live_')
  const file = path.join(directory, 'wakegate.json')
  const places = ['wake', 'wake-next'].map(name => path.join(directory, name))
  const options = { env: { AGENTCHAT_API_KEY: key, CANARY_POKE: unique() }, cwd: directory }
  const target = { trigger: { runtime: 'poke', url: 'https://runtime.example.com/', token: { env: 'CANARY_POKE' } } }
  const ask = async (...words) => {
    const { out, err } = await run(['subscription', ...words, '--config', file], options)
    for (const place of places) canaries.add('a secret of a rotation', fs.readFileSync(place, 'utf8').trim().replace('whsec_', ''))
    surfaces.put('subscription', out, err)
  }
  const way = [planted, '--api', chat.url, '--private', '--wait', '0', '--linger', '0']
  const taken = dialects.filter(name => name !== 'bearer-json')
  const ways = [undefined, ...Object.values(misdeeds).filter(how => how !== misdeeds.hang)]
  for (const [i, misdeed] of ways.entries()) {
    const dialect = taken[i % taken.length]
    const secret = makeSecret(canaries, `the secret of a subscription in ${dialect}`, dialect)
    for (const place of places) fs.writeFileSync(place, secret)
    fs.writeFileSync(file, JSON.stringify({ public_url: 'https://wake.example.com', routes: { [planted]: { dialect, handle, secrets: places.map(place => ({ file: place })), prompt: 'Read the tray.', target } } }))
    chat.behave(misdeed, { always: true })
    for (const verb of ['set', 'show', 'test', 'remove']) await ask(verb, ...way)
    await ask('test', ...way, '--gateway', chat.url)
    await ask('set', ...way, '--rotate', '--gateway', chat.url)
    await ask('set', ...way, '--gateway', chat.url)
  }
  const secret = fs.readFileSync(places[0], 'utf8')
  for (const wrong of [['--key', key], [`--key=${key}`], [key], ['--key-file', key], ['--api', `https://x:${key}@api.example.com`], ['--gateway', `http://x:${secret}@127.0.0.1:1`], ['--url', `https://x:${secret}@wake.example.com`], ['--secret', secret]]) await ask('set', planted, '--api', chat.url, '--private', ...wrong)
  await ask(key)
  await ask('set', secret)
  surfaces.put('subscription', await run(['secret', '--dialect', key], options), await run(['secret', secret], options))
  for (const asked of chat.requests) canaries.addProofs('a request of subscription', asked.headers)
  assert.ok(chat.requests.filter(({ method }) => method === 'PUT').length > 10, 'secrets were registered')
}

test('no secret, signature, token or secret URL comes out, whatever happens', { timeout: 170_000 }, async t => {
  const canaries = new Canaries()
  const surfaces = new Surfaces()
  const planted = `planted-${unique().slice(0, 32)}` // a route's name may hold it
  const visible = new Canaries()
  visible.add('planted', planted, 'planted-')

  const bodies = new Canaries()
  const text = bodies.add('a body', unique())

  const directory = scratch(t)
  const places = new Places(directory)
  const world = await makeWorld(t, canaries, places, planted)
  const password = canaries.add('the password of Redis', unique())
  const redis = await startRedis(t, '--requirepass', password, '--rdbcompression', 'no')
  const store = `redis://:${password}@127.0.0.1:${redis.port}/0`
  const tokens = { worker: canaries.add('a room token', unique()), reader: canaries.add('a room token of a reader', unique()), stranger: canaries.add('a room token for another thread', unique()) }
  const client = (name, threads, rights) => ({ client: name, token: places.of(tokens[name]), threads, rights })
  const rooms = { tokens: [client('worker', ['wakes'], ['read', 'answer']), client('reader', ['wakes'], ['read']), client('stranger', ['other'], ['read'])], threads: ['wakes', 'other'] }
  const config = { store: places.of(store), rooms, budget: '1s', routes: world.routes }
  const gateway = makeGateway(t, config, { env: places.env, directory })
  gateway.mayWrite = /the secret stands here as a literal/
  await gateway.start()

  const clients = await join(t, canaries, gateway, surfaces, tokens)
  const send = await sendAll(canaries, world, gateway, surfaces, planted, text)
  await failAll(canaries, world, send)
  gateway.child.kill('SIGUSR1')
  await look(gateway, surfaces)
  await misconfigure(t, canaries, gateway, surfaces, planted)
  for (const client of clients.filter(({ name }) => name === 'reader')) await until(() => client.seen.includes(planted), 'the wake is seen in the room')
  for (const client of clients.filter(({ name }) => name === 'stranger')) assert.equal(client.seen.includes(planted), false, 'nobody sees a thread without a right to it')
  surfaces.put('store', saved(redis, password))
  await Promise.all([loseStore(canaries, gateway, surfaces, redis, password, send), runCommands(t, canaries, gateway, surfaces, planted), runSubscription(t, canaries, surfaces, planted)])
  surfaces.put('command line', fs.readFileSync(`/proc/${gateway.child.pid}/cmdline`, 'latin1'))
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  surfaces.put('log', gateway.everything())

  assert.ok(canaries.size > 5000, `${canaries.size} things are looked for`)
  assert.deepEqual([...new Set(surfaces.leaks(canaries))], [])
  for (const where of ['log', 'answers', 'metrics', 'livez', 'readyz', 'send']) assert.deepEqual(bodies.find(surfaces.texts[where]), [], `no body in ${where}`)
  for (const where of ['rooms', 'store']) assert.notDeepEqual(bodies.find(surfaces.texts[where]), [], `the body is seen in ${where}, where it belongs`)
  for (const [where, text] of Object.entries(surfaces.texts)) assert.ok(text.length > 10, `something came out of ${where}`)
  for (const where of ['log', 'answers', 'metrics', 'rooms', 'store', 'errors', 'verify', 'send', 'sink', 'subscription'])
    assert.notDeepEqual(visible.find(surfaces.texts[where]), [], `the search finds what is planted in ${where}`)
})
