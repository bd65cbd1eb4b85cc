// SPDX-License-Identifier: Apache-2.0
// What the target does, and what the sender is told. Each row has a target and a route of its own and
// sends the same wake step by step; `does` is how the target treats that step's request (nothing: as
// documented), `other` sends another wake instead. `again` waits until the step's answer comes.
import { answer } from '../runtimes.mjs'
import { duplicate, gone, held, inFlight, paced, refused, relayed, resting, tested, timeout, unavailable } from './rows.mjs'

const mapped = ['svix bridge', 'argoproj/argo-events#3448']
/** One row for each answer; the same wake is relayed (or a duplicate) right after it. */
const answers = (kind, expect, after, list, reports = mapped) =>
  list.map(([status, body, more = {}]) => ({
    name: `${kind} answers ${status} ${JSON.stringify(body)} ${JSON.stringify(more.headers ?? {})}`,
    reports: more.reports ?? reports,
    kind,
    target: more.target,
    steps: [{ does: answer(status, body, more.headers), expect: { ...expect, ...more.expect } }, { expect: after }]
  }))
const accepts = (kind, list) => answers(kind, relayed, duplicate, list, ['zenml-io/zenml#5215'])
const refuses = (kind, list) => answers(kind, refused, relayed, list)
const cannot = (kind, list) => answers(kind, unavailable, relayed, list)
const wait = (seconds, least = seconds) => ({ headers: { 'retry-after': String(seconds) }, expect: { retryAfter: [least, seconds] } })
const error = (type, message = 'x') => ({ type: 'error', error: { type, message } })

const accepted = [
  ...accepts('openclaw', [[200, { ok: true, runId: 'run-1' }, { expect: { run: 'run-1' } }], [202, { ok: true, runId: 'run-2' }, { expect: { run: 'run-2' } }]]),
  ...answers('openclaw', relayed, duplicate, ['queued', 'coalesced'].map(eventOutcome => [200, { ok: true, mode: 'now', eventOutcome }, { target: { variant: 'wake' } }]), ['openclaw/openclaw#131950']),
  ...accepts('hermes', [[202, { status: 'accepted', delivery_id: 'x' }], [202, { status: 'coalesced' }], [200, { status: 'duplicate', delivery_id: 'x' }], [200, { status: 'delivered' }]]),
  ...accepts('poke', [[200, { success: true }], [201, ''], [200, 'x'.repeat(2 * 1024 * 1024)]]),
  ...accepts('grok', [[200, ''], [202, {}]]),
  ...accepts('standard-webhooks', [[200, ''], [202, ''], [204, '']]),
  ...accepts('agentchat', [[200, { status: 'relayed', run: 'deeper' }, { expect: { run: 'deeper' } }], [204, '']])
]

const refusals = [
  ...refuses('claude-code', [[400, error('invalid_request_error', 'routine is paused')], [401, error('authentication_error')], [403, error('permission_error')], [404, error('not_found_error')]]),
  ...refuses('openclaw', [[204, ''], [400, { ok: false, error: 'unknown agentId "x"' }], [401, 'Unauthorized'], [404, 'Not Found'], [405, 'Method Not Allowed'], [413, { ok: false, error: 'payload too large' }]]),
  ...refuses('hermes', [[200, { status: 'ignored', event: 'agentchat.wake' }], [200, { status: 'ignored', reason: 'filter' }], [401, { error: 'Invalid signature' }], [403, { error: 'disabled' }], [404, { error: 'Unknown route: x' }], [413, { error: 'Payload too large' }]]),
  ...refuses('poke', [[401, { error: 'Invalid API key' }], [403, { error: 'scope' }], [400, { error: 'message is required' }]]),
  ...refuses('grok', [[400, {}], [401, {}], [404, {}]]),
  ...refuses('standard-webhooks', [[400, ''], [404, '']]),
  ...answers('standard-webhooks', refused, relayed, [301, 302, 303, 307, 308].map(status => [status, '', { headers: { location: 'http://169.254.169.254/latest/meta-data' } }]), ['formbricks/formbricks#8095']),
  ...refuses('agentchat', [[400, { error: 'bad_signature' }]]),
  ...['standard-webhooks', 'agentchat', 'grok'].flatMap(kind => answers(kind, gone, relayed, [[410, '']], ['standard-webhooks/standard-webhooks#291']))
]

