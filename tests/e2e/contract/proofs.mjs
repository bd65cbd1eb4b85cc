// SPDX-License-Identifier: Apache-2.0
// Proofs, for every dialect. `parts` makes { fields, body } of a wake; right(...) is what AgentChat
// sends, and the rows change one thing in it. The same wake, rightly signed, is then relayed.
import crypto from 'node:crypto'
import { framings, hmacBase64, hmacHex, newWake, secret, seconds, standardSecret } from '../wakes.mjs'
import { relayed, unauthorized } from './rows.mjs'

const right = (dialect, wake, options) => {
  const { headers, body } = framings[dialect](wake, options)
  return { headers, body: Buffer.from(body) }
}
const shape = ({ headers, body }) => ({ fields: Object.entries(headers), body })
/** A row: `change` gets the headers and the body of the right request and returns other ones. */
const row = (dialect, name, change, expect, result = 'wrong', reports) => ({
  dialect,
  name: `${dialect}: ${name}`,
  reports,
  parts: wake => {
    const request = right(dialect, wake)
    return shape({ ...request, ...change(request, wake) })
  },
  expect: { ...expect, proof: result }
})
const no = (dialect, name, change, result, reports) => row(dialect, name, change, unauthorized, result, reports)
const yes = (dialect, name, change, reports) => row(dialect, name, change, relayed, 'ok', reports)

/** The header that carries the proof of each dialect. */
const proofHeader = {
  agentchat: 'agentchat-signature',
  'claude-code': 'authorization',
  openclaw: 'authorization',
  hermes: 'x-webhook-signature-v2',
  poke: 'authorization',
  'bearer-json': 'authorization',
  'standard-webhooks': 'webhook-signature'
}
const bearer = ['claude-code', 'openclaw', 'poke', 'bearer-json']
const macs = ['agentchat', 'hermes', 'standard-webhooks']
const without = (headers, name) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name))
const changed = (headers, name, change) => ({ ...headers, [name]: change(headers[name]) })

const everywhere = Object.entries(proofHeader).flatMap(([dialect, name]) => [
  no(dialect, 'no proof at all', () => ({ headers: {} }), 'missing', ['novuhq/novu#11829', 'handarbeit/fabrik#1563']),
  no(dialect, 'an empty proof', ({ headers }) => ({ headers: changed(headers, name, () => '') }), 'missing', ['novuhq/novu#11829']),
  no(dialect, 'another secret', (_, wake) => ({ headers: right(dialect, wake, { secret: dialect === 'standard-webhooks' ? 'whsec_' + Buffer.alloc(32, 7).toString('base64') : 'another-secret-of-thirty-bytes-or-so' }).headers }), 'wrong', ['handarbeit/fabrik#1563']),
  no(dialect, 'the empty secret', (_, wake) => ({ headers: bearer.includes(dialect) ? { authorization: 'Bearer ' } : right(dialect, wake, { secret: dialect === 'standard-webhooks' ? 'whsec_' : '' }).headers }), bearer.includes(dialect) ? 'missing' : 'wrong', ['symfony/symfony-docs#22859', 'corsairdev/corsair#830']),
  no(dialect, 'the proof under the name of another dialect', ({ headers }) => ({ headers: { ...without(headers, name), 'x-signature': headers[name], 'x-token': headers[name] } }), 'missing', ['superplanehq/superplane#4389', 'NousResearch/hermes-agent#80327']),
  no(dialect, 'a proof that is noise', ({ headers }) => ({ headers: changed(headers, name, () => '\xff\xfe;=,') }), null),
  no(dialect, 'a proof of 4,000 bytes', ({ headers }) => ({ headers: changed(headers, name, value => value + 'a'.repeat(4000)) }), null),
  yes(dialect, 'as it is', () => ({}))
])

