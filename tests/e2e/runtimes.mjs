// SPDX-License-Identifier: Apache-2.0
// runtimes: stand-ins for what wakegate calls. Each checks a request as strictly as the real one is
// documented to and answers with the documented bodies; what it accepted stands in `runs`, everything
// that came in `requests`. A test can have the next requests treated otherwise: see `behave`.
import crypto from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook } from 'agentchatme'
import { hmacHex, secret, seconds, standardSecret } from './wakes.mjs'

export class Runtime {
  requests = []
  runs = []
  #behaviours = []
  #always
  #parked = []

  constructor(take) {
    this.take = take
    this.server = http.createServer((req, res) => this.#serve(req, res))
    this.server.keepAliveTimeout = 60_000
  }

  async listen(port = 0) {
    this.server.listen(port, '127.0.0.1')
    await once(this.server, 'listening')
    this.url = `http://127.0.0.1:${this.server.address().port}`
  }

  /** How the next request is treated (or every one, with { always: true }): a function
   * (request, response) => void, or one of the names below. undefined: as documented. */
  behave(how, { always = false } = {}) {
    const behaviour = typeof how === 'string' ? behaviours[how] : how
    if (always) this.#always = behaviour
    else this.#behaviours.push(behaviour)
  }

  /** Answers what the behaviour 'park' keeps waiting, as documented. */
  unpark() {
    for (const [request, response] of this.#parked.splice(0)) this.#answer(request, response)
  }

  get parked() {
    return this.#parked.length
  }

  park(request, response) {
    this.#parked.push([request, response])
  }

  async #serve(req, res) {
    const chunks = []
    req.on('error', () => {})
    res.on('error', () => {})
    try {
      for await (const chunk of req) chunks.push(chunk)
    } catch {
      return
    }
    const body = Buffer.concat(chunks).toString()
    const request = { method: req.method, path: req.url, headers: req.headers, rawHeaders: req.rawHeaders, body, socket: req.socket }
    try {
      request.json = JSON.parse(body)
    } catch {}
    this.requests.push(request)
    const behaviour = this.#behaviours.shift() ?? this.#always
    if (behaviour) behaviour.call(this, request, res)
    else this.#answer(request, res)
  }

  async #answer(request, res) {
    const { status, body, headers = {}, run } = await this.take(request)
    if (run) this.runs.push({ run, request })
    const structured = typeof body === 'object'
    res.writeHead(status, { 'content-type': structured ? 'application/json' : 'text/plain', ...headers })
    res.end(structured ? JSON.stringify(body) : body)
  }

  async close() {
    this.server.closeAllConnections()
    if (this.server.listening) {
      this.server.close()
      await once(this.server, 'close')
    }
  }
}

export const behaviours = {
  /** Takes the request and never answers. */
  hang() {},
  /** Takes the request and answers when the test says unpark(). */
  park(request, response) {
    this.park(request, response)
  },
  /** Takes the request and drops the connection. */
  reset(request) {
    request.socket.resetAndDestroy()
  }
}

/** A behaviour: one fixed answer. */
export const answer =
  (status, body = '', headers = {}) =>
  (request, response) => {
    response.writeHead(status, headers)
    response.end(typeof body === 'object' ? JSON.stringify(body) : body)
  }

const bearer = (request, token) => request.headers.authorization === `Bearer ${token}`
const isJson = request => /^application\/json/.test(request.headers['content-type'] ?? '') && request.json !== undefined

/** A Claude Code routine's fire endpoint. */
function claude(token) {
  const error = (status, type, message) => ({ status, body: { type: 'error', error: { type, message } } })
  return request => {
    const { headers, json } = request
    if (request.method !== 'POST' || request.path !== '/v1/claude_code/routines/trig_01e2e/fire') return error(404, 'not_found_error', 'no such routine')
    if (!bearer(request, token)) return error(401, 'authentication_error', 'invalid token')
    if (!headers['anthropic-beta']?.includes('experimental-cc-routine-2026-04-01')) return error(400, 'invalid_request_error', 'anthropic-beta header missing')
    if (!headers['anthropic-version']) return error(400, 'invalid_request_error', 'anthropic-version header missing')
    if (!isJson(request) || typeof json.text !== 'string') return error(400, 'invalid_request_error', 'could not parse request body as JSON')
    if (json.text.length > 65536) return error(400, 'invalid_request_error', 'text too long')
    const run = `session_${crypto.randomBytes(8).toString('hex')}`
    return {
      status: 200,
      body: { type: 'routine_fire', claude_code_session_id: run, claude_code_session_url: `https://claude.ai/code/${run}` },
      run
    }
  }
}

/** OpenClaw's hooks: /hooks/agent with its replay key, /hooks/wake with its coalescing. */
function openclaw(token) {
  const replays = new Map()
  return request => {
    const { headers, json } = request
    if (request.method !== 'POST') return { status: 405, body: 'Method Not Allowed', headers: { allow: 'POST' } }
    if (!bearer(request, token) && headers['x-openclaw-token'] !== token) return { status: 401, body: 'Unauthorized' }
    if (!isJson(request)) return { status: 400, body: { ok: false, error: 'invalid json' } }
    if (request.path === '/hooks/wake') {
      if (typeof json.text !== 'string' || !json.text.trim()) return { status: 400, body: { ok: false, error: 'text required' } }
      return { status: 200, body: { ok: true, mode: json.mode ?? 'now', eventOutcome: 'queued' }, run: 'wake' }
    }
    if (request.path !== '/hooks/agent') return { status: 404, body: 'Not Found' }
    if (typeof json.message !== 'string' || !json.message.trim()) return { status: 400, body: { ok: false, error: 'message required' } }
    const { idempotencyKey, ...fields } = json
    const key = (headers['idempotency-key'] ?? headers['x-openclaw-idempotency-key'] ?? idempotencyKey ?? '').trim()
    const replay = key && key.length <= 256 ? `${key}\n${JSON.stringify(fields)}` : undefined
    if (replay && replays.has(replay)) return { status: 200, body: { ok: true, runId: replays.get(replay) } }
    const run = crypto.randomUUID()
    if (replay) replays.set(replay, run)
    return { status: 200, body: { ok: true, runId: run }, run }
  }
}