const busy = [
  ...cannot('claude-code', [[429, '', wait(17)], [500, ''], [503, '']]),
  ...cannot('openclaw', [[408, ''], [409, { ok: false, error: 'hook configuration changed; retry request' }], [502, ''], [503, '']]),
  ...cannot('hermes', [[429, { error: 'Rate limit exceeded' }, { expect: { retryAfter: [60, 3600] } }], [502, { error: 'Delivery failed' }], [500, '']]),
  ...cannot('poke', [[429, ''], [500, ''], [503, '']]),
  ...cannot('grok', [[429, '', wait(5)], [500, '']]),
  ...cannot('standard-webhooks', [[429, '', wait(33)], [502, ''], [503, '', wait(8)], [504, '']]),
  ...cannot('agentchat', [[503, { code: 'overloaded' }, wait(3)], [500, '']])
]

const clamped = [
  [new Date(Date.now() + 900_000).toUTCString(), [600, 901]],
  [new Date(Date.now() - 120_000).toUTCString(), [1, 60]],
  ['-5', [1, 60]],
  ['soon', [1, 60]],
  ['1.5', [1, 60]],
  ['', [1, 60]],
  ['0', [1, 60]],
  ['99999999999999999999', [1, 3600]],
  ['86400', [3600, 3600]]
].map(([value, retryAfter]) => ({
  name: `a target that says Retry-After: ${value}`,
  reports: ['urllib3/urllib3#3743', 'hashicorp/go-retryablehttp#297', 'go-resty/resty#1178', 'openai/openai-java#878', 'basecamp/basecamp-sdk#781', 'NousResearch/hermes-agent#84762'],
  kind: 'standard-webhooks',
  steps: [{ does: answer(503, '', { 'retry-after': value }), expect: { ...unavailable, retryAfter } }, { expect: relayed }]
}))

const soon = { retryAfter: [1, 7] }
const unclear = ['claude-code', 'poke', 'grok'].flatMap(kind =>
  ['hang', 'reset'].map(does => ({
    name: `${kind} takes the wake and ${does === 'hang' ? 'never answers' : 'drops the connection'}`,
    reports: ['svix bridge'],
    kind,
    target: { hold: '6s' },
    steps: [{ does, expect: timeout }, { expect: { ...held, ...soon } }, { other: true, expect: { ...resting, ...soon } }, { again: true, expect: relayed }, { expect: duplicate }]
  }))
)
const background = ['openclaw', 'hermes', 'standard-webhooks', 'agentchat'].map(kind => ({
  name: `${kind} answers after the sender's time: its own retry finds the outcome`,
  reports: ['svix bridge'],
  kind,
  steps: [{ does: 'park', expect: timeout }, { expect: inFlight }, { unpark: true, again: true, expect: duplicate }]
}))

const rest = [
  { name: 'a hold lasts four minutes unless the target says otherwise', kind: 'claude-code', steps: [{ does: 'reset', expect: timeout }, { expect: { ...held, retryAfter: [200, 240] } }] },
  { name: 'a failed run is repeated, for it was not remembered as done', reports: ['NousResearch/hermes-agent#84257', 'zenml-io/zenml#5215'], kind: 'poke', steps: [{ does: answer(500), expect: unavailable }, { does: answer(400), expect: refused }, { expect: relayed }, { expect: duplicate }, { expect: duplicate }] },
  { name: 'an empty bucket', kind: 'claude-code', target: { pace: { per_hour: 1200, burst: 2 } }, steps: [{ other: true, expect: relayed }, { other: true, expect: relayed }, { expect: { ...paced, retryAfter: [1, 3] } }, { again: true, expect: relayed }] },
  { name: 'strangers and duplicates take nothing from the bucket', reports: ['NousResearch/hermes-agent#6171'], kind: 'poke', target: { pace: { per_hour: 1, burst: 2 } }, steps: [{ forged: true }, { forged: true }, { forged: true }, { expect: relayed }, { expect: duplicate }, { expect: duplicate }, { other: true, expect: relayed }, { other: true, expect: { ...paced, retryAfter: [1, 3600] } }] },
  { name: 'a test wake where the route answers itself', kind: 'poke', route: { on_test: 'answer' }, wake: { reason: 'test', test: true, conversations: [] }, steps: [{ expect: tested }, { expect: tested }] },
  { name: 'a test wake goes the whole way', kind: 'poke', wake: { reason: 'test', test: true, conversations: [] }, steps: [{ expect: relayed }, { expect: duplicate }] },
  { name: 'nobody listens where the target should be', kind: 'poke', closed: true, steps: [{ expect: { ...unavailable, sent: 0 } }, { listen: true, expect: relayed }] },
  { name: 'a room where nobody may answer', room: true, steps: [{ expect: { ...unavailable, sent: 0 } }, { expect: { ...unavailable, sent: 0 } }] }
]

export const outcomes = [...accepted, ...refusals, ...busy, ...clamped, ...unclear, ...background, ...rest]