const overBody = macs.flatMap(dialect => [
  no(dialect, 'a blank behind the body', ({ body }) => ({ body: Buffer.concat([body, Buffer.from(' ')]) }), 'wrong', ['probot/smee-client#325']),
  no(dialect, 'the same JSON, written otherwise', ({ body }) => ({ body: Buffer.from(JSON.stringify(JSON.parse(body), null, 1)) }), 'wrong', ['octokit/webhooks.js#71']),
  no(dialect, 'one bit of the body', ({ body }) => ({ body: Buffer.from(body).fill(body[20] ^ 1, 20, 21) }), 'wrong'),
  no(dialect, 'the signature of another wake', () => ({ headers: right(dialect, newWake()).headers }), 'wrong'),
  no(dialect, 'half of the signature', ({ headers }) => ({ headers: changed(headers, proofHeader[dialect], value => value.slice(0, -32)) }), null),
  ...[[-400, 'too old'], [400, 'too far ahead'], [-86400 * 365, 'a year old']].map(([off, name]) =>
    no(dialect, `signed ${name}`, (_, wake) => ({ headers: right(dialect, wake, { at: seconds() + off }).headers }), 'stale', ['camunda/connectors#8989', 'stripe/stripe-dotnet#1183', 'NousResearch/hermes-agent#20518'])
  ),
  ...[-290, 290].map(off => yes(dialect, `signed ${off} s off`, (_, wake) => ({ headers: right(dialect, wake, { at: seconds() + off }).headers }), ['camunda/connectors#8989'])),
  ...['', 'x', '1e9', '99999999999999999999', '-1'].map(at => no(dialect, `the time "${at}"`, (_, wake) => ({ headers: right(dialect, wake, { at }).headers }), null)),
  no(dialect, 'the time changed after it was signed', ({ headers }) => ({ headers: Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, value.replace(String(seconds()), String(seconds() - 1))])) }), 'wrong')
])

const tokens = bearer.flatMap(dialect => [
  ...[['Basic', 'Basic eDp5'], ['no scheme', secret], ['a scheme alone', 'Bearer'], ['Digest', `Digest ${secret}`]].map(([name, value]) => no(dialect, `Authorization: ${name}`, () => ({ headers: { authorization: value } }), 'missing')),
  ...[['a beginning of it', secret.slice(0, -1)], ['more than it', `${secret}x`], ['another case', secret.toUpperCase()], ['in quotes', `"${secret}"`], ['two of them', `${secret}, ${secret}`]].map(([name, value]) => no(dialect, `the token, ${name}`, () => ({ headers: { authorization: `Bearer ${value}` } }), 'wrong')),
  yes(dialect, 'the scheme in lower case, with two blanks', () => ({ headers: { authorization: `bearer  ${secret}` } }))
])

