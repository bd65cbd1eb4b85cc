// SPDX-License-Identifier: Apache-2.0
// Every dialect in, every trigger out: a wake is relayed once, and its repeats are duplicates.
import assert from 'node:assert/strict'
import { before, after, test } from 'node:test'
import { request } from './http.mjs'
import { route, startGateway, trigger } from './gateway.mjs'
import { startRuntime } from './runtimes.mjs'
import { pause, until } from './until.mjs'
import { framed, framings, handle, instruction, newWake, textDialects, textOf } from './wakes.mjs'

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

test('a wake for another handle is refused', async () => {
  for (const dialect of inbound.filter(name => !textDialects.includes(name))) {
    const answer = await gateway.wake(`${dialect}-poke`, dialect, newWake({ handle: '@somebody-else' }))
    assert.equal(answer.status, 403, answer.text)
    assert.equal(answer.json.code, 'wrong_handle')
  }
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

