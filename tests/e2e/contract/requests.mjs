// SPDX-License-Identifier: Apache-2.0
// The request itself: path, method, length, coding, expectation. Each row has a genuine wake in it,
// so what is refused is refused for its shape alone. `bytes` gets the parts of that request.
import { bytes, chunk, chunked, rawRequest } from '../raw_socket.mjs'
import { either, malformed, noLength, nowhere, relayed, slowBody, tooLarge, unauthorized, unexpected, wrongEncoding, wrongMethod } from './rows.mjs'

const with_ = (name, value) => parts => rawRequest({ ...parts, fields: [...parts.fields, [name, value]] })
const at = target => parts => rawRequest({ ...parts, target })
const coded = body => parts => bytes(rawRequest({ ...parts, body: '', length: false, fields: [...parts.fields, ['Transfer-Encoding', 'chunked']] }), body(parts.body))

const paths = [
  ...['/', '/wake', '/wake/', '/wake/nobody', '/wake/relay/', '/wake/relay/more', '/wake//relay', '//wake/relay', '/./wake/relay', '/x/../wake/relay', '/wake/./relay'].map(target => [`a path that is no route: ${target}`, target]),
  ['a percent-encoded letter names another path', '/wake/%72elay'],
  ['a percent-encoded slash', '/wake%2frelay'],
  ['a percent-encoded dot', '/wake/%2e/relay'],
  ['a percent-encoded dot-dot', '/wake/x/%2e%2e/relay'],
  ['a percent-encoded NUL', '/wake/relay%00'],
  ['percent-encoding that is none', '/wake/relay%zz%1'],
  ['bytes above ASCII', '/wake/relay\xff\xfe'],
  ['overlong UTF-8', '/wake\xc0\xafrelay'],
  ['another case', '/WAKE/relay'],
  ['a fragment', '/wake/relay#x'],
  ['a backslash', '/wake\\relay'],
  ['parameters in the path', '/wake/relay;x=1'],
  ['a long path', '/wake/' + 'a'.repeat(3000)],
  ['a whole URL', 'http://x/wake/relay'],
  ['a whole URL of another host', 'http://elsewhere.example/wake/relay'],
  ['an asterisk', '*'],
  ['no slash', 'wake/relay']
].map(([name, target]) => ({ name, bytes: at(target), expect: nowhere }))

const methods = [
  ...['GET', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'CONNECT', 'PROPFIND', 'post', 'POSTX', 'P'].map(method => ({ name: `method ${method}`, bytes: parts => rawRequest({ ...parts, method }), expect: wrongMethod })),
  { name: 'OPTIONS, with the headers of a web hook handshake', reports: ['cloudevents/spec#328'], bytes: parts => rawRequest({ ...parts, method: 'OPTIONS', fields: [...parts.fields, ['WebHook-Request-Origin', 'example.com']] }), expect: wrongMethod },
  { name: 'HEAD', reports: ['StackStorm/st2#2929', 'discourse/discourse#17180', 'mattermost/mattermost-plugin-apps#389'], head: true, bytes: parts => rawRequest({ ...parts, method: 'HEAD', body: '', length: false }), expect: { ...wrongMethod, said: undefined, counted: 'method_not_allowed' } },
  { name: 'HEAD with a body', head: true, bytes: parts => rawRequest({ ...parts, method: 'HEAD' }), expect: { ...wrongMethod, said: undefined, counted: 'method_not_allowed' } },
  { name: 'GET without a body', bytes: parts => rawRequest({ ...parts, method: 'GET', body: '', length: false }), expect: wrongMethod }
]

const encodings = [
  ...['gzip', 'br', 'deflate', 'identity, gzip', 'x'].map(coding => ({ name: `Content-Encoding: ${coding}`, reports: ['GetStream/stream-chat-java#254'], bytes: with_('Content-Encoding', coding), expect: wrongEncoding })),
  { name: 'Content-Encoding: identity is none', bytes: with_('Content-Encoding', 'Identity'), expect: relayed }
]

