// SPDX-License-Identifier: Apache-2.0
// The response contract, row by row, from outside: status, code, Retry-After, and what the id is worth
// afterwards.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaults, makeGateway, route, startGateway, trigger } from './gateway.mjs'
import { raw, request } from './http.mjs'
import { answer, startRuntime } from './runtimes.mjs'
import { pause, until } from './until.mjs'
import { framed, newWake, textOf } from './wakes.mjs'

/** A gateway with one route `relay` from agentchat to one runtime of `kind`. */
async function relayTo(t, kind, { over = {}, target = {}, config = {}, ready = true } = {}) {
  const runtime = await startRuntime(t, kind)
  const routes = { relay: route('agentchat', trigger(runtime, target), over) }
  const gateway = await startGateway(t, { budget: '1500ms', routes, ...config }, { ready })
  return { runtime, gateway, send: wake => gateway.wake('relay', 'agentchat', wake) }
}

function expectError(got, status, code, retryAfter) {
  assert.equal(got.status, status, got.text)
  assert.equal(got.json.code, code)
  assert.equal(typeof got.json.message, 'string')
  const { code: _, message: __, delivery_id: ___, ...more } = got.json
  assert.deepEqual(more, {})
  if (retryAfter === undefined) assert.equal(got.headers['retry-after'], undefined)
  else {
    const seconds = Number(got.headers['retry-after'])
    assert.ok(Number.isInteger(seconds), `Retry-After: ${got.headers['retry-after']}`)
    const [least, most] = retryAfter
    assert.ok(seconds >= least && seconds <= most, `Retry-After: ${seconds}, not in ${least}..${most}`)
  }
}

// --- accepted ------------------------------------------------------------------------------------

test('tested: on_test "answer" stops a structured test wake, and only that', async t => {
  const { runtime, send } = await relayTo(t, 'poke', { over: { on_test: 'answer' } })
  const wake = newWake({ reason: 'test', test: true, conversations: [] })
  for (let i = 0; i < 2; i++) {
    const got = await send(wake)
    assert.equal(got.status, 200, got.text)
    assert.equal(got.json.status, 'tested')
    assert.equal(got.json.delivery_id, wake.delivery_id)
  }
  assert.equal(runtime.requests.length, 0)
  assert.equal((await send(newWake())).json.status, 'relayed')
})

test('a test wake goes all the way without on_test, and with "relay"', async t => {
  for (const over of [{}, { on_test: 'relay' }]) {
    const { runtime, send } = await relayTo(t, 'poke', { over })
    const got = await send(newWake({ reason: 'test', test: true, conversations: [] }))
    assert.equal(got.json.status, 'relayed', got.text)
    assert.equal(runtime.requests.length, 1)
  }
})

test('on_test "answer" in a text dialect: a test is known by the fields beside the text, and by nothing in it', async t => {
  const runtime = await startRuntime(t, 'poke')
  const gateway = await startGateway(t, { routes: { relay: route('openclaw', trigger(runtime), { on_test: 'answer' }) } })
  gateway.mayWrite = /on_test/
  const wake = newWake({ reason: 'test', test: true, conversations: [], summary: 'AgentChat test wake.' })
  const message = textOf(wake)
  const send = body => gateway.wake('relay', 'openclaw', wake, { body: JSON.stringify(body) })
  for (const beside of [wake, { ...wake, test: undefined }, { ...wake, reason: undefined }]) {
    const got = await send({ message, ...beside })
    assert.equal(got.json.status, 'tested', got.text)
    assert.equal(got.json.delivery_id, wake.delivery_id)
  }
  assert.equal(runtime.requests.length, 0)
  assert.equal((await send({ message })).json.status, 'relayed')
  assert.equal(runtime.requests.length, 1)
})

const acceptances = {
  openclaw: [[200, { ok: true, runId: 'run-1' }, 'run-1'], [202, { ok: true, runId: 'run-2' }, 'run-2']],
  hermes: [[202, { status: 'accepted', delivery_id: 'x' }], [202, { status: 'coalesced' }], [200, { status: 'duplicate', delivery_id: 'x' }], [200, { status: 'delivered' }]],
  poke: [[200, { success: true }], [201, '']],
  grok: [[200, ''], [202, {}]],
  'standard-webhooks': [[200, ''], [202, ''], [204, '']],
  agentchat: [[200, { status: 'relayed', run: 'deeper' }], [204, '']]
}

