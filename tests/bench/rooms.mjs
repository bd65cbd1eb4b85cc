// SPDX-License-Identifier: Apache-2.0
// rooms: many idle WebSocket clients on one process, then one envelope to all of them; wakegate's
// Socket.IO server beside npm ws and npm socket.io, in the same run, in turns. Prints a table with
// medians and the same as JSON, and which goals are met; being fast is not asserted, working is.
//
//   node rooms.mjs --build <directory> [--clients 10000] [--rounds 5] [--json <file>]
//
// A client of `ws` is in when its handshake was answered. One of the others has been told its
// session and has entered the namespace "/" too, which costs a round trip more. User memory is the
// growth of the server's resident set from before the first client (a few have been there and
// gone) until all are in and nothing moves.
import path from 'node:path'
import { parseArgs } from 'node:util'
import { median, table } from './figures.mjs'
import { descriptors, machine, residentBytes, startCrowd, startServer, version } from './machinery.mjs'
import { pause } from '../e2e/until.mjs'

const { values: options } = parseArgs({
  options: {
    build: { type: 'string' },
    clients: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' }
  }
})
