// SPDX-License-Identifier: Apache-2.0
// Socket.IO v5 from the outside: packets byte by byte, then the real socket.io-client over each
// transport, and clients that come in crowds, never read, or come back.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'node:test'
import { io } from 'socket.io-client'
import { request } from './http.mjs'
import { enter, join, openPolling, openWire, startApp } from './socketio_app.mjs'
import { until } from './until.mjs'

const base = '/socket.io/'

test('packets', async t => {
  const app = await startApp(t, { 'max-payload': 100000 })

  /** The server ends the session; the application is not reached before. */
  const ends = async (wire, ...messages) => {
    wire.send(...messages)
    await wire.closed
  }

  await t.test('connecting, with and without credentials', async t => {
    const wire = await openWire(t, app, base)
    const { sid, auth } = await enter(wire)
    assert.notEqual(sid, wire.handshake.sid)
    assert.deepEqual(auth, {})
    const other = await openWire(t, app, base)
    assert.deepEqual((await enter(other, '/', '{"token":"123"}')).auth, { token: '123' })
  })

  await t.test('connecting to a namespace of its own, and to both', async t => {
    const wire = await openWire(t, app, base)
    const first = await enter(wire, '/custom', '{"token":"abc"}')
    assert.deepEqual(first.auth, { token: 'abc' })
    const second = await enter(wire)
    assert.notEqual(first.sid, second.sid)
    wire.send('42/custom,["message",1]', '42["message",2]')
    assert.equal(await wire.next(), '42/custom,["message-back",1]')
    assert.equal(await wire.next(), '42["message-back",2]')
  })

  await t.test('a namespace may end with the packet', async t => {
    const wire = await openWire(t, app, base)
    wire.send('40/custom')
    assert.match(await wire.next(), /^40\/custom,\{"sid":/)
  })

  await t.test('refused: no such namespace, not authorized; the session stays', async t => {
    const wire = await openWire(t, app, base)
    wire.send('40/random')
    assert.equal(await wire.next(), '44/random,{"message":"Invalid namespace"}')
    wire.send('40/refusing,{"token":"x"}')
    assert.equal(await wire.next(), '44/refusing,{"message":"Not authorized"}')
    await enter(wire)
  })

  await t.test('over polling: the answer to the CONNECT and the first event', async t => {
    const session = await openPolling(t, app, base)
    await session.post('40')
    const text = (await session.get()).text
    assert.match(text, /^40\{"sid":"[^"]+"\}\x1e42\["auth",\{\}\]$/)
    await session.post('452-["message",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]\x1ebAQID\x1ebBAUG')
    assert.equal((await session.get()).text, '452-["message-back",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]\x1ebAQID\x1ebBAUG')
  })

  await t.test('leaving one namespace, and coming back', async t => {
    const wire = await join(t, app)
    await enter(wire, '/custom')
    wire.send('41', '42/custom,["message","still"]')
    assert.equal(await wire.next(), '42/custom,["message-back","still"]')
    await enter(wire)
    wire.send('41/custom,')
    await ends(wire, '42/custom,["message"]')
  })

  await t.test('being sent away', async t => {
    const wire = await join(t, app)
    wire.send('42["leave"]')
    assert.equal(await wire.next(), '41')
    await enter(wire)
  })

  await t.test('events: text, binary, nested', async t => {
    const wire = await join(t, app)
    wire.send('42["message",1,"2",{"3":[true,null]}]', '42["unknown"]', '42[5]')
    assert.equal(await wire.next(), '42["message-back",1,"2",{"3":[true,null]}]')
    wire.send('452-["message",{"_placeholder":true,"num":0},{"a":{"_placeholder":true,"num":1}}]', Buffer.from([1, 2, 3]), Buffer.from([4]))
    assert.equal(await wire.next(), '452-["message-back",{"_placeholder":true,"num":0},{"a":{"_placeholder":true,"num":1}}]')
    assert.deepEqual(await wire.next(), Buffer.from([1, 2, 3]))
    assert.deepEqual(await wire.next(), Buffer.from([4]))
  })

  await t.test('acknowledgements: text, binary, none', async t => {
    const wire = await join(t, app)
    wire.send('42456["message-with-ack",1,"2",{"3":[false]}]')
    assert.equal(await wire.next(), '43456[1,"2",{"3":[false]}]')
    wire.send('451-789["message-with-ack",{"_placeholder":true,"num":0}]', Buffer.from([1, 2]))
    assert.equal(await wire.next(), '461-789[{"_placeholder":true,"num":0}]')
    assert.deepEqual(await wire.next(), Buffer.from([1, 2]))
    wire.send('420["unknown"]', '431["nobody asked"]', '421["message-with-ack"]')
    assert.equal(await wire.next(), '431[]')
  })

  await t.test('acknowledgements that the server asks for', async t => {
    const wire = await join(t, app)
    wire.send('42["ask","first"]', '42["ask","second"]')
    assert.equal(await wire.next(), '420["question","first"]')
    assert.equal(await wire.next(), '421["question","second"]')
    wire.send('431["b"]', '461-0[{"_placeholder":true,"num":0}]', Buffer.from([7]), '431["again"]', '42["message"]')
    assert.equal(await wire.next(), '42["answer","b"]')
    assert.equal(await wire.next(), '451-["answer",{"_placeholder":true,"num":0}]')
    assert.deepEqual(await wire.next(), Buffer.from([7]))
    assert.equal(await wire.next(), '42["message-back"]')
  })

  for (const [name, ...messages] of [
    ['no packet', '4abc'],
    ['an empty packet', '4'],
    ['a second CONNECT', '40'],
    ['a CONNECT of an array', '40/custom,[1]'],
    ['a CONNECT of a string', '40/custom,"x"'],
    ['a CONNECT that is no JSON', '40/custom,{'],
    ['a CONNECT_ERROR', '44{"message":"x"}'],
    ['an event where it is not', '42/custom,["message"]'],
    ['an event of an object', '42{}'],
    ['an event of nothing', '42[]'],
    ['an event with a reserved name', '42["disconnect"]'],
    ['an event that is no JSON', '42abc["message"]'],
    ['binary that was not announced', Buffer.from([1])],
    ['too many attachments', '4511-["message"]'],
    ['no attachments', '450-["message"]'],
    ['half an attachment', '451.5-["message"]'],
    ['a text where an attachment was announced', '451-["message",{"_placeholder":true,"num":0}]', '42["message"]']
  ])
    await t.test(`what ends the session: ${name}`, async t => {
      const wire = await join(t, app)
      await ends(wire, ...messages)
      assert.ok(wire.quiet)
    })

  await t.test('none of the ended sessions is left', async () => {
    await until(async () => (await app.sessions()) === 0, 'no session is left')
  })
})

test('a client that never connects to a namespace is sent away', async t => {
  const app = await startApp(t, { 'connect-timeout': 1000 })
  const idle = await openWire(t, app, base)
  const refused = await openWire(t, app, base)
  const joined = await join(t, app)
  refused.send('40/refusing,')
  await Promise.all([idle.closed, refused.closed])
  joined.send('42["message"]')
  assert.equal(await joined.next(), '42["message-back"]')
})

test('an attachment that is announced and never sent', async t => {
  const app = await startApp(t, { 'connect-timeout': 1000 })
  const wire = await join(t, app)
  wire.send('451-["message",{"_placeholder":true,"num":0}]')
  await wire.closed
})

// ---- the real client

function client(t, app, { name = '', ...options } = {}) {
  const socket = io(app.url + name, { forceNew: true, reconnectionDelay: 20, reconnectionDelayMax: 50, ...options })
  t.after(() => socket.disconnect())
  return socket
}

const said = async (socket, event) => (await once(socket, event))[0]

const transports = {
  'WebSocket only': { transports: ['websocket'] },
  'polling only': { transports: ['polling'] },
  'polling, then the upgrade': {},
  'WebSocket, then polling': { transports: ['websocket', 'polling'] }
}

test('socket.io-client', async t => {
  const app = await startApp(t, { 'ping-interval': 300, 'ping-timeout': 2000 })

  for (const [name, options] of Object.entries(transports))
    await t.test(name, async t => {
      await t.test('connects, with its credentials', async t => {
        const socket = client(t, app, { ...options, auth: { token: 'secret' } })
        assert.deepEqual(await said(socket, 'auth'), { token: 'secret' })
        assert.ok(socket.connected && socket.id)
        assert.equal(socket.io.engine.id === socket.id, false)
      })

      await t.test('events with text and binary come back, in order', async t => {
        const socket = client(t, app, options)
        await said(socket, 'connect')
        const back = []
        socket.on('message-back', (...all) => back.push(all))
        for (let i = 0; i < 50; i++) socket.emit('message', i, { deep: [`\u00e9${i}`, Buffer.from([i])] }, Buffer.alloc(i))
        await until(() => back.length === 50, 'all have come back')
        back.forEach(([number, { deep }, bytes], i) => {
          assert.equal(number, i)
          assert.equal(deep[0], `\u00e9${i}`)
          assert.deepEqual(Buffer.from(deep[1]), Buffer.from([i]))
          assert.equal(Buffer.from(bytes).length, i)
        })
      })

      await t.test('acknowledgements both ways', async t => {
        const socket = client(t, app, options)
        socket.on('question', (question, answer) => answer(`${question}!`, Buffer.from([1])))
        const answer = once(socket, 'answer')
        assert.equal(await socket.emitWithAck('message-with-ack', 'hello'), 'hello')
        assert.deepEqual(Buffer.from(await socket.emitWithAck('message-with-ack', Buffer.from([9]))), Buffer.from([9]))
        await assert.rejects(socket.timeout(100).emitWithAck('unknown'))
        socket.emit('ask', 'who')
        const [text, bytes] = await answer
        assert.equal(text, 'who!')
        assert.deepEqual(Buffer.from(bytes), Buffer.from([1]))
      })

      await t.test('two namespaces over one session', async t => {
        const first = client(t, app, options)
        await said(first, 'connect')
        const second = first.io.socket('/custom', { auth: { a: 1 } })
        assert.deepEqual(await said(second, 'auth'), { a: 1 })
        first.disconnect()
        assert.equal(await second.emitWithAck('message-with-ack', 5), 5)
        second.disconnect()
      })

      await t.test('is refused', async t => {
        for (const [name, message] of [['/random', 'Invalid namespace'], ['/refusing', 'Not authorized']]) {
          const socket = client(t, app, { name, ...options })
          assert.equal((await said(socket, 'connect_error')).message, message)
          socket.disconnect()
        }
      })

      await t.test('is sent away, and can come back', async t => {
        const socket = client(t, app, options)
        await said(socket, 'connect')
        socket.emit('leave')
        assert.equal(await said(socket, 'disconnect'), 'io server disconnect')
        socket.connect()
        await said(socket, 'connect')
        assert.equal(await socket.emitWithAck('message-with-ack', 'back'), 'back')
      })

      await t.test('lives through heartbeats', async t => {
        const socket = client(t, app, options)
        await said(socket, 'connect')
        const id = socket.id
        let pings = 0
        socket.io.on('ping', () => pings++)
        await until(() => pings >= 3, 'three pings came')
        assert.equal(await socket.emitWithAck('message-with-ack', 1), 1)
        assert.equal(socket.id, id)
      })

      await t.test('comes back by itself when its connection breaks', async t => {
        const socket = client(t, app, options)
        await said(socket, 'connect')
        const before = socket.id
        socket.io.engine.close()
        await said(socket, 'connect')
        assert.notEqual(socket.id, before)
        assert.equal(await socket.emitWithAck('message-with-ack', 'again'), 'again')
      })
    })

  await t.test('the upgrade happens, and nothing is lost or doubled by it', async t => {
    const socket = client(t, app)
    await said(socket, 'connect')
    const back = []
    socket.on('message-back', number => back.push(number))
    for (let i = 0; i < 200; i++) {
      socket.emit('message', i)
      await new Promise(setImmediate)
    }
    await until(() => back.length >= 200, 'all have come back')
    assert.deepEqual(back, [...Array(200).keys()])
    await until(() => socket.io.engine.transport.name === 'websocket', 'it has moved to WebSocket')
  })

  await t.test('a broadcast reaches everybody, over every transport', async t => {
    const sockets = Object.values(transports).map(options => client(t, app, options))
    await Promise.all(sockets.map(socket => said(socket, 'auth')))
    const news = sockets.map(socket => once(socket, 'news'))
    sockets[0].emit('broadcast', 'x', Buffer.from([1, 2]))
    for (const [text, bytes] of await Promise.all(news)) {
      assert.equal(text, 'x')
      assert.deepEqual(Buffer.from(bytes), Buffer.from([1, 2]))
    }
  })

  await t.test('nobody is left', async () => {
    await until(async () => (await app.sessions()) === 0, 'no session is left')
  })
})

test('reconnecting when the application starts again', async t => {
  const app = await startApp(t)
  const port = new URL(app.url).port
  const socket = client(t, app)
  await said(socket, 'connect')
  process.kill(app.pid, 'SIGTERM')
  await said(socket, 'disconnect')
  await startApp(t, { port })
  await said(socket, 'connect')
  assert.equal(await socket.emitWithAck('message-with-ack', 'again'), 'again')
})

test('a thousand clients come and go', async t => {
  const app = await startApp(t)
  const kinds = Object.values(transports)
  let next = 0
  async function worker() {
    while (next < 1000) {
      const mine = next++
      const options = kinds[mine % kinds.length]
      const socket = io(app.url, { forceNew: true, reconnection: false, ...options })
      await said(socket, 'auth')
      assert.equal(await socket.emitWithAck('message-with-ack', mine), mine)
      if (mine % 3 === 0) socket.io.engine.close()
      else socket.disconnect()
    }
  }
  await Promise.all(Array.from({ length: 20 }, worker))
  await until(async () => (await app.sessions()) === 0, 'no session is left')
})

test('a client that never reads is dropped, and holds up nobody', async t => {
  const app = await startApp(t, { 'queue-bytes': 500000 })
  const { port } = new URL(app.url)
  const deaf = net.connect(port, '127.0.0.1')
  t.after(() => deaf.destroy())
  await once(deaf, 'connect')
  deaf.write(
    `GET ${base}?EIO=4&transport=websocket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  )
  await once(deaf, 'data')
  deaf.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x34, 0x30])) // 40, masked with zeros
  await once(deaf, 'data')
  deaf.pause()
  const socket = client(t, app, { transports: ['websocket'] })
  await said(socket, 'connect')
  assert.equal(await app.sessions(), 2)
  const text = 'x'.repeat(50000)
  await until(async () => {
    const news = once(socket, 'news')
    socket.emit('broadcast', text)
    await news
    return (await app.sessions()) === 1
  }, 'the deaf client is dropped')
  assert.equal(await socket.emitWithAck('message-with-ack', 'fine'), 'fine')
})

test('a client that dies in the middle of the upgrade', async t => {
  const app = await startApp(t, { 'ping-interval': 200, 'ping-timeout': 1000, 'upgrade-timeout': 300 })
  for (const last of [[], ['2probe'], ['2probe', '5']]) {
    const session = await openPolling(t, app, base)
    await session.post('40')
    const wire = session.probe(t)
    await wire.opened()
    wire.send(...last)
    if (last.length > 0) assert.equal(await wire.next(), '3probe')
    wire.socket.terminate()
    await until(async () => (await app.sessions()) === 0, 'its session is gone')
  }
  assert.equal((await request(`${app.url}/sessions`, { method: 'GET' })).text, '0')
})
