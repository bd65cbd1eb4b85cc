// SPDX-License-Identifier: Apache-2.0
// What is signed and is no wake, and what looks odd and is one. `body` makes the bytes that are
// signed as they are, in AgentChat's own dialect.
import { handle } from '../wakes.mjs'
import { invalid, relayed, wrongHandle, wrongVersion } from './rows.mjs'

const text = over => wake => JSON.stringify({ ...wake, ...over })
const first = member => wake => JSON.stringify(wake).replace('{', `{${member},`)
const nested = (open, close, depth) => first(`"n":${open.repeat(depth)}${close.repeat(depth)}`)
const withBytes = (...octets) => wake => Buffer.concat([Buffer.from(JSON.stringify(wake).slice(0, -1) + ',"x":"'), Buffer.from(octets), Buffer.from('"}')])

const broken = [
  ['not JSON', () => 'wake up'],
  ['nothing', () => ''],
  ['blanks alone', () => '  \r\n '],
  ['an array', () => '[]', ['akheron/jansson, top-level values']],
  ['a string', () => '"agentchat.wake"'],
  ['a number', () => '1'],
  ['null', () => 'null'],
  ['bytes after it', wake => JSON.stringify(wake) + '{}', ['akheron/jansson, trailing bytes']],
  ['a NUL after it', wake => JSON.stringify(wake) + '\0'],
  ['half of it', wake => JSON.stringify(wake).slice(0, -10)],
  ['a byte order mark before it', wake => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(JSON.stringify(wake))]), ['n8n-io/n8n#35933']],
  ['UTF-16', wake => Buffer.from('\ufeff' + JSON.stringify(wake), 'utf16le')],
  ['bytes that are no UTF-8', withBytes(0xff, 0xfe), ['activepieces/activepieces#14812']],
  ['overlong UTF-8', withBytes(0xc0, 0xaf)],
  ['a surrogate in UTF-8', withBytes(0xed, 0xa0, 0x80)],
  ['half a surrogate as an escape', first('"x":"\\ud800"')],
  ['a control character in a string', withBytes(0x01)],
  ['a duplicate key', first('"handle":"@other"'), ['systemd/systemd#12396', 'theupdateframework/python-tuf#372', 'serde-rs/json#762', 'tidwall/gjson#393', 'keybase/client#423']],
  ['a duplicate key that is escaped', first('"h\\u0061ndle":"@other"'), ['systemd/systemd#12396']],
  ['a duplicate key, deeper', first('"n":{"a":1,"a":2}'), ['systemd/systemd#12396']],
  ['a NUL in a key', first('"a\\u0000b":1'), ['akheron/jansson#331']],
  ['a NUL in a value', text({ summary: 'a\0b' }), ['akheron/jansson#140']],
  ['a NUL in the delivery_id', wake => JSON.stringify({ ...wake, delivery_id: `${wake.delivery_id}\0x` }), ['akheron/jansson#140']],
  ['an integer past 64 bits', first('"n":123456789012345678901234567890'), ['edgexfoundry/device-sdk-c#150']],
  ['a number past all numbers', first('"n":1e999')],
  ['nested 65 deep', nested('[', ']', 65), ['NexaSphere#876']],
  ['arrays nested 30,000 deep', nested('[', ']', 30000), ['NexaSphere#876']],
  ['objects nested 5,000 deep', nested('{"a":', '}', 5000), ['NexaSphere#876']],
  ['arrays that never close', first('"n":' + '['.repeat(30000))],
  ['a form instead of JSON', () => 'type=agentchat.wake&version=1', ['frain-dev/convoy#2392']],
  ['another type', text({ type: 'agentchat.message' })],
  ['no type', text({ type: undefined })],
  ['a type that is a number', text({ type: 1 })],
  ['no delivery_id', text({ delivery_id: undefined }), ['NousResearch/hermes-agent#39985']],
  ['an empty delivery_id', text({ delivery_id: '' })],
  ['a delivery_id that is a number', text({ delivery_id: 7 })],
  ['a delivery_id that is null', text({ delivery_id: null }), ['NousResearch/hermes-agent#39985']],
  ['a delivery_id with a blank', text({ delivery_id: 'a b' })],
  ['a delivery_id with a line end', text({ delivery_id: 'a\r\nb' })],
  ['a delivery_id beyond ASCII', text({ delivery_id: 'caf\u00e9' })],
  ['an endless delivery_id', text({ delivery_id: 'x'.repeat(5000) })],
  ['a handle that is a number', text({ handle: 7 })],
  ['no handle', text({ handle: undefined })],
  ['a version that is a text', text({ version: '1' })],
  ['a version that is a fraction', text({ version: 1.5 })],
  ['no version', text({ version: undefined })],
  ['conversations that are a text', text({ conversations: 'conv' })],
  ['a summary that is a list', text({ summary: [] })]
].map(([name, body, reports]) => ({ name, reports, body, expect: invalid }))

const others = [
  ...[0, 2, 99, -1].map(version => ({ name: `version ${version}`, body: text({ version }), expect: wrongVersion })),
  ...['@somebody-else', handle.toUpperCase(), `${handle} `, `${handle}x`, handle.slice(1)].map(other => ({ name: `for ${JSON.stringify(other)}`, body: text({ handle: other }), expect: wrongHandle }))
]

const fine = [
  ['an escape as it was sent', first('"x":"\\u001B\\u001b\\/"'), ['octokit/webhooks.js#71', 'probot/smee-client#325', 'probot/smee-client#454', 'probot/smee.io#78']],
  ['emoji and other letters', text({ summary: '\u{1F600} caf\u00e9 \u65e5\u672c' }), ['octokit/webhooks.js#1155', 'github/docs#3567', 'grnhse/greenhouse-api-docs#276']],
  ['letters as escapes', first('"x":"\\ud83d\\ude00 caf\\u00e9"'), ['grnhse/greenhouse-api-docs#485']],
  ['blanks, tabs and line ends', wake => ' \r\n\t' + JSON.stringify(wake, null, '\t') + '\r\n\r\n', ['probot/smee-client#454']],
  ['members in another order', wake => JSON.stringify(Object.fromEntries(Object.entries(wake).reverse()))],
  ['fields that nobody knows', text({ mood: { deep: [1, 2.5, null] }, step: 3 })],
  ['a reason that nobody knows', text({ reason: 'moonrise' })],
  ['no reason', text({ reason: undefined })],
  ['a number past 2^53', first('"n":9007199254740993'), ['OpenZeppelin/openzeppelin-relayer#789']],
  ['nested 60 deep', nested('[', ']', 60)],
  ['brackets in a text', text({ summary: '['.repeat(30000) })],
  ['a thousand conversations', text({ conversations: Array.from({ length: 1000 }, (_, i) => ({ id: `c${i}`, unread: i, latest_sender: '@x' })) })],
  ['noncharacters', text({ summary: '\uffff\ufdd0' })]
].map(([name, body, reports]) => ({ name, reports, body, exact: true, expect: relayed }))

const media = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16', ''].map(type => ({
  name: `content type "${type}": the bytes count`,
  reports: ['frain-dev/convoy#2392'],
  type,
  body: text({}),
  exact: true,
  expect: relayed
}))

export const payloads = [...broken, ...others, ...fine, ...media]