const stamped = (body, at = seconds()) => hmacHex(secret, `${at}.`, body)
const agentchat = [
  yes('agentchat', 'the digest in upper case', ({ body }) => ({ headers: { 'agentchat-signature': `t=${seconds()},v1=${stamped(body).toUpperCase()}` } }), ['NousResearch/hermes-agent, hex digests', 'adnanh/webhook, hex digests']),
  yes('agentchat', 'under the older name', ({ headers }) => ({ headers: { 'x-agentchat-signature': headers['agentchat-signature'] } })),
  yes('agentchat', 'under both names', ({ headers }) => ({ headers: { ...headers, 'x-agentchat-signature': headers['agentchat-signature'] } })),
  yes('agentchat', 'the bare digest', ({ body }) => ({ headers: { 'x-agentchat-signature': hmacHex(secret, body) } })),
  yes('agentchat', 'members that nobody knows', ({ headers }) => ({ headers: changed(headers, 'agentchat-signature', value => `v0=aa,${value},v2=bb`) })),
  no('agentchat', 'two names with two values', ({ headers }) => ({ headers: { ...headers, 'x-agentchat-signature': 'aa' } }), 'malformed'),
  no('agentchat', 'two digests', ({ headers }) => ({ headers: changed(headers, 'agentchat-signature', value => `${value},v1=${'0'.repeat(64)}`) }), 'malformed'),
  no('agentchat', 'two times', ({ headers }) => ({ headers: changed(headers, 'agentchat-signature', value => `t=1,${value}`) }), 'malformed'),
  no('agentchat', 'a digest that is no hex', ({ headers }) => ({ headers: changed(headers, 'agentchat-signature', value => value.replace(/.$/, 'g')) }), 'malformed'),
  no('agentchat', 'the digest without the time', ({ body }) => ({ headers: { 'agentchat-signature': stamped(body) } }), 'wrong'),
  no('agentchat', 'SHA-1', ({ body }) => ({ headers: { 'agentchat-signature': crypto.createHmac('sha1', secret).update(body).digest('hex') } }), 'malformed'),
  { ...no('agentchat', 'the header twice', () => ({})), parts: wake => { const { fields, body } = shape(right('agentchat', wake)); return { fields: [...fields, ...fields], body } }, expect: { ...unauthorized, proof: 'malformed' } },
  ...[[-48 * 3600, 'two days old'], [600, 'ten minutes ahead']].map(([off, name]) => ({
    ...no('agentchat', `an undated signature of a payload that is ${name}`, () => ({})),
    reports: ['NousResearch/hermes-agent#20518'],
    parts: wake => { const body = Buffer.from(JSON.stringify({ ...wake, ts: new Date(Date.now() + off * 1000).toISOString() })); return { fields: [['agentchat-signature', hmacHex(secret, body)]], body } },
    expect: { ...unauthorized, proof: ['ok', 'stale'] }
  })),
  { ...yes('agentchat', 'an undated signature of a payload of yesterday', () => ({})), parts: wake => { const body = Buffer.from(JSON.stringify({ ...wake, ts: new Date(Date.now() - 24 * 3600_000).toISOString() })); return { fields: [['agentchat-signature', hmacHex(secret, body)]], body } } }
]

const standard = [
  yes('standard-webhooks', 'the right one among others', ({ headers }) => ({ headers: changed(headers, 'webhook-signature', value => `v1,${'A'.repeat(43)}= v2,x ${value} v1a,zz`) }), ['adnanh/webhook#355']),
  no('standard-webhooks', 'a hundred signatures', ({ headers }) => ({ headers: changed(headers, 'webhook-signature', value => `${`v1,${'A'.repeat(43)}= `.repeat(100)}${value}`) }), 'malformed', ['adnanh/webhook#355']),
  yes('standard-webhooks', 'under the names of Svix', ({ headers }) => ({ headers: Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.replace('webhook', 'svix'), value])) })),
  no('standard-webhooks', 'another id than was signed', ({ headers }) => ({ headers: { ...headers, 'webhook-id': 'msg_other' } }), 'wrong', ['2witstudios/PageSpace#2199']),
  no('standard-webhooks', 'no id', ({ headers }) => ({ headers: without(headers, 'webhook-id') }), 'missing', ['novuhq/novu#11829']),
  no('standard-webhooks', 'no time', ({ headers }) => ({ headers: without(headers, 'webhook-timestamp') }), 'missing', ['novuhq/novu#11829']),
  no('standard-webhooks', 'an id with a dot, that moves the border', (request, wake) => { const at = seconds(); const mac = hmacBase64(Buffer.from(standardSecret.slice(6), 'base64'), `a.${at}.${at}.`, request.body); return { headers: { 'webhook-id': `a.${at}`, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${mac}` }, wake } }, 'malformed')
]

const hermes = [
  yes('hermes', 'a request id that is not signed counts for nothing', ({ headers }) => ({ headers: { ...headers, 'x-request-id': 'picked-by-somebody' } }), ['NousResearch/hermes-agent#107557', '2witstudios/PageSpace#2199']),
  yes('hermes', 'the digest in upper case', ({ headers }) => ({ headers: changed(headers, 'x-webhook-signature-v2', value => value.toUpperCase()) }), ['NousResearch/hermes-agent, hex digests']),
  no('hermes', 'a wrong signature beside a right token', ({ headers }) => ({ headers: { ...headers, 'x-webhook-signature-v2': '0'.repeat(64), authorization: `Bearer ${secret}` } }), 'wrong', ['superplanehq/superplane#4389'])
]

export const proofs = [...everywhere, ...overBody, ...tokens, ...agentchat, ...standard, ...hermes]
