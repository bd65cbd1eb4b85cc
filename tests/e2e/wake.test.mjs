// SPDX-License-Identifier: Apache-2.0
// Every dialect in, every trigger out: a wake is relayed once, its repeats are duplicates, and nothing
// that is not proven, not ours or not a wake reaches a runtime.
import assert from 'node:assert/strict'
import { before, after, test } from 'node:test'
import { request } from './http.mjs'
import { route, startGateway, trigger } from './gateway.mjs'
import { startRuntime } from './runtimes.mjs'
import { pause, until } from './until.mjs'
import { bearerDialects, framed, framings, handle, hmacHex, instruction, newWake, secret, seconds, textDialects, textOf } from './wakes.mjs'

const inbound = Object.keys(framings)
const outbound = ['claude-code', 'openclaw', 'hermes', 'poke', 'grok', 'standard-webhooks', 'agentchat']
const structuredOut = ['hermes', 'grok', 'standard-webhooks', 'agentchat']
/** Runtimes whose answer names the run that they started. */
const namesRun = ['claude-code', 'openclaw']

// One gateway for the file: its routes are named <dialect in>-<runtime out>.
const cleanups = []
const forFile = { after: cleanup => cleanups.unshift(cleanup) }
const runtimes = {}
let gateway

before(async () => {
  for (const kind of outbound) runtimes[kind] = await startRuntime(forFile, kind)
  const routes = {}
  for (const dialect of inbound)
    for (const kind of outbound) routes[`${dialect}-${kind}`] = route(dialect, trigger(runtimes[kind]), { prompt: instruction })
  routes['openclaw-wake'] = route('agentchat', trigger(runtimes.openclaw, { variant: 'wake', url: `${runtimes.openclaw.url}/hooks/wake` }))
  gateway = await startGateway(forFile, { routes })
})

after(async () => {
  for (const cleanup of cleanups) await cleanup()
})

/** The text that a text runtime got, or the payload that a structured one got. */
const delivered = (kind, { json }) =>
  ({ 'claude-code': () => json.text, openclaw: () => json.message ?? json.text, poke: () => json.message })[kind]?.() ?? json

for (const dialect of inbound) {
  for (const kind of outbound) {
    test(`${dialect} in, ${kind} out: relayed, then a duplicate`, async () => {
      const runtime = runtimes[kind]
      const wake = newWake()
      const began = runtime.runs.length
      const first = await gateway.wake(`${dialect}-${kind}`, dialect, wake)
      assert.equal(first.status, 200, first.text)
      assert.equal(first.json.status, 'relayed')
      assert.equal(first.json.delivery_id, wake.delivery_id)
      assert.match(first.headers['content-type'], /^application\/json/)

      const runs = runtime.runs.slice(began)
      assert.equal(runs.length, 1)
      if (namesRun.includes(kind)) assert.equal(first.json.run, runs[0].run)

      const got = delivered(kind, runs[0].request)
      if (structuredOut.includes(kind)) {
        assert.equal(got.type, 'agentchat.wake')
        assert.equal(got.version, 1)
        assert.equal(got.delivery_id, wake.delivery_id)
        assert.equal(got.handle, handle)
        assert.equal(got.summary, wake.summary)
        if (!textDialects.includes(dialect)) assert.deepEqual(got, wake)
      } else {
        assert.equal(got, textOf(wake), 'the text for the model')
      }

      const again = await gateway.wake(`${dialect}-${kind}`, dialect, wake, { attempt: 2 })
      assert.equal(again.status, 200, again.text)
      assert.equal(again.json.status, 'duplicate')
      assert.equal(again.json.delivery_id, wake.delivery_id)
      assert.equal(runtime.runs.length, began + 1)
    })
  }

  test(`${dialect}: forged, unsigned and altered wakes are refused alike and reach nobody`, async () => {
    const runtime = runtimes['claude-code']
    const began = runtime.requests.length
    const at = `${gateway.url}/wake/${dialect}-claude-code`
    const wake = newWake()
    const right = framed(dialect, wake)
    const attempts = [
      framed(dialect, wake, { secret: 'whsec_' + Buffer.from('another-secret-of-thirty-bytes').toString('base64') }),
      { ...right, headers: { 'content-type': 'application/json' } },
      { ...right, headers: { 'content-type': 'application/json', 'x-webhook-signature': 'x', authorization: 'Basic eDp5' } }
    ]
    if (!bearerDialects.includes(dialect)) attempts.push({ ...right, body: right.body + ' ' })
    const texts = new Set()
    for (const attempt of attempts) {
      const answer = await request(at, attempt)
      assert.equal(answer.status, 401, answer.text)
      assert.equal(answer.json.code, 'unauthorized')
      texts.add(answer.text)
    }
    assert.equal(texts.size, 1, 'one text whatever was wrong')
    assert.equal(runtime.requests.length, began)
    const proven = await request(at, right)
    assert.equal(proven.json.status, 'relayed', 'the id was left alone by the forgeries')
  })
}

