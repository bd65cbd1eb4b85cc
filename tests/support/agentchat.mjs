// SPDX-License-Identifier: Apache-2.0
// agentchat: a stand-in for AgentChat: the routes of its API that a receiver of wakes uses, answered as its
// contract, version 1, documents (sections 3.5, 3.6 and 7), and the sender that wakes whoever registered
// (agentchat/sender.mjs), with time compressed.
//
//   const chat = await startAgentChat(t, { minute: 50, proxy: { 'https://wake.example.com': gateway.url } })
//   chat.url, chat.key                        the API's base and the agent's key
//   chat.sender.message('conv_1', '@scout')   see there; chat.sender.wakes: what was sent
//   chat.behave(limited(2))                   the next answer of the API
//   chat.deprecate('wake_webhook')            the headers of section 7; { off: true }: REMOVED
//
// Registered URLs are https, as the contract wants; `proxy` says where each origin leads, as a reverse
// proxy would: to one gateway, or to several in turn.
import crypto from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { request } from '../e2e/http.mjs'
import { framed, handle } from '../e2e/wakes.mjs'
import { Sender } from './agentchat/sender.mjs'
import { runtimes, textOf, textsFor } from './agentchat/texts.mjs'

const dialects = ['agentchat', 'claude-code', 'openclaw', 'hermes', 'poke', 'standard-webhooks']
const docs = 'https://agentchat.me/contract/v1/#deprecations'
const deprecated = { since: Date.UTC(2026, 10, 8), sunset: new Date(Date.UTC(2027, 1, 6)).toUTCString() }

const refusal = (status, code, message, details) => ({ status, body: { code, message, ...(details && { details }) } })

/** For behave(): the next request is over the limit, and may come again after so many seconds. */
export const limited = seconds => () => ({ ...refusal(429, 'RATE_LIMITED', 'Too many requests.'), headers: seconds === undefined ? {} : { 'retry-after': String(seconds) } })
/** For behave(): whatever is given, as it is. */
export const answering = (status, body, headers = {}) => () => ({ status, body, headers })

export class AgentChat {
  key = `ac_live_${crypto.randomBytes(16).toString('hex')}`
  requests = []
  edition = 1
  #behaviours = []
  #deprecated = new Map()
  #turn = 0

  constructor({ minute = 60_000, proxy = {}, name = handle, tls } = {}) {
    this.proxy = proxy
    this.handle = name
    this.sender = new Sender(name, (...wake) => this.#post(...wake), minute)
    const serve = (req, res) => this.#serve(req, res)
    this.server = tls ? https.createServer(tls, serve) : http.createServer(serve)
    this.scheme = tls ? 'https' : 'http'
  }

  async listen() {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    this.url = `${this.scheme}://127.0.0.1:${this.server.address().port}`
  }

  async close() {
    await this.sender.close()
    this.server.closeAllConnections()
    this.server.close()
  }

  /** How the next request is answered: a function (request) => { status, headers, body }, or undefined
   * for what the route says. */
  behave(how) {
    this.#behaviours.push(how)
  }

  /** `id`: wake_webhook, texts or reply_coord. */
  deprecate(id, { off = false, replacement = 'the next contract' } = {}) {
    this.#deprecated.set(id, { off, replacement })
  }

  // --- the API

  async #serve(req, res) {
    const chunks = []
    for await (const chunk of req) chunks.push(chunk)
    const at = new URL(req.url, this.url)
    const asked = { method: req.method, path: at.pathname, query: at.searchParams, headers: req.headers, body: Buffer.concat(chunks).toString() }
    this.requests.push(asked)
    const answer = this.#behaviours.shift()?.(asked) ?? (await this.#route(asked))
    const body = answer.body === undefined || typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
    res.writeHead(answer.status, { ...(body !== undefined && { 'content-type': 'application/json' }), ...answer.headers })
    res.end(body)
  }

