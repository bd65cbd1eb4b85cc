// SPDX-License-Identifier: Apache-2.0
// Engine.IO v4 from the outside, byte by byte: opening, heartbeats, closing, messages, the upgrade,
// and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raw, request } from './http.mjs'
import { openPolling, openWire, startApp, Wire } from './socketio_app.mjs'
import { pause, until } from './until.mjs'

const base = '/engine.io/'
const separator = '\x1e'

const gone = (app, count = 0) => until(async () => (await app.sessions()) === count, `${count} sessions are left`)

test('opening', async t => {
  const app = await startApp(t, { 'ping-interval': 300, 'ping-timeout': 200, 'max-payload': 5000 })
  const get = query => request(app.url + base + query, { method: 'GET' })

  await t.test('polling: the first answer is the open packet', async t => {
    const { open, handshake } = await openPolling(t, app)
    assert.equal(open.headers['content-type'].toLowerCase(), 'text/plain; charset=utf-8')
    assert.equal(open.headers['cache-control'], 'no-store')
    assert.equal(open.text[0], '0')
    assert.match(handshake.sid, /^[A-Za-z0-9_-]{16,}$/)
    assert.deepEqual(handshake, {
      sid: handshake.sid,
      upgrades: ['websocket'],
      pingInterval: 300,
      pingTimeout: 200,
      maxPayload: 5000
    })
  })

  await t.test('polling: the cache buster and unknown parameters do not matter', async () => {
    const open = await get('?EIO=4&transport=polling&t=OxYz12&x=1')
    assert.equal(open.status, 200)
  })

  await t.test('WebSocket: the first frame is the open packet', async t => {
    const wire = await openWire(t, app)
    assert.deepEqual(wire.handshake, {
      sid: wire.handshake.sid,
      upgrades: [],
      pingInterval: 300,
      pingTimeout: 200,
      maxPayload: 5000
    })
  })

  for (const [name, method, query, code, message] of [
    ['no transport', 'GET', '?EIO=4', 0, 'Transport unknown'],
    ['an unknown transport', 'GET', '?EIO=4&transport=abc', 0, 'Transport unknown'],
    ['an unknown sid', 'GET', '?EIO=4&transport=polling&sid=abc', 1, 'Session ID unknown'],
    ['an unknown sid, POST', 'POST', '?EIO=4&transport=polling&sid=abc', 1, 'Session ID unknown'],
    ['a POST', 'POST', '?EIO=4&transport=polling', 2, 'Bad handshake method'],
    ['WebSocket without an upgrade', 'GET', '?EIO=4&transport=websocket', 3, 'Bad request'],
    ['no version', 'GET', '?transport=polling', 5, 'Unsupported protocol version'],
    ['an unknown version', 'GET', '?EIO=abc&transport=polling', 5, 'Unsupported protocol version'],
    ['version 3', 'GET', '?EIO=3&transport=polling', 5, 'Unsupported protocol version']
  ])
    await t.test(`refused: ${name}`, async () => {
      const answer = await request(app.url + base + query, { method })
      assert.equal(answer.status, 400)
      assert.match(answer.headers['content-type'], /^application\/json/)
      assert.deepEqual(answer.json, { code, message })
    })

  for (const [name, query] of [
    ['no version', '?transport=websocket'],
    ['an unknown version', '?EIO=abc&transport=websocket'],
    ['no transport', '?EIO=4'],
    ['an unknown transport', '?EIO=4&transport=abc'],
    ['an unknown sid', '?EIO=4&transport=websocket&sid=abc']
  ])
    await t.test(`refused as WebSocket: ${name}`, async () => {
      const end = await new Wire(app, base + query).closed
      assert.equal(end.status, 400)
    })

  await t.test('another path is not found', async () => {
    assert.equal((await request(`${app.url}/engine.io?EIO=4&transport=polling`, { method: 'GET' })).status, 404)
  })
})

test('heartbeats', async t => {
  const app = await startApp(t, { 'ping-interval': 200, 'ping-timeout': 1000 })

  await t.test('polling: a ping for every pong, and no pong is the end', async t => {
    const session = await openPolling(t, app)
    for (let i = 0; i < 3; i++) {
      assert.equal((await session.get()).text, '2')
      assert.equal((await session.post('3')).text, 'ok')
    }
    assert.equal((await session.get()).text, '2')
    await gone(app)
    assert.deepEqual((await session.get()).json, { code: 1, message: 'Session ID unknown' })
  })

  await t.test('WebSocket: a ping for every pong, and no pong is the end', async t => {
    const wire = await openWire(t, app)
    for (let i = 0; i < 3; i++) {
      assert.equal(await wire.next(), '2')
      wire.send('3')
    }
    assert.equal(await wire.next(), '2')
    await wire.closed
    await gone(app)
  })

  await t.test('a ping from the client is the end', async t => {
    const wire = await openWire(t, app)
    wire.send('2')
    await wire.closed
  })
})