test('openclaw /hooks/wake: the other variant', async () => {
  const wake = newWake()
  const began = runtimes.openclaw.runs.length
  const answer = await gateway.wake('openclaw-wake', 'agentchat', wake)
  assert.equal(answer.json.status, 'relayed', answer.text)
  const [{ request: got }] = runtimes.openclaw.runs.slice(began)
  assert.equal(got.path, '/hooks/wake')
  assert.ok(got.json.text.startsWith(wake.summary))
  assert.ok(got.json.text.includes(wake.delivery_id))
})

test('headers and fields that each runtime wants', async () => {
  const wake = newWake()
  const last = kind => runtimes[kind].requests.at(-1)
  for (const kind of outbound) await gateway.wake(`agentchat-${kind}`, 'agentchat', wake)
  assert.equal(last('openclaw').json.deliver, false)
  assert.ok(last('openclaw').headers['idempotency-key'].includes(wake.delivery_id))
  assert.ok(last('hermes').headers['x-request-id'].includes(wake.delivery_id))
  const hermesSchemes = ['svix-signature', 'webhook-signature', 'x-hub-signature-256', 'x-webhook-signature-v2', 'x-webhook-signature']
  assert.equal(hermesSchemes.filter(name => last('hermes').headers[name]).length, 1, 'exactly one scheme')
  assert.ok(last('standard-webhooks').headers['webhook-id'].includes(wake.delivery_id))
  for (const kind of outbound) assert.match(last(kind).headers['content-type'], /^application\/json/)
})

test('the bytes of a structured wake are passed on as they are', async () => {
  const wake = newWake()
  const body = `{ "type":"agentchat.wake",  "version":1,"reason":"messages","handle":"${handle}","conversations":[],"summary":"\\u00e9\\/ caf\\u00e9 \u{1F600}","delivery_id":"${wake.delivery_id}","ts":"${wake.ts}","future":{"n":12345678901234567}}`
  const answer = await gateway.wake('agentchat-agentchat', 'agentchat', wake, { body })
  assert.equal(answer.json.status, 'relayed', answer.text)
  assert.equal(runtimes.agentchat.requests.at(-1).body, body)
})

test('a trace goes on to the runtime and into the log', async () => {
  const id = '0af7651916cd43dd8448eb211c80319c'
  const traced = async headers => {
    const wake = newWake()
    const whole = framed('agentchat', wake)
    const answer = await request(`${gateway.url}/wake/agentchat-poke`, { ...whole, headers: { ...whole.headers, ...headers } })
    assert.equal(answer.json.status, 'relayed', answer.text)
    const { traceparent, tracestate } = runtimes.poke.requests.at(-1).headers
    const lines = () => gateway.entries.filter(entry => entry.delivery_id === wake.delivery_id)
    await until(() => lines().length === 2, 'the delivery and the wake are in the log')
    return { traceparent, tracestate, ids: lines().map(entry => entry.trace_id) }
  }
  const traceparent = `00-${id}-b7ad6b7169203331-01`, tracestate = 'vendor=1'
  assert.deepEqual(await traced({ traceparent, tracestate }), { traceparent, tracestate, ids: [id, id] })
  assert.deepEqual(await traced({ traceparent: `${traceparent}\t` }), { traceparent, tracestate: undefined, ids: [id, id] })
  assert.deepEqual(await traced({ traceparent: 'none', tracestate }), { traceparent: undefined, tracestate: undefined, ids: [undefined, undefined] })
})

test('equal wakes at once: one run, everybody told of it', async () => {
  const runtime = runtimes['claude-code']
  const wake = newWake()
  const began = runtime.runs.length
  runtime.behave('park')
  const answers = Array.from({ length: 8 }, () => gateway.wake('agentchat-claude-code', 'agentchat', wake))
  await until(() => runtime.parked === 1, 'the runtime has the wake')
  await pause(300)
  assert.equal(runtime.parked, 1)
  runtime.unpark()
  for (const { status, json } of await Promise.all(answers)) {
    assert.equal(status, 200)
    assert.ok(['relayed', 'duplicate'].includes(json.status))
  }
  assert.equal(runtime.runs.length, began + 1)
})

test('one id on two routes is two wakes', async () => {
  const wake = newWake()
  const one = await gateway.wake('agentchat-claude-code', 'agentchat', wake)
  const two = await gateway.wake('agentchat-poke', 'agentchat', wake)
  assert.deepEqual([one.json.status, two.json.status], ['relayed', 'relayed'])
})

test('a wake for another handle is refused', async () => {
  for (const dialect of inbound.filter(name => !textDialects.includes(name))) {
    const answer = await gateway.wake(`${dialect}-poke`, dialect, newWake({ handle: '@somebody-else' }))
    assert.equal(answer.status, 403, answer.text)
    assert.equal(answer.json.code, 'wrong_handle')
  }
})

