// SPDX-License-Identifier: Apache-2.0
// Heads and bodies that two programs could cut at different places, and bytes that are no HTTP. Each
// row would be a genuine wake to somebody who reads it generously. What follows in the same segment
// must never be taken for a request of its own.
import { bytes, chunk, chunked, rawRequest } from '../raw_socket.mjs'
import { either, malformed, manyHeaders, slowHead } from './rows.mjs'

const smuggling = ['openwrt/uhttpd#6', 'litespeedtech/openlitespeed#392', 'libevent/libevent#1860', 'sozu-proxy/sozu#726', 'tinyproxy/tinyproxy#610']
const more = (...fields) => parts => rawRequest({ ...parts, fields: [...fields, ...parts.fields] })
const coded = (fields, body = chunked) => parts => bytes(rawRequest({ ...parts, body: '', length: false, fields: [...fields, ...parts.fields] }), body(parts.body))
const chunks = body => coded([['Transfer-Encoding', 'chunked']], body)
const sized = text => parts => {
  const head = rawRequest({ ...parts, body: '', length: false })
  return bytes(head.subarray(0, -2), `Content-Length: ${text(parts.body.length)}\r\n\r\n`, parts.body)
}
const line = text => parts => {
  const whole = rawRequest(parts)
  return bytes(text, whole.subarray(whole.indexOf('\r\n')))
}

const lengths = [
  ['two lengths that differ', more(['Content-Length', '5'])],
  ['two equal lengths', parts => more(['Content-Length', parts.body.length])(parts)],
  ['length, then chunked', more(['Transfer-Encoding', 'chunked'])],
  ['chunked, then length', coded([['Content-Length', '4'], ['Transfer-Encoding', 'chunked']])],
  ['two codings', coded([['Transfer-Encoding', 'chunked'], ['Transfer-Encoding', 'chunked']])],
  ['chunked is not the only coding', coded([['Transfer-Encoding', 'gzip, chunked']])],
  ['chunked is not the last coding', coded([['Transfer-Encoding', 'chunked, identity']])],
  ['identity as a coding', more(['Transfer-Encoding', 'identity'])],
  ['a coding in quotes', coded([['Transfer-Encoding', '"chunked"']])],
  ['a coding with a control character', coded([['Transfer-Encoding', '\x0bchunked']])],
  ['a coding that only begins so', coded([['Transfer-Encoding', 'chunkedx']])],
  ['a blank before the colon of the coding', coded([['Transfer-Encoding ', 'chunked']])],
  ['a blank before the colon of the length', parts => rawRequest({ ...parts, length: false, fields: [...parts.fields, ['Content-Length ', parts.body.length]] })],
  ['a coding on a folded line', coded([['X', 'a\r\n Transfer-Encoding: chunked']])],
  ['chunked in HTTP/1.0', parts => bytes(rawRequest({ ...parts, version: 'HTTP/1.0', body: '', length: false, fields: [['Transfer-Encoding', 'chunked'], ...parts.fields] }), chunked(parts.body))],
  ['a length with a plus', sized(length => `+${length}`)],
  ['a negative length', sized(() => '-1')],
  ['a length in hex', sized(length => `0x${length.toString(16)}`)],
  ['a list of lengths', sized(length => `${length}, ${length}`)],
  ['a length with a blank in it', sized(length => `${length} 0`)],
  ['a length past 64 bits', sized(() => '99999999999999999999')],
  ['a length that wraps around 64 bits', sized(length => String((1n << 64n) + BigInt(length)))],
  ['an empty length', sized(() => '')],
  ['a length that is a word', sized(() => 'many')]
].map(([name, bytes]) => ({ name, reports: smuggling, bytes, expect: malformed }))

const broken = [
  ['a chunk size that is no number', body => bytes('zz\r\n', body, '\r\n0\r\n\r\n')],
  ['a negative chunk size', body => bytes(chunk(body, '-1'), '0\r\n\r\n')],
  ['a chunk size with 0x', body => bytes(chunk(body, `0x${body.length.toString(16)}`), '0\r\n\r\n')],
  ['a chunk size past 64 bits', body => bytes(chunk(body, '1'.padEnd(18, '0')), '0\r\n\r\n')],
  ['an empty chunk size', body => bytes(chunk(body, ''), '0\r\n\r\n')],
  ['a chunk longer than it says', body => bytes(chunk(body, (body.length - 4).toString(16)), '0\r\n\r\n')],
  ['a blank before a chunk size', body => bytes(chunk(body, ` ${body.length.toString(16)}`), '0\r\n\r\n')]
].map(([name, body]) => ({ name, reports: smuggling, bytes: chunks(body), expect: malformed }))

