// SPDX-License-Identifier: Apache-2.0
// http: one HTTP request and its whole answer; and a raw socket for bytes that no HTTP client sends.
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'

/** A request to `url` (or over `socketPath`). `tls` are Node's options for https, `agent` one that keeps
 * connections. Resolves to { status, headers, text, json, socket }. */
export function request(url, { method = 'POST', headers = {}, body = '', socketPath, timeout = 30_000, tls = {}, agent = false } = {}) {
  return new Promise((resolve, reject) => {
    const at = new URL(url)
    const bytes = Buffer.from(body)
    const length = method === 'GET' || method === 'HEAD' ? {} : { 'content-length': bytes.length }
    const { request: begin } = at.protocol === 'https:' ? https : http
    const out = begin(
      {
        ...tls,
        method,
        agent,
        socketPath,
        hostname: at.hostname.replace(/^\[|\]$/g, ''),
        port: at.port,
        path: at.pathname + at.search,
        headers: { host: at.host, ...length, ...headers }
      },
      answer => {
        const chunks = []
        answer.on('data', chunk => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          let json
          try {
            json = JSON.parse(text)
          } catch {}
          resolve({ status: answer.statusCode, headers: answer.headers, text, json, socket: out.socket })
        })
      }
    )
    out.setTimeout(timeout, () => out.destroy(new Error(`no answer from ${url} within ${timeout} ms`)))
    out.on('error', reject)
    out.end(bytes)
  })
}

/** Sends `parts` one after another as they are and collects what comes back until the peer closes
 * or `quiet` ms pass without a byte. Resolves to { text, closed }. */
export function raw(url, parts, { quiet = 1500 } = {}) {
  return new Promise((resolve, reject) => {
    const at = new URL(url)
    const socket = net.connect({ host: at.hostname, port: at.port })
    const chunks = []
    let timer
    const finish = closed => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text: Buffer.concat(chunks).toString('latin1'), closed })
    }
    const arm = () => {
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), quiet)
    }
    socket.on('connect', async () => {
      for (const part of [parts].flat()) socket.write(part)
      arm()
    })
    socket.on('data', chunk => {
      chunks.push(chunk)
      arm()
    })
    socket.on('error', error => (error.code === 'ECONNRESET' || error.code === 'EPIPE' ? finish(true) : reject(error)))
    socket.on('close', () => finish(true))
  })
}