test('what is signed but is no wake is refused and costs no id', async () => {
  const began = runtimes.poke.requests.length
  const good = newWake()
  const text = JSON.stringify(good)
  const bad = {
    'not JSON': 'wake up',
    'nothing': '',
    'an array': '[]',
    'a string': '"agentchat.wake"',
    'bytes after it': text + '{}',
    'a duplicate key': text.replace('{', '{"handle":"@other",'),
    'a NUL in a key': text.replace('{', '{"a\\u0000b":1,'),
    'a NUL in a value': text.replace('"messages"', '"messages\\u0000"'),
    'bad UTF-8': Buffer.concat([Buffer.from(text.slice(0, -1) + ',"x":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    'an integer over 64 bits': text.replace('{', '{"n":123456789012345678901234567890,'),
    'too deep': text.replace('{', `{"n":${'['.repeat(5000)}${']'.repeat(5000)},`),
    'another type': JSON.stringify({ ...good, type: 'agentchat.message' }),
    'no type': JSON.stringify({ ...good, type: undefined }),
    'no delivery_id': JSON.stringify({ ...good, delivery_id: undefined }),
    'an empty delivery_id': JSON.stringify({ ...good, delivery_id: '' }),
    'a delivery_id that is a number': JSON.stringify({ ...good, delivery_id: 7 }),
    'a delivery_id with a blank': JSON.stringify({ ...good, delivery_id: 'a b' }),
    'an endless delivery_id': JSON.stringify({ ...good, delivery_id: 'x'.repeat(5000) }),
    'a handle that is a number': JSON.stringify({ ...good, handle: 7 }),
    'a version that is a string': JSON.stringify({ ...good, version: '1' }),
    'conversations that are none': JSON.stringify({ ...good, conversations: 'conv' })
  }
  for (const [what, body] of Object.entries(bad)) {
    const answer = await gateway.wake('agentchat-poke', 'agentchat', good, { body })
    assert.equal(answer.status, 400, `${what}: ${answer.text}`)
    assert.equal(answer.json.code, 'invalid_wake', what)
    assert.equal(typeof answer.json.message, 'string')
  }
  assert.equal(runtimes.poke.requests.length, began)
  const answer = await gateway.wake('agentchat-poke', 'agentchat', good)
  assert.equal(answer.json.status, 'relayed')
})

test('other versions are refused; unknown fields and reasons wake', async () => {
  for (const version of [0, 2, 99]) {
    const answer = await gateway.wake('agentchat-poke', 'agentchat', newWake({ version }))
    assert.equal(answer.status, 400, answer.text)
    assert.equal(answer.json.code, 'unsupported_version')
  }
  const answer = await gateway.wake('agentchat-poke', 'agentchat', newWake({ reason: 'moonrise', mood: { deep: [1] }, step: 3 }))
  assert.equal(answer.json.status, 'relayed', answer.text)
})

test('every reason wakes', async () => {
  for (const reason of ['messages', 'reminder', 'invite', 'unanswered', 'test']) {
    const over = { reason, conversations: ['invite', 'test'].includes(reason) ? [] : undefined }
    if (reason === 'unanswered') over.step = 2
    if (reason === 'test') over.test = true
    const wake = newWake(over)
    const answer = await gateway.wake('agentchat-hermes', 'agentchat', JSON.parse(JSON.stringify(wake)))
    assert.equal(answer.json.status, 'relayed', answer.text)
    assert.equal(runtimes.hermes.requests.at(-1).json.reason, reason)
  }
})

test('stale: an old or a future signature, and an undated one whose payload is old', async () => {
  for (const off of [-400, 400]) {
    const answer = await gateway.wake('agentchat-poke', 'agentchat', newWake(), { at: seconds() + off })
    assert.equal(answer.status, 401, answer.text)
  }
  const undated = wake => {
    const body = JSON.stringify(wake)
    return request(`${gateway.url}/wake/agentchat-poke`, {
      headers: { 'content-type': 'application/json', 'x-agentchat-signature': hmacHex(secret, body) },
      body
    })
  }
  assert.equal((await undated(newWake())).json.status, 'relayed')
  const hour = 3600_000
  assert.equal((await undated(newWake({ ts: new Date(Date.now() - 24 * hour).toISOString() }))).json.status, 'relayed')
  for (const offset of [-48 * hour, 600_000]) {
    const answer = await undated(newWake({ ts: new Date(Date.now() + offset).toISOString() }))
    assert.equal(answer.status, 401, answer.text)
  }
  assert.equal((await undated(newWake({ ts: undefined }))).status, 401, 'no ts and no signed time')
})

test('header names are read in any case, hex digests in both', async () => {
  const wake = newWake()
  const body = JSON.stringify(wake)
  const at = seconds()
  const answer = await request(`${gateway.url}/wake/agentchat-poke`, {
    headers: { 'Content-Type': 'application/json', 'AGENTCHAT-SIGNATURE': `t=${at},v1=${hmacHex(secret, `${at}.`, body).toUpperCase()}` },
    body
  })
  assert.equal(answer.json.status, 'relayed', answer.text)
})