test('closing', async t => {
  const app = await startApp(t)

  await t.test('polling: a close packet ends the waiting poll', async t => {
    const session = await openPolling(t, app)
    const [poll, post] = await Promise.all([session.get(), session.post('1')])
    assert.deepEqual([poll.status, poll.text, post.status, post.text], [200, '6', 200, 'ok'])
    assert.equal((await session.get()).status, 400)
  })

  await t.test('polling: a client that drops its poll is gone', async t => {
    const session = await openPolling(t, app)
    const poll = session.get({ timeout: 200 })
    await assert.rejects(poll)
    await gone(app)
  })

  await t.test('WebSocket: a close packet, a close frame, a lost connection', async t => {
    for (const end of [wire => wire.send('1'), wire => wire.socket.close(), wire => wire.socket.terminate()]) {
      const wire = await openWire(t, app)
      end(wire)
      await wire.closed
      await gone(app)
    }
  })

  await t.test('WebSocket: a close frame is answered with its status', async t => {
    const wire = await openWire(t, app)
    wire.socket.close(1000, 'bye')
    assert.equal((await wire.closed).code, 1000)
  })
})

test('messages', async t => {
  const app = await startApp(t, { 'max-payload': 1000 })

  await t.test('polling: text comes back', async t => {
    const session = await openPolling(t, app)
    const post = await session.post('4hello')
    assert.deepEqual([post.status, post.text, post.headers['content-type']], [200, 'ok', 'text/html'])
    const poll = await session.get()
    assert.deepEqual([poll.status, poll.text], [200, '4hello'])
    assert.equal(poll.headers['content-type'].toLowerCase(), 'text/plain; charset=utf-8')
    assert.equal(poll.headers['cache-control'], 'no-store')
  })

  await t.test('polling: several packets in one body, in order, binary in base64', async t => {
    const session = await openPolling(t, app)
    const body = ['4test1', '4\u00e9\u{1f600}', 'bAQIDBA==', '4', 'b'].join(separator)
    await session.post(body)
    assert.equal((await session.get()).text, body)
  })

  await t.test('polling: a poll that waits gets the message', async t => {
    const session = await openPolling(t, app)
    const poll = session.get()
    await pause(50)
    await session.post('4late')
    assert.equal((await poll).text, '4late')
  })

  for (const body of ['abc', '', '4a\x1e', 'b!!!!'])
    await t.test(`polling: a body that is no packet ends the session: ${JSON.stringify(body)}`, async t => {
      const session = await openPolling(t, app)
      await session.post(body)
      assert.equal((await session.get()).status, 400)
    })

  await t.test('polling: octets are refused', async t => {
    const session = await openPolling(t, app)
    const post = await session.post('4a', { headers: { 'content-type': 'application/octet-stream' } })
    assert.equal(post.status, 400)
    assert.equal((await session.get()).status, 400)
  })

  await t.test('polling: too much is refused', async t => {
    const session = await openPolling(t, app)
    assert.equal((await session.post('4' + 'x'.repeat(1000))).status, 413)
    const other = await openPolling(t, app)
    assert.equal((await other.post('4' + 'x'.repeat(999))).status, 200)
  })

  await t.test('polling: one GET at a time', async t => {
    const session = await openPolling(t, app)
    const first = session.get()
    await pause(50)
    const second = await session.get()
    assert.equal(second.status, 400)
    assert.deepEqual([(await first).status, (await first).text], [200, '1'])
    assert.equal((await session.get()).status, 400)
  })

  await t.test('polling: another method is no way in', async t => {
    const session = await openPolling(t, app)
    assert.ok((await session.ask('PUT', { body: '4a' })).status >= 400)
  })

  await t.test('WebSocket: text and binary come back', async t => {
    const wire = await openWire(t, app)
    wire.send('4hello', Buffer.from([1, 2, 3, 4]), '4', '4\u00e9\u{1f600}')
    assert.equal(await wire.next(), '4hello')
    assert.deepEqual(await wire.next(), Buffer.from([1, 2, 3, 4]))
    assert.equal(await wire.next(), '4')
    assert.equal(await wire.next(), '4\u00e9\u{1f600}')
  })

  await t.test('WebSocket: fragments, and control frames between them', async t => {
    const wire = await openWire(t, app)
    const pong = new Promise(resolve => wire.socket.on('pong', data => resolve(data.toString())))
    wire.socket.send('4a', { fin: false })
    wire.socket.ping('p')
    wire.socket.send('b', { fin: false })
    wire.socket.send('c', { fin: true })
    assert.equal(await pong, 'p')
    assert.equal(await wire.next(), '4abc')
  })

  for (const [name, send, code] of [
    ['no packet', wire => wire.send('abc'), undefined],
    ['an empty text', wire => wire.send(''), undefined],
    ['an unmasked frame', wire => wire.socket.send('4a', { mask: false }), 1002],
    ['a text that is not UTF-8', wire => wire.socket.send(Buffer.from([0x34, 0xff]), { binary: false }), 1007],
    ['too much', wire => wire.send('4' + 'x'.repeat(1000)), 1009],
    ['too much in fragments', wire => (wire.socket.send('4' + 'x'.repeat(900), { fin: false }), wire.socket.send('x'.repeat(200))), 1009]
  ])
    await t.test(`WebSocket: ended by ${name}`, async t => {
      const wire = await openWire(t, app)
      send(wire)
      const end = await wire.closed
      if (code) assert.equal(end.code, code)
    })

  await t.test('none of these sessions is left', async () => {
    await until(async () => (await app.sessions()) === 0, 'no session is left')
  })
})