for (const [kind, answers] of Object.entries(acceptances)) {
  test(`relayed by ${kind}: every answer that means it`, async t => {
    const { runtime, send } = await relayTo(t, kind)
    for (const [status, body, run] of answers) {
      const wake = newWake()
      runtime.behave(answer(status, body))
      const got = await send(wake)
      assert.equal(got.json.status, 'relayed', `${status} ${JSON.stringify(body)}: ${got.text}`)
      if (run) assert.equal(got.json.run, run)
      assert.equal((await send(wake)).json.status, 'duplicate')
    }
  })
}

test('openclaw wake: queued and coalesced are both accepted', async t => {
  const { runtime, send } = await relayTo(t, 'openclaw', { target: { variant: 'wake' } })
  for (const eventOutcome of ['queued', 'coalesced']) {
    runtime.behave(answer(200, { ok: true, mode: 'now', eventOutcome }))
    assert.equal((await send(newWake())).json.status, 'relayed')
  }
})

// --- the target's answers ------------------------------------------------------------------------

const refusals = {
  'claude-code': [
    [400, { type: 'error', error: { type: 'invalid_request_error', message: 'routine is paused' } }],
    [401, { type: 'error', error: { type: 'authentication_error', message: 'x' } }],
    [403, { type: 'error', error: { type: 'permission_error', message: 'x' } }],
    [404, { type: 'error', error: { type: 'not_found_error', message: 'x' } }]
  ],
  openclaw: [[204, ''], [400, { ok: false, error: 'unknown agentId "x"' }], [401, 'Unauthorized'], [404, 'Not Found'], [405, 'Method Not Allowed'], [413, { ok: false, error: 'payload too large' }]],
  hermes: [[200, { status: 'ignored', event: 'agentchat.wake' }], [200, { status: 'ignored', reason: 'filter' }], [401, { error: 'Invalid signature' }], [403, { error: 'disabled' }], [404, { error: 'Unknown route: x' }], [413, { error: 'Payload too large' }]],
  poke: [[401, { error: 'Invalid API key' }], [403, { error: 'scope' }], [400, { error: 'message is required' }]],
  grok: [[400, {}], [401, {}], [404, {}]],
  'standard-webhooks': [[301, '', { location: 'http://127.0.0.1:1/' }], [302, '', { location: '/elsewhere' }], [400, ''], [404, '']],
  agentchat: [[400, { error: 'bad_signature' }], [307, '', { location: '/elsewhere' }]]
}

for (const [kind, answers] of Object.entries(refusals)) {
  test(`target_refused by ${kind}: 502, the id is free`, async t => {
    const { runtime, send } = await relayTo(t, kind)
    for (const [status, body, headers] of answers) {
      const wake = newWake()
      const before = runtime.requests.length
      runtime.behave(answer(status, body, headers))
      expectError(await send(wake), 502, 'target_refused')
      assert.equal(runtime.requests.length, before + 1, 'one request, no redirect followed')
      assert.equal((await send(wake)).json.status, 'relayed', `free after ${status}`)
    }
  })
}

test('target_gone: 410 from the target is 502, the id is free', async t => {
  for (const kind of ['standard-webhooks', 'agentchat', 'grok']) {
    const { runtime, send } = await relayTo(t, kind)
    const wake = newWake()
    runtime.behave(answer(410))
    expectError(await send(wake), 502, 'target_gone')
    assert.equal((await send(wake)).json.status, 'relayed')
  }
})