/** Hermes: exactly one signature scheme, the first whose header is present; one hour of ids. */
function hermes(key, { events = ['agentchat.wake'] } = {}) {
  const seen = new Set()
  const unauthorized = { status: 401, body: { error: 'Invalid signature' } }
  const proven = ({ headers, body }) => {
    const at = headers['webhook-timestamp'] ?? headers['x-webhook-timestamp']
    const fresh = /^\d+$/.test(at ?? '') && Math.abs(seconds() - Number(at)) <= 300
    if (headers['webhook-signature']) {
      const bytes = key.startsWith('whsec_') ? Buffer.from(key.slice(6), 'base64') : key
      const mac = crypto.createHmac('sha256', bytes).update(`${headers['webhook-id']}.${at}.${body}`).digest('base64')
      return fresh && headers['webhook-signature'].split(' ').includes(`v1,${mac}`)
    }
    if (headers['x-hub-signature-256']) return headers['x-hub-signature-256'] === `sha256=${hmacHex(key, body)}`
    if (headers['x-webhook-signature-v2']) return fresh && headers['x-webhook-signature-v2'] === hmacHex(key, `${at}.`, body)
    if (headers['x-webhook-signature']) return headers['x-webhook-signature'] === hmacHex(key, body)
    return headers.authorization === `Bearer ${key}`
  }
  return request => {
    const { headers, json } = request
    const route = /^\/webhooks\/([^/]+)$/.exec(request.path)?.[1]
    if (route !== 'agentchat') return { status: 404, body: { error: `Unknown route: ${route}` } }
    if (!proven(request)) return unauthorized
    if (json === undefined) return { status: 400, body: { error: 'Cannot parse body' } }
    const event = json.event_type ?? json.type ?? 'unknown'
    if (!events.includes(event)) return { status: 200, body: { status: 'ignored', event } }
    const id = headers['svix-id'] ?? headers['webhook-id'] ?? headers['x-request-id'] ?? String(Date.now())
    if (seen.has(id)) return { status: 200, body: { status: 'duplicate', delivery_id: id } }
    seen.add(id)
    return { status: 202, body: { status: 'accepted', route, event, delivery_id: id }, run: id }
  }
}

/** Poke's message API. */
function poke(token) {
  return request => {
    if (request.path !== '/api/v1/inbound/api-message') return { status: 404, body: { error: 'Not found' } }
    if (!bearer(request, token)) return { status: 401, body: { error: 'Invalid API key' } }
    if (!isJson(request) || typeof request.json.message !== 'string') return { status: 400, body: { error: 'message is required' } }
    return { status: 200, body: { success: true, message: 'Message sent successfully' }, run: 'message' }
  }
}

/** A Grok Bot routine: a bearer key and one JSON object. */
function grok(token) {
  return request => {
    if (request.path !== '/automations/webhook/e2e') return { status: 404, body: { error: 'not found' } }
    if (!bearer(request, token)) return { status: 401, body: { error: 'unauthorized' } }
    if (!isJson(request) || Array.isArray(request.json)) return { status: 400, body: { error: 'one JSON object, please' } }
    return { status: 200, body: { success: true }, run: 'grok' }
  }
}

/** A Standard Webhooks receiver, verified with the reference library. */
function standard(key) {
  const webhook = new Webhook(key)
  const seen = new Set()
  return request => {
    try {
      webhook.verify(request.body, request.headers)
    } catch (error) {
      return { status: 401, body: { error: error.message } }
    }
    const id = request.headers['webhook-id']
    if (seen.has(id)) return { status: 202, body: {} }
    seen.add(id)
    return { status: 202, body: {}, run: id }
  }
}

/** Another receiver of AgentChat's own dialect, verified with its SDK under both header names. */
function agentchat(key) {
  return async request => {
    try {
      for (const name of ['agentchat-signature', 'x-agentchat-signature'])
        await verifyWebhook({ payload: request.body, signature: request.headers[name], secret: key })
    } catch (error) {
      return { status: 400, body: { error: error.reason } }
    }
    return { status: 200, body: { ok: true }, run: request.json.delivery_id }
  }
}

const tokens = { 'claude-code': 'sk-ant-oat01-e2e', openclaw: 'openclaw-e2e-token', poke: 'pk_e2e_token', grok: 'crsr_e2e_token' }
export const runtimeSecrets = { ...tokens, hermes: 'hermes-e2e-secret', 'standard-webhooks': standardSecret, agentchat: secret }
export const runtimePaths = {
  'claude-code': '/v1/claude_code/routines/trig_01e2e/fire',
  openclaw: '/hooks/agent',
  hermes: '/webhooks/agentchat',
  poke: '/api/v1/inbound/api-message',
  grok: '/automations/webhook/e2e',
  'standard-webhooks': '/hook',
  agentchat: '/wake'
}
const kinds = { 'claude-code': claude, openclaw, hermes, poke, grok, 'standard-webhooks': standard, agentchat }

/** Starts the runtime `kind` on a free port and ends it with the test. `takeOptions` go to it. */
export async function startRuntime(t, kind, takeOptions) {
  const runtime = new Runtime(kinds[kind](runtimeSecrets[kind], takeOptions))
  await runtime.listen()
  runtime.kind = kind
  t.after(() => runtime.close())
  return runtime
}