test('the upgrade', async t => {
  const app = await startApp(t, { 'upgrade-timeout': 1500 })

  async function upgrade(t) {
    const session = await openPolling(t, app)
    const wire = session.probe(t)
    await wire.opened()
    wire.send('2probe')
    assert.equal(await wire.next(), '3probe')
    return { session, wire }
  }

  await t.test('moves the session', async t => {
    const { session, wire } = await upgrade(t)
    wire.send('5', '4hello')
    assert.equal(await wire.next(), '4hello')
    assert.equal((await session.get()).status, 400)
    assert.equal((await session.post('4lost')).status, 400)
    wire.send('4still')
    assert.equal(await wire.next(), '4still')
  })

  await t.test('ends the waiting poll, and brings over what was not fetched', async t => {
    const session = await openPolling(t, app)
    const poll = session.get()
    const wire = session.probe(t)
    await wire.opened()
    wire.send('2probe')
    assert.equal(await wire.next(), '3probe')
    assert.equal((await poll).text, '6')
    await session.post('4waits')
    wire.send('5')
    assert.equal(await wire.next(), '4waits')
  })

  await t.test('a message sent while it goes on comes with the poll', async t => {
    const { session, wire } = await upgrade(t)
    await session.post('4polled')
    assert.equal((await session.get()).text, '4polled')
    wire.send('5', '4framed')
    assert.equal(await wire.next(), '4framed')
  })

  await t.test('a second WebSocket is closed', async t => {
    const { session, wire } = await upgrade(t)
    wire.send('5', '4a')
    assert.equal(await wire.next(), '4a')
    await session.probe(t).closed
    wire.send('4b')
    assert.equal(await wire.next(), '4b')
  })

  for (const wrong of ['4hello', '2', '2abc', 'abc'])
    await t.test(`a probe that begins with ${wrong} ends that WebSocket only`, async t => {
      const session = await openPolling(t, app)
      const wire = session.probe(t)
      await wire.opened()
      wire.send(wrong)
      await wire.closed
      await session.post('4alive')
      assert.equal((await session.get()).text, '4alive')
    })

  await t.test('a client that dies in the middle goes on polling', async t => {
    const { session, wire } = await upgrade(t)
    wire.socket.terminate()
    await session.post('4alive')
    assert.match((await session.get()).text, /^(6|4alive)/)
    const again = session.probe(t)
    await again.opened()
    again.send('2probe')
    assert.equal(await again.next(), '3probe')
    again.send('5', '4moved')
    await until(async () => (await again.next()) === '4moved', 'the session has moved')
  })

  await t.test('an upgrade that is never finished ends that WebSocket only', async t => {
    const { session, wire } = await upgrade(t)
    await wire.closed
    await session.post('4alive')
    assert.equal((await session.get()).text, '4alive')
  })
})

test('a probe that pings and never reads ends that WebSocket only', async t => {
  const app = await startApp(t, { 'upgrade-timeout': 60_000, 'queue-bytes': 100_000 })
  const session = await openPolling(t, app)
  const deaf = session.probe(t)
  await deaf.opened()
  deaf.socket.pause()
  await until(async () => {
    for (let i = 0; i < 10_000; i++) deaf.socket.ping(Buffer.alloc(125), true, () => {})
    const other = session.probe(t)
    await other.opened()
    other.send('2probe')
    return (await other.next().catch(() => '')) === '3probe'
  }, 'there is room for another probe')
  await session.post('4alive')
  assert.match((await session.get()).text, /^(6|4alive)/)
})

test('a handshake that is no WebSocket handshake is refused', async t => {
  const app = await startApp(t)
  const ask = headers =>
    raw(app.url, `GET ${base}?EIO=4&transport=websocket HTTP/1.1\r\nHost: x\r\n${headers.join('\r\n')}\r\n\r\n`, { quiet: 500 })
  const good = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']

  const taken = await ask(good)
  assert.match(taken.text, /^HTTP\/1\.1 101 /)
  assert.match(taken.text, /sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/i)
  for (const without of [0, 1, 2, 3]) {
    const answer = await ask(good.filter((_, i) => i !== without))
    assert.match(answer.text, /^HTTP\/1\.1 4\d\d /, `without ${good[without]}`)
  }
  assert.match((await ask([...good.slice(0, 3), 'Sec-WebSocket-Key: abc'])).text, /^HTTP\/1\.1 400 /)
  assert.match((await ask([...good.slice(0, 2), good[3], 'Sec-WebSocket-Version: 8'])).text, /^HTTP\/1\.1 4(00|26) /)
})
