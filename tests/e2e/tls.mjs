// SPDX-License-Identifier: Apache-2.0
// tls: a gateway that speaks TLS itself, with certificates of an authority that the test made.
import fs from 'node:fs'
import path from 'node:path'
import tls from 'node:tls'
import { makeAuthority } from './authority.mjs'
import { scratch, startGateway } from './gateway.mjs'

export const names = 'DNS:localhost,IP:127.0.0.1'

/** Files for the config's "tls", and what clients need: { tls, ca, renew(names, from, to), write }. */
export function makeIdentity(t) {
  const authority = makeAuthority(t), directory = scratch(t)
  const files = { certificate: path.join(directory, 'chain.pem'), key: path.join(directory, 'key.pem') }
  const write = (name, text) => fs.writeFileSync(files[name], text, { mode: 0o600 })
  const renew = (subjects = names, from, to) => write('certificate', authority.cert(subjects, from, to))
  write('key', authority.key)
  renew()
  return { authority, files, ca: fs.readFileSync(authority.ca), write, renew }
}

/** A gateway with an identity of its own, as `gateway.identity`. */
export async function startTlsGateway(t, over, { identity = makeIdentity(t), ...options } = {}) {
  const config = { ...over, tls: { ...identity.files, ...over.tls } }
  const gateway = await startGateway(t, config, { tls: { ca: identity.ca }, ...options })
  gateway.identity = identity
  return gateway
}

/** A TLS connection: its socket, what came as `text()`, and the promise `over` of its end:
 * { told (a close_notify came), error }. Rejects when there is no handshake. */
export function connect(gateway, options = {}) {
  return new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(gateway.url)
    const socket = tls.connect({ host, port, ca: gateway.identity.ca, servername: 'localhost', allowHalfOpen: true, ...options })
    const chunks = []
    let told = false
    let error
    socket.on('data', chunk => chunks.push(chunk))
    socket.on('end', () => {
      told = true
      socket.end()
    })
    socket.on('error', problem => {
      error = problem
      reject(problem)
    })
    const over = new Promise(ended => socket.on('close', () => {
      reject(new Error('closed in the handshake'))
      ended({ told, error })
    }))
    socket.on('secureConnect', () => resolve({ socket, over, text: () => Buffer.concat(chunks).toString('latin1') }))
  })
}
