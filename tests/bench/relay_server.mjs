// SPDX-License-Identifier: Apache-2.0
// relay_server: wakegate's job by hand, on Node's http or on Fastify: prove, parse, claim in Redis,
// post to the target, settle in Redis, answer. One process, or a cluster of several. Prints where it
// listens.
//
//   node relay_server.mjs --framework http|fastify --redis <socket> --target <url> [--workers 1]
//
// The secrets come from BENCH_SECRET (of the wakes) and BENCH_TARGET_SECRET.
import cluster from 'node:cluster'
import crypto from 'node:crypto'
import http from 'node:http'
import net from 'node:net'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import fastify from 'fastify'
import { Redis } from 'ioredis'
import { Pool } from 'undici'

const { values: options } = parseArgs({
  options: {
    framework: { type: 'string' },
    redis: { type: 'string' },
    target: { type: 'string' },
    workers: { type: 'string', default: '1' },
    port: { type: 'string', default: '0' }
  }
})
const toleranceS = 300
const leaseMs = 76_000
const windowMs = 48 * 3600 * 1000
const maxBody = 65536
const timeoutMs = 8000
const keptConnections = 64
const route = '/wake/relay'
const handle = '@example-relay'
const secret = crypto.createSecretKey(process.env.BENCH_SECRET, 'utf8')
const targetSecret = crypto.createSecretKey(process.env.BENCH_TARGET_SECRET, 'utf8')

// ---- one wake

const mac = (key, at, body) => crypto.createHmac('sha256', key).update(`${at}.`).update(body)

function isGenuine(header, body) {
  const parts = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '')
  if (!parts || Math.abs(Date.now() / 1000 - Number(parts[1])) > toleranceS) return false
  return crypto.timingSafeEqual(mac(secret, parts[1], body).digest(), Buffer.from(parts[2], 'hex'))
}

function read(body) {
  try {
    const wake = JSON.parse(body)
    const fits = wake.type === 'agentchat.wake' && wake.version === 1 && wake.handle === handle
    return fits && /^[\w-]{1,128}$/.test(wake.delivery_id) ? wake : null
  } catch {
    return null
  }
}

const answer = (status, code, rest) => ({ status, text: JSON.stringify({ [status === 200 ? 'status' : 'code']: code, ...rest }) })

class Relay {
  constructor() {
    this.redis = new Redis({ path: options.redis, enableAutoPipelining: true })
    const { origin, pathname } = new URL(options.target)
    this.pool = new Pool(origin, { connections: keptConnections, headersTimeout: timeoutMs })
    this.path = pathname
  }

  /** What a request is answered: { status, text }. */
  async take(signature, body) {
    if (!isGenuine(signature, body)) return answer(401, 'unauthorized', { message: 'The request does not prove where it comes from.' })
    const wake = read(body)
    if (!wake) return answer(400, 'invalid_wake', { message: 'The body is not a wake.' })
    const id = wake.delivery_id
    const key = `relay:${id}`
    const known = await this.redis.set(key, 'claimed', 'PX', leaseMs, 'NX', 'GET')
    if (known === 'relayed') return answer(200, 'duplicate', { delivery_id: id })
    if (known !== null) return answer(503, 'in_flight', { delivery_id: id })
    if (!(await this.deliver(body))) {
      await this.redis.del(key)
      return answer(502, 'target_refused', { delivery_id: id })
    }
    await this.redis.set(key, 'relayed', 'PX', windowMs)
    return answer(200, 'relayed', { delivery_id: id })
  }

  async deliver(body) {
    const at = Math.floor(Date.now() / 1000)
    const signature = `t=${at},v1=${mac(targetSecret, at, body).digest('hex')}`
    const headers = { 'content-type': 'application/json', 'agentchat-signature': signature, 'x-agentchat-signature': signature }
    const { statusCode, body: said } = await this.pool.request({ path: this.path, method: 'POST', headers, body })
    await said.dump()
    return statusCode >= 200 && statusCode < 300
  }
}

// ---- the two servers

const type = 'application/json'

function serveHttp(relay, port) {
  const server = http.createServer((request, response) => {
    const chunks = []
    let length = 0
    request.on('data', chunk => {
      length += chunk.length
      if (length <= maxBody) chunks.push(chunk)
    })
    request.on('end', async () => {
      const send = ({ status, text }) => {
        response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
        response.end(text)
      }
      if (request.method !== 'POST' || request.url !== route) return send(answer(404, 'unknown_route'))
      if (length > maxBody) return send(answer(413, 'too_large'))
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
      send(await relay.take(request.headers['agentchat-signature'], body))
    })
  })
  server.keepAliveTimeout = 60_000
  return new Promise(resolve => server.listen(port, '127.0.0.1', () => resolve()))
}

async function serveFastify(relay, port) {
  const app = fastify({ logger: false, bodyLimit: maxBody, keepAliveTimeout: 60_000 })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(type, { parseAs: 'buffer' }, (request, body, done) => done(null, body))
  app.post(route, async (request, reply) => {
    const { status, text } = await relay.take(request.headers['agentchat-signature'], request.body)
    return reply.code(status).type(type).send(text)
  })
  await app.listen({ port, host: '127.0.0.1' })
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

const workers = Number(options.workers)
const port = Number(options.port) || (await freePort())
if (workers > 1 && cluster.isPrimary) {
  cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', String(port)] })
  for (let i = 0; i < workers; i++) cluster.fork()
  for (let i = 0; i < workers; i++) await once(cluster, 'listening')
} else {
  const serve = { http: serveHttp, fastify: serveFastify }[options.framework]
  await serve(new Relay(), port)
}
process.on('SIGTERM', () => process.exit(0))
if (cluster.isPrimary) console.log(`http://127.0.0.1:${port}`)