  async #route(asked) {
    const where = `${asked.method} ${asked.path}`
    const id = /\/wake-webhook\b/.test(asked.path) ? 'wake_webhook' : /^\/v1\/reply\//.test(asked.path) ? 'reply_coord' : asked.path === '/v1/texts' ? 'texts' : undefined
    const old = this.#deprecated.get(id)
    if (asked.headers.authorization !== `Bearer ${this.key}`) return refusal(401, 'UNAUTHORIZED', 'Invalid API key.')
    if (old?.off) return this.#removed(id, old)
    const answer = await this.#answer(where, asked)
    if (old) answer.headers = { ...answer.headers, deprecation: `@${deprecated.since / 1000}`, sunset: deprecated.sunset, link: `<${docs}>; rel="deprecation"` }
    return answer
  }

  #removed(id, { replacement }) {
    const details = { old_path: id, replacement, removed_on: '2027-02-06', docs }
    return refusal(410, 'REMOVED', `This path was removed. Use ${replacement}.`, details)
  }

  async #answer(where, { query, body }) {
    switch (where) {
      case 'GET /v1/agents/me':
        return { status: 200, body: { handle: this.handle, status: 'active', wake_webhook: this.#state() } }
      case 'PUT /v1/agents/me/wake-webhook':
        return this.#put(body)
      case 'DELETE /v1/agents/me/wake-webhook':
        if (!this.sender.subscription) return refusal(404, 'WEBHOOK_NOT_FOUND', 'No wake webhook is set.')
        this.sender.remove()
        return { status: 200, body: { state: 'none' } }
      case 'POST /v1/agents/me/wake-webhook/test': {
        if (!this.sender.subscription) return refusal(404, 'WEBHOOK_NOT_FOUND', 'No wake webhook is set.')
        const status = await this.sender.test()
        return { status: 200, body: { delivered: status >= 200 && status < 300, status } }
      }
      case 'GET /v1/texts':
        if (!runtimes.includes(query.get('runtime') ?? 'generic')) return refusal(400, 'VALIDATION_ERROR', `runtime must be one of ${runtimes.join(', ')}.`)
        return { status: 200, body: textsFor(query.get('runtime') ?? 'generic', this.edition) }
    }
    if (/ \/v1\/reply\/(claim|claim-batch|active)$/.test(where)) return { status: 200, body: {} }
    return refusal(404, 'NOT_FOUND', 'No such route.')
  }

  #state() {
    if (!this.sender.subscription) return null
    const { secret, ...shown } = this.sender.subscription
    return { state: 'active', ...shown }
  }

  #put(text) {
    let asked
    try {
      asked = JSON.parse(text)
    } catch {
      return refusal(400, 'VALIDATION_ERROR', 'The body is not JSON.')
    }
    const wrong = problems(asked)
    if (wrong.length > 0) return refusal(400, 'VALIDATION_ERROR', `${wrong[0].field} ${wrong[0].issue}.`, { issues: wrong })
    const { url, secret, dialect = 'agentchat', prompt, rewake = true } = asked
    this.sender.put({ url, secret, dialect, ...(prompt !== undefined && { prompt }), rewake })
    return { status: 200, body: this.#state() }
  }

  // --- the wakes

  async #post({ url, secret, dialect, prompt }, wake, attempt) {
    const at = new URL(url)
    const doors = [this.proxy[at.origin] ?? []].flat()
    if (doors.length === 0) return 0
    const text = textOf(wake, attempt, prompt)
    const body = { 'claude-code': { text }, openclaw: { message: text, name: 'AgentChat' }, poke: { message: text } }[dialect]
    const asked = framed(dialect, wake, { secret, attempt, ...(body && { body: JSON.stringify(body) }) })
    try {
      return (await request(doors[this.#turn++ % doors.length] + at.pathname, { ...asked, timeout: 10_000 })).status
    } catch {
      return 0
    }
  }
}

/** What the contract's limits say of a PUT. */
function problems({ url, secret, dialect, prompt, rewake }) {
  const wrong = []
  const say = (field, issue) => wrong.push({ field, issue })
  if (typeof url !== 'string' || !url.startsWith('https://') || !URL.canParse(url)) say('url', 'must be an https:// URL')
  else if (url.length > 2048) say('url', 'must have at most 2048 characters')
  if (typeof secret !== 'string' || secret.length < 1 || secret.length > 256) say('secret', 'must have 1 to 256 characters')
  if (dialect !== undefined && !dialects.includes(dialect)) say('dialect', `must be one of ${dialects.join(', ')}`)
  if (prompt !== undefined && typeof prompt !== 'string') say('prompt', 'must be a string')
  if (rewake !== undefined && typeof rewake !== 'boolean') say('rewake', 'must be true or false')
  return wrong
}

/** Starts one on a free port and ends it with the test. */
export async function startAgentChat(t, options) {
  const chat = new AgentChat(options)
  await chat.listen()
  t.after(() => chat.close())
  return chat
}