const unavailable = {
  'claude-code': [[429, '', { 'retry-after': '17' }, [17, 17]], [500, ''], [503, '']],
  openclaw: [[408, ''], [409, { ok: false, error: 'hook configuration changed; retry request' }], [502, ''], [503, '']],
  hermes: [[429, { error: 'Rate limit exceeded' }, {}, [60, 3600]], [502, { error: 'Delivery failed' }], [500, '']],
  poke: [[429, ''], [500, ''], [503, '']],
  grok: [[429, '', { 'retry-after': '5' }, [5, 5]], [500, '']],
  'standard-webhooks': [[429, '', { 'retry-after': '33' }, [33, 33]], [502, ''], [503, '', { 'retry-after': '8' }, [8, 8]], [504, '']],
  agentchat: [[503, { code: 'overloaded' }, { 'retry-after': '3' }, [3, 3]], [500, '']]
}

for (const [kind, answers] of Object.entries(unavailable)) {
  test(`target_unavailable at ${kind}: 503 with Retry-After, the id is free`, async t => {
    const { runtime, send } = await relayTo(t, kind)
    for (const [status, body, headers, expected] of answers) {
      const wake = newWake()
      runtime.behave(answer(status, body, headers))
      expectError(await send(wake), 503, 'target_unavailable', expected ?? [1, 3600])
      assert.equal((await send(wake)).json.status, 'relayed', `free after ${status}`)
    }
  })
}

test('Retry-After of a target: dates are read, nonsense and huge values are clamped', async t => {
  const { runtime, send } = await relayTo(t, 'standard-webhooks')
  const cases = [
    [new Date(Date.now() + 120_000).toUTCString(), [110, 121]],
    [new Date(Date.now() - 120_000).toUTCString(), [1, 60]],
    ['-5', [1, 60]],
    ['soon', [1, 60]],
    ['1.5', [1, 60]],
    ['99999999999999999999', [1, 3600]],
    ['86400', [3600, 3600]]
  ]
  for (const [value, expected] of cases) {
    runtime.behave(answer(503, '', { 'retry-after': value }))
    expectError(await send(newWake()), 503, 'target_unavailable', expected)
  }
})

test('a target that refuses connections is unavailable, and back when it listens', async t => {
  const { runtime, send } = await relayTo(t, 'poke')
  const { port } = new URL(runtime.url)
  await runtime.close()
  const wake = newWake()
  expectError(await send(wake), 503, 'target_unavailable', [1, 3600])
  await runtime.listen(Number(port))
  assert.equal((await send(wake)).json.status, 'relayed')
})

test('a huge answer from a target is cut, and counts by its status', async t => {
  const { runtime, send } = await relayTo(t, 'poke')
  runtime.behave(answer(200, 'x'.repeat(8 * 1024 * 1024)))
  assert.equal((await send(newWake())).json.status, 'relayed')
  assert.equal((await send(newWake())).json.status, 'relayed')
})

// --- ambiguous -----------------------------------------------------------------------------------

for (const kind of ['claude-code', 'poke', 'grok']) {
  for (const how of ['hang', 'reset']) {
    test(`ambiguous at ${kind} (${how}): 504; the id is held and the target rests`, async t => {
      const { runtime, send } = await relayTo(t, kind, { target: { hold: '2s' } })
      const wake = newWake()
      runtime.behave(how)
      expectError(await send(wake), 504, 'target_timeout')
      expectError(await send(wake), 503, 'held', [1, 3])
      expectError(await send(newWake()), 503, 'resting', [1, 3])
      assert.equal(runtime.requests.length, 1)
      const got = await until(async () => {
        const answer = await send(wake)
        return answer.status === 200 ? answer : undefined
      }, 'the hold is over')
      assert.equal(got.json.status, 'relayed')
      assert.equal(runtime.runs.length, 1)
    })
  }
}

test('the hold is four minutes unless the target says otherwise', async t => {
  const { runtime, send } = await relayTo(t, 'claude-code')
  const wake = newWake()
  runtime.behave('reset')
  expectError(await send(wake), 504, 'target_timeout')
  expectError(await send(wake), 503, 'held', [230, 240])
})

