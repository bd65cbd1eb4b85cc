// SPDX-License-Identifier: Apache-2.0
// ws_server: npm `ws` doing what a room does: whatever one client sends goes to all. Prints where it
// listens; ends with SIGTERM.
import { WebSocketServer } from 'ws'

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 }, () => console.log(`http://127.0.0.1:${server.address().port}`))

server.on('connection', socket => {
  socket.on('error', () => {})
  socket.on('message', (data, binary) => {
    for (const client of server.clients) client.send(data, { binary })
  })
})
process.on('SIGTERM', () => process.exit(0))
