// SPDX-License-Identifier: Apache-2.0
// socketio_server: npm `socket.io` doing what a room does: the event `broadcast` of one client goes
// to all as `news`. Prints where it listens; ends with SIGTERM.
import http from 'node:http'
import { Server } from 'socket.io'

const listener = http.createServer()
const server = new Server(listener)

server.on('connection', socket => socket.on('broadcast', envelope => server.emit('news', envelope)))
listener.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${listener.address().port}`))
process.on('SIGTERM', () => process.exit(0))