for (const kind of ['openclaw', 'hermes', 'standard-webhooks', 'agentchat']) {
  test(`slow at ${kind}: 504, the request goes on, the retry finds its outcome`, async t => {
    const { runtime, send } = await relayTo(t, kind)
    const wake = newWake()
    runtime.behave('park')
    expectError(await send(wake), 504, 'target_timeout')
    expectError(await send(wake), 503, 'in_flight', [1, 60])
    runtime.unpark()
    const got = await until(async () => {
      const answer = await send(wake)
      return answer.status === 200 ? answer : undefined
    }, 'the background relay is settled')
    assert.equal(got.json.status, 'duplicate')
    assert.equal(runtime.requests.length, 1)
    assert.equal(runtime.runs.length, 1)
  })
}

test('an idempotent target that dropped the connection may be asked again with the same key', async t => {
  const { runtime, send } = await relayTo(t, 'openclaw')
  const wake = newWake()
  runtime.behave('reset')
  const got = await send(wake)
  assert.ok([200, 503, 504].includes(got.status), got.text)
  const end = await until(async () => {
    const answer = await send(wake)
    return answer.status === 200 ? answer : undefined
  }, 'the wake is relayed')
  assert.ok(['relayed', 'duplicate'].includes(end.json.status))
  const keys = new Set(runtime.requests.map(request => request.headers['idempotency-key']))
  const bodies = new Set(runtime.requests.map(request => request.body))
  assert.deepEqual([keys.size, bodies.size], [1, 1], 'the same key and the same bytes')
})

test('a target that is not idempotent gets a fresh connection each time', async t => {
  const { runtime, send } = await relayTo(t, 'claude-code')
  const ports = new Set()
  for (let i = 0; i < 5; i++) {
    assert.equal((await send(newWake())).json.status, 'relayed')
    ports.add(runtime.requests.at(-1).socket.remotePort ?? runtime.requests.at(-1).socket)
  }
  assert.equal(new Set(runtime.requests.map(request => request.socket)).size, 5)
})

// --- pacing, load --------------------------------------------------------------------------------

test('paced: an empty bucket is 503 with Retry-After and the id stays free', async t => {
  const { runtime, send } = await relayTo(t, 'claude-code', { target: { pace: { per_hour: 1800, burst: 2 } } })
  for (let i = 0; i < 2; i++) assert.equal((await send(newWake())).json.status, 'relayed')
  const wake = newWake()
  expectError(await send(wake), 503, 'paced', [1, 2])
  assert.equal(runtime.requests.length, 2)
  const got = await until(async () => {
    const answer = await send(wake)
    return answer.status === 200 ? answer : undefined
  }, 'the bucket has a token')
  assert.equal(got.json.status, 'relayed')
})

test('a duplicate takes no token', async t => {
  const { send } = await relayTo(t, 'poke', { target: { pace: { per_hour: 1, burst: 1 } } })
  const wake = newWake()
  assert.equal((await send(wake)).json.status, 'relayed')
  for (let i = 0; i < 3; i++) assert.equal((await send(wake)).json.status, 'duplicate')
})

test('overloaded: more relays in flight than allowed', async t => {
  const { runtime, gateway, send } = await relayTo(t, 'hermes', { config: { max_in_flight: 2, budget: '8s' } })
  runtime.behave('park')
  runtime.behave('park')
  const two = [send(newWake()), send(newWake())]
  await until(() => runtime.parked === 2, 'two are in flight')
  const wake = newWake()
  expectError(await send(wake), 503, 'overloaded', [1, 3600])
  runtime.unpark()
  for (const got of await Promise.all(two)) assert.equal(got.json.status, 'relayed')
  assert.equal((await send(wake)).json.status, 'relayed', gateway.everything())
})

// --- the request itself --------------------------------------------------------------------------