const fields = [
  ['two hosts', more(['Host', 'y'])],
  ['no host', parts => rawRequest({ ...parts, host: null })],
  ['a name that is no token', more(['Bad Name', 'x'])],
  ['a name with a bracket', more(['X(', 'x'])],
  ['a name above ASCII', more(['X\x80', 'x'])],
  ['a control character in a name', more(['X\x01', 'x'])],
  ['a line without a colon', parts => rawRequest({ ...parts, host: 'x\r\nno colon here' })],
  ['a line that begins with a colon', parts => rawRequest({ ...parts, host: 'x\r\n: x' })],
  ['a control character in a value', more(['X', 'a\x01b'])],
  ['DEL in a value', more(['X', 'a\x7fb'])],
  ['a NUL in a value', more(['X', 'a\0b'])],
  ['a NUL in a name', more(['X\0Y', 'a'])],
  ['a NUL in the signature', parts => rawRequest({ ...parts, fields: parts.fields.map(([name, value]) => [name, /signature/i.test(name) ? `${value}\0` : value]) })],
  ['a CR alone in a value', more(['X', 'a\rY: b'])],
  ['a folded line', more(['X', 'a\r\n b'])]
].map(([name, bytes]) => ({ name, bytes, expect: malformed }))

const lines = [
  ['a NUL in the path', 'POST /wake/relay\0junk HTTP/1.1'],
  ['a NUL after the path', 'POST /wake/relay\0 HTTP/1.1'],
  ['a NUL in the query', 'POST /wake/relay?a\0b HTTP/1.1'],
  ['a NUL in the value of a query', 'POST /wake/relay?a=b\0c&d HTTP/1.1'],
  ['a NUL in the method', 'POST\0 /wake/relay HTTP/1.1'],
  ['no version', 'POST /wake/relay'],
  ['HTTP/2.0', 'POST /wake/relay HTTP/2.0'],
  ['HTTP/1.2', 'POST /wake/relay HTTP/1.2'],
  ['HTTP/0.9', 'POST /wake/relay HTTP/0.9'],
  ['another protocol', 'POST /wake/relay ICY/1.1'],
  ['a version in lower case', 'POST /wake/relay http/1.1'],
  ['words after the version', 'POST /wake/relay HTTP/1.1 x'],
  ['a blank in the path', 'POST /wake/relay x HTTP/1.1'],
  ['tabs between the words', 'POST\t/wake/relay\tHTTP/1.1'],
  ['a CR in the path', 'POST /wake/re\rlay HTTP/1.1'],
  ['one word', 'POST']
].map(([name, text]) => ({ name, bytes: line(text), expect: malformed }))

const strangers = [
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ['HTTP/2 with prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an SSH greeting', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['a command for Redis', '*1\r\n$4\r\nPING\r\n\r\n'],
  ['the PROXY protocol, version 2', '\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x7f\0\0\x01\x7f\0\0\x01\x1f\x90\x1f\x90\r\n\r\n']
].map(([name, text]) => ({ name, bytes: () => bytes(text), expect: malformed }))

const sizes = [
  { name: 'more than 64 header fields', bytes: more(...Array(70).fill(['X', 'a'])), expect: manyHeaders },
  { name: 'a header of 200,000 bytes', bytes: more(['X', 'a'.repeat(200_000)]), expect: malformed },
  { name: 'a name of 200,000 bytes', bytes: more(['X'.repeat(200_000), 'a']), expect: malformed },
  { name: 'headers without end', bytes: more(...Array(5000).fill(['X', 'a'])), expect: malformed },
  { name: 'a path of 200,000 bytes', bytes: line(`POST /${'a'.repeat(200_000)} HTTP/1.1`), expect: malformed },
  { name: 'a method of 200,000 bytes', bytes: line(`${'A'.repeat(200_000)} /wake/relay HTTP/1.1`), expect: either(slowHead, malformed) },
  { name: 'a query of 200,000 bytes', bytes: line(`POST /wake/relay?${'a&'.repeat(100_000)} HTTP/1.1`), expect: malformed },
  { name: 'a trailer of 100,000 bytes', bytes: chunks(body => bytes(chunk(body), '0\r\nX: ', 'a'.repeat(100_000), '\r\n\r\n')), expect: malformed },
  { name: 'a head that ends in CRs alone', bytes: parts => rawRequest({ ...parts, eol: '\r' }), expect: either(slowHead, malformed) }
]

export const shapes = [...lengths, ...broken, ...fields, ...lines, ...strangers, ...sizes]