const lengths = [
  { name: 'a length over the limit, before a byte of the body', reports: ['openclaw/clawsweeper#1295'], bytes: ({ fields }) => bytes(rawRequest({ fields, length: false }).subarray(0, -2), 'Content-Length: 65537\r\n\r\n'), expect: tooLarge },
  { name: 'a length of many terabytes', bytes: ({ fields }) => bytes(rawRequest({ fields, length: false }).subarray(0, -2), 'Content-Length: 9000000000000000\r\n\r\n'), expect: tooLarge },
  { name: 'chunks over the limit are counted as they come', reports: ['openclaw/clawsweeper#1295', 'dagu#2045', 'open-mercato#4044'], bytes: coded(() => bytes(Array(17).fill(chunk('x'.repeat(4096))))), expect: tooLarge },
  { name: 'a genuine body with more behind it, over the limit: never a wrong signature', reports: ['frain-dev/convoy, ingestion'], bytes: coded(body => bytes(chunk(body), Array(17).fill(chunk(' '.repeat(4096))))), expect: tooLarge },
  { name: 'one byte over the limit', bytes: parts => rawRequest({ ...parts, body: 'x'.repeat(65537) }), expect: tooLarge },
  { name: 'exactly the limit is read', bytes: parts => rawRequest({ ...parts, body: 'x'.repeat(65536) }), expect: unauthorized },
  { name: 'a body that ends early', bytes: ({ fields, body }) => rawRequest({ fields, body }).subarray(0, -1), expect: slowBody },
  { name: 'a chunked body without its last chunk', bytes: coded(body => chunk(body)), expect: slowBody },
  { name: 'no length and no body', reports: ['civetweb/civetweb#12'], bytes: parts => rawRequest({ ...parts, body: '', length: false }), expect: noLength },
  { name: 'no length, and bytes that follow', bytes: parts => rawRequest({ ...parts, length: false }), expect: noLength },
  { name: 'an empty body', bytes: parts => rawRequest({ ...parts, body: '' }), expect: unauthorized },
  { name: 'chunked, one byte each', bytes: coded(body => chunked(body, 1)), expect: relayed },
  { name: 'chunked, with extensions', bytes: coded(body => bytes(chunk(body, `${body.length.toString(16)};a=b;c="d"`), '0;x\r\n\r\n')), expect: either(relayed, malformed) },
  { name: 'chunked, with a trailer', bytes: coded(body => bytes(chunk(body), '0\r\nX-Trailer: y\r\n\r\n')), expect: relayed },
  { name: 'chunk sizes in upper case with zeros before them', bytes: coded(body => bytes(chunk(body, `000${body.length.toString(16).toUpperCase()}`), '0\r\n\r\n')), expect: relayed },
  { name: 'a trailer with the proof counts for nothing', bytes: ({ fields, body }) => bytes(rawRequest({ fields: [['Transfer-Encoding', 'chunked']], length: false }), chunk(body), '0\r\n', fields.map(([name, value]) => `${name}: ${value}\r\n`), '\r\n'), expect: unauthorized }
]

const expectations = [
  { name: 'Expect: 100-continue gets its go-ahead', reports: ['Graylog2/graylog2-server#1998', 'abutaha/aws-es-proxy#8', 'curl/curl#11678'], goAhead: true, bytes: with_('Expect', '100-Continue'), expect: relayed },
  { name: 'Expect: 100-continue with a body that is too large: the final answer at once', bytes: ({ fields }) => bytes(rawRequest({ fields: [...fields, ['Expect', '100-continue']], length: false }).subarray(0, -2), 'Content-Length: 70000\r\n\r\n'), expect: tooLarge },
  { name: 'Expect: 100-continue at no route: the final answer at once', bytes: () => bytes('POST /wake/nobody HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n'), expect: nowhere },
  ...['the-unexpected', '100-continue, more', '200-ok'].map(value => ({ name: `Expect: ${value}`, reports: ['abutaha/aws-es-proxy#8'], bytes: with_('Expect', value), expect: unexpected })),
  { name: 'an Expect in HTTP/1.0 is none', bytes: parts => rawRequest({ ...parts, version: 'HTTP/1.0', fields: [...parts.fields, ['Expect', 'x']] }), expect: { ...relayed, closed: true } }
]

const forms = [
  { name: 'a query is no part of the path', bytes: at('/wake/relay?a=b&c'), expect: relayed },
  { name: 'a query full of escapes', bytes: at('/wake/relay?%00%zz+%&&==;'), expect: relayed },
  { name: 'HTTP/1.0 without Host', bytes: parts => rawRequest({ ...parts, version: 'HTTP/1.0', host: null }), expect: { ...relayed, closed: true } },
  { name: 'Connection: close', bytes: with_('Connection', 'close'), expect: { ...relayed, closed: true } },
  { name: 'an empty line before the request', bytes: parts => bytes('\r\n', rawRequest(parts)), expect: relayed },
  { name: 'lines that end in LF', bytes: parts => rawRequest({ ...parts, eol: '\n' }), expect: either(relayed, malformed) },
  { name: 'an upgrade that nobody offers here', bytes: parts => rawRequest({ ...parts, fields: [...parts.fields, ['Connection', 'Upgrade'], ['Upgrade', 'websocket'], ['Sec-WebSocket-Key', 'x3JJHMbDL1EzLkh9GBhXDw=='], ['Sec-WebSocket-Version', '13']] }), expect: relayed },
  { name: 'Connection that names Content-Length', bytes: with_('Connection', 'content-length'), expect: relayed },
  { name: 'headers that proxies add change nothing', bytes: parts => rawRequest({ ...parts, fields: [...parts.fields, ['X-Forwarded-For', '127.0.0.1'], ['X-Original-URL', '/wake/nobody'], ['X-HTTP-Method-Override', 'GET'], ['Forwarded', 'for=x']] }), expect: relayed },
  { name: 'names of headers in odd cases', reports: ['EasyPost/easypost-node#399', 'sendgrid/sendgrid-nodejs#1307', 'github/docs#20134'], bytes: parts => rawRequest({ ...parts, fields: parts.fields.map(([name, value]) => [name.replace(/./g, (c, i) => (i % 2 ? c.toUpperCase() : c.toLowerCase())), value]) }), expect: relayed },
  { name: 'blanks around values', bytes: parts => rawRequest({ ...parts, fields: parts.fields.map(([name, value]) => [name, ` \t${value} \t`]) }), expect: relayed }
]

export const requests = [...paths, ...methods, ...encodings, ...lengths, ...expectations, ...forms]