test('the request itself: route, method, encoding, size, length, expectation', async t => {
  const { runtime, gateway } = await relayTo(t, 'poke')
  const at = `${gateway.url}/wake/relay`
  const good = framed('agentchat', newWake())

  expectError(await request(`${gateway.url}/wake/nobody`, good), 404, 'unknown_route')
  expectError(await request(`${gateway.url}/wake/`, good), 404, 'unknown_route')
  expectError(await request(`${gateway.url}/wake/relay/more`, good), 404, 'unknown_route')
  assert.equal((await request(`${gateway.url}/nothing`, good)).status, 404)

  for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    const got = await request(at, { ...good, method })
    expectError(got, 405, 'method_not_allowed')
    assert.equal(got.headers.allow, 'POST')
  }
  const head = await request(at, { method: 'HEAD', headers: good.headers })
  assert.equal(head.status, 405)
  assert.equal(head.text, '')

  for (const encoding of ['gzip', 'br', 'deflate'])
    expectError(await request(at, { ...good, headers: { ...good.headers, 'content-encoding': encoding } }), 415, 'unsupported_encoding')

  expectError(await request(at, { ...good, body: 'x'.repeat(65537) }), 413, 'too_large')
  const big = await raw(gateway.url, [
    'POST /wake/relay HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
    ...Array(20).fill(`2000\r\n${'x'.repeat(0x2000)}\r\n`)
  ])
  assert.match(big.text, /^HTTP\/1\.1 413 /)
  assert.match(big.text, /"too_large"/)

  const lengthless = await raw(gateway.url, 'POST /wake/relay HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\r\n')
  assert.match(lengthless.text, /^HTTP\/1\.1 (411|401) /)

  const expect = await raw(gateway.url, 'POST /wake/relay HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: the-unexpected\r\n\r\n')
  assert.match(expect.text, /^HTTP\/1\.1 417 /)

  assert.equal(runtime.requests.length, 0)
})

test('Expect: 100-continue gets its go-ahead, or the final answer at once', async t => {
  const { gateway } = await relayTo(t, 'poke')
  const wake = newWake()
  const { headers, body } = framed('agentchat', wake)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = `POST /wake/relay HTTP/1.1\r\nHost: x\r\n${lines}Content-Length: ${Buffer.byteLength(body)}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`
  const got = await raw(gateway.url, [head, body])
  assert.match(got.text, /^HTTP\/1\.1 100 /)
  assert.match(got.text, /"relayed"/)
  const tooBig = await raw(gateway.url, 'POST /wake/relay HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n')
  assert.match(tooBig.text, /^HTTP\/1\.1 413 /)
})

