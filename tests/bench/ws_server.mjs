// SPDX-License-Identifier: Apache-2.0
// ws_server: npm `ws` doing what a room does: whatever one client sends goes to all. With --exchange
// it also has the talk with each client that a Socket.IO server has, with no more work than the
// words need. Prints where it listens; ends with SIGTERM.
import crypto from 'node:crypto'
import { WebSocketServer } from 'ws'

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 }, () => console.log(`http://127.0.0.1:${server.address().port}`))
const sid = () => crypto.randomBytes(15).toString('base64url')
const toAll = text => {
  for (const client of server.clients) client.send(text)
}

function relay(socket) {
  socket.on('message', data => toAll(data.toString()))
}

function talk(socket) {
  socket.send(`0${JSON.stringify({ sid: sid(), upgrades: [], pingInterval: 25000, pingTimeout: 20000, maxPayload: 1000000 })}`)
  socket.on('message', data => {
    const text = data.toString()
    if (text === '40') socket.send(`40${JSON.stringify({ sid: sid() })}`)
    else if (text.startsWith('42["broadcast",')) toAll(`42["news",${text.slice('42["broadcast",'.length)}`)
  })
}

server.on('connection', process.argv.includes('--exchange') ? talk : relay)
process.on('SIGTERM', () => process.exit(0))