test('header shapes that must not pass: no 2xx, no effect, connection closed', async t => {
  const { runtime, gateway } = await relayTo(t, 'poke')
  const { headers, body } = framed('agentchat', newWake())
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`
  const whole = (extra, { version = '1.1', host = 'Host: x\r\n', sized = length } = {}) =>
    `POST /wake/relay HTTP/${version}\r\n${host}${lines}${sized}${extra}\r\n${body}`
  const shapes = {
    'two lengths that differ': whole('Content-Length: 5\r\n'),
    'two equal lengths': whole(length),
    'length and chunked': whole('Transfer-Encoding: chunked\r\n'),
    'a coding that is not chunked': whole('Transfer-Encoding: gzip, chunked\r\n', { sized: '' }),
    'two codings': whole('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', { sized: '' }),
    'chunked on HTTP/1.0': whole('Transfer-Encoding: chunked\r\n', { version: '1.0', sized: '' }),
    'two hosts': whole('Host: y\r\n'),
    'no host': whole('', { host: '' }),
    'a name that is no token': whole('Bad Name: x\r\n'),
    'a blank before the colon': whole('X-A : x\r\n'),
    'a control character in a value': whole('X-A: a\x01b\r\n'),
    'a length that is no number': whole('', { sized: 'Content-Length: +5\r\n' }),
    'a negative length': whole('', { sized: 'Content-Length: -1\r\n' }),
    'a bad chunk size': whole('Transfer-Encoding: chunked\r\n', { sized: '' }).replace(body, 'zz\r\nxx\r\n0\r\n\r\n')
  }
  for (const [what, bytes] of Object.entries(shapes)) {
    const got = await raw(gateway.url, bytes)
    assert.doesNotMatch(got.text, /HTTP\/1\.[01] 2\d\d/, what)
    assert.equal(got.closed, true, `${what}: closed`)
  }
  assert.equal(runtime.requests.length, 0)
  assert.equal((await gateway.wake('relay', 'agentchat', newWake())).json.status, 'relayed')
})

test('too many header bytes, an endless head, an endless path: refused and closed', async t => {
  const { gateway, runtime } = await relayTo(t, 'poke')
  for (const bytes of [
    `POST /wake/relay HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(200_000)}\r\n\r\n`,
    `POST /wake/relay HTTP/1.1\r\nHost: x\r\n${'X-A: a\r\n'.repeat(5000)}\r\n`,
    `POST /${'a'.repeat(200_000)} HTTP/1.1\r\nHost: x\r\n\r\n`
  ]) {
    const got = await raw(gateway.url, bytes)
    assert.doesNotMatch(got.text, /HTTP\/1\.1 2\d\d/)
    assert.equal(got.closed, true)
  }
  assert.equal(runtime.requests.length, 0)
})

test('slow heads and slow bodies lose their connection; others are served meanwhile', async t => {
  const { gateway } = await relayTo(t, 'poke', { config: { head_timeout: '1s', body_timeout: '1s' } })
  const slow = [
    raw(gateway.url, 'POST /wake/relay HTTP/1.1\r\nHost: x\r\n', { quiet: 8000 }),
    raw(gateway.url, 'POST /wake/relay HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{', { quiet: 8000 }),
    raw(gateway.url, '', { quiet: 8000 })
  ]
  assert.equal((await gateway.wake('relay', 'agentchat', newWake())).json.status, 'relayed')
  for (const got of await Promise.all(slow)) {
    assert.equal(got.closed, true)
    assert.doesNotMatch(got.text, /HTTP\/1\.1 2\d\d/)
  }
})

test('too many connections from one address: closed or 503, and others go on after', async t => {
  const { gateway } = await relayTo(t, 'poke', { config: { connections_per_address: 4 } })
  const net = await import('node:net')
  const { port } = new URL(gateway.url)
  const sockets = Array.from({ length: 12 }, () => net.connect(Number(port), '127.0.0.1').on('error', () => {}))
  await until(() => sockets.filter(socket => socket.closed || socket.readableEnded).length >= 8 || sockets.filter(s => s.destroyed).length >= 8, 'the surplus is closed').catch(() => {})
  const open = sockets.filter(socket => !socket.destroyed && !socket.readableEnded).length
  for (const socket of sockets) socket.destroy()
  assert.ok(open <= 4, `${open} stayed open`)
  await until(async () => (await gateway.wake('relay', 'agentchat', newWake()).catch(() => ({}))).status === 200, 'served again')
})

test('pipelined requests are answered in order', async t => {
  const { gateway } = await relayTo(t, 'poke')
  const one = bytes => {
    const { headers, body } = framed('agentchat', bytes)
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
    return `POST /wake/relay HTTP/1.1\r\nHost: x\r\n${lines}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }
  const wakes = [newWake(), newWake(), newWake()]
  const got = await raw(gateway.url, wakes.map(one).join(''), { quiet: 2000 })
  const ids = [...got.text.matchAll(/"delivery_id": ?"([^"]+)"/g)].map(match => match[1])
  assert.deepEqual(ids, wakes.map(wake => wake.delivery_id))
})

// --- the store -----------------------------------------------------------------------------------

test('store_unavailable: no Redis there, no wake goes out, 503', async t => {
  const { runtime, send } = await relayTo(t, 'poke', { config: { store: 'redis://127.0.0.1:1/0' }, ready: false })
  expectError(await send(newWake()), 503, 'store_unavailable', [1, 3600])
  assert.equal(runtime.requests.length, 0)
})

test('forged wakes cost no store: they are 401 while it is down', async t => {
  const { gateway } = await relayTo(t, 'poke', { config: { store: 'redis://127.0.0.1:1/0' }, ready: false })
  const got = await gateway.wake('relay', 'agentchat', newWake(), { secret: 'wrong' })
  expectError(got, 401, 'unauthorized')
})

test('the embedded store refuses a second process on its file', async t => {
  const { gateway } = await relayTo(t, 'poke')
  const second = makeGateway(t, { ...defaults, store: `sqlite:${gateway.directory}/wakegate.db`, routes: gateway.config.routes })
  second.mayFail = true
  second.mayWrite = /in use by another process/
  second.launch()
  const end = await Promise.race([second.over, pause(15_000).then(() => undefined)])
  assert.equal(end?.code, 1, 'the second one ends')
})
