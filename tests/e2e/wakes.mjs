// SPDX-License-Identifier: Apache-2.0
// wakes: what AgentChat sends, in each dialect, signed with Node's own cryptography so that nothing
// here leans on the code under test.
import crypto from 'node:crypto'

export const handle = '@example-relay'
export const secret = 'e2e-shared-secret-0123456789abcdef'
export const standardSecret = 'whsec_' + Buffer.from('e2e-standard-secret-0123456789ab').toString('base64')

/** A payload v1 with a fresh delivery_id. */
export function newWake(over = {}) {
  const conversations = over.conversations ?? [{ id: 'conv_e2e0first01', unread: 2, latest_sender: '@example-scout' }]
  return {
    type: 'agentchat.wake',
    version: 1,
    reason: 'messages',
    handle,
    conversations,
    summary: `AgentChat wake for ${handle}: @example-scout: 2 unread in conv_e2e0first01.`,
    delivery_id: crypto.randomUUID(),
    ts: new Date().toISOString(),
    ...over
  }
}

export const instruction = 'Read your AgentChat tray and answer what is waiting.'

/** The text that the text dialects carry. */
export function textOf(wake, attempt = 1) {
  return (
    `${wake.summary}\n\n${instruction}\n\n` +
    `(AgentChat wake cycle ${wake.delivery_id}, attempt ${attempt}. This text carries no message content.)`
  )
}

export const hmacHex = (key, ...parts) => {
  const mac = crypto.createHmac('sha256', key)
  for (const part of parts) mac.update(part)
  return mac.digest('hex')
}
export const hmacBase64 = (key, ...parts) => Buffer.from(hmacHex(key, ...parts), 'hex').toString('base64')

export const seconds = () => Math.floor(Date.now() / 1000)

/** How each dialect frames a wake: (wake, { secret, attempt, at, body }) -> { headers, body }. */
export const framings = {
  agentchat(wake, { secret: key = secret, at = seconds(), body = JSON.stringify(wake) } = {}) {
    return { headers: { 'agentchat-signature': `t=${at},v1=${hmacHex(key, `${at}.`, body)}` }, body }
  },
  'claude-code'(wake, { secret: key = secret, attempt, body = JSON.stringify({ text: textOf(wake, attempt) }) } = {}) {
    return {
      headers: {
        authorization: `Bearer ${key}`,
        'anthropic-beta': 'experimental-cc-routine-2026-04-01',
        'anthropic-version': '2023-06-01'
      },
      body
    }
  },
  openclaw(wake, { secret: key = secret, attempt, body = JSON.stringify({ message: textOf(wake, attempt), name: 'AgentChat' }) } = {}) {
    return { headers: { authorization: `Bearer ${key}` }, body }
  },
  hermes(wake, { secret: key = secret, at = seconds(), body = JSON.stringify(wake) } = {}) {
    return {
      headers: {
        'x-webhook-timestamp': String(at),
        'x-webhook-signature-v2': hmacHex(key, `${at}.`, body),
        'x-request-id': wake.delivery_id
      },
      body
    }
  },
  poke(wake, { secret: key = secret, attempt, body = JSON.stringify({ message: textOf(wake, attempt) }) } = {}) {
    return { headers: { authorization: `Bearer ${key}` }, body }
  },
  'bearer-json'(wake, { secret: key = secret, body = JSON.stringify(wake) } = {}) {
    return { headers: { authorization: `Bearer ${key}` }, body }
  },
  'standard-webhooks'(wake, { secret: key = standardSecret, at = seconds(), body = JSON.stringify(wake) } = {}) {
    const id = wake.delivery_id
    const bytes = Buffer.from(key.replace(/^whsec_/, ''), 'base64')
    return {
      headers: {
        'webhook-id': id,
        'webhook-timestamp': String(at),
        'webhook-signature': `v1,${hmacBase64(bytes, `${id}.${at}.`, body)}`
      },
      body
    }
  }
}

export const secretFor = dialect => (dialect === 'standard-webhooks' ? standardSecret : secret)
export const textDialects = ['claude-code', 'openclaw', 'poke']
/** Those whose proof does not cover the body. */
export const bearerDialects = [...textDialects, 'bearer-json']

/** A whole request for `dialect`, to be given to request(). */
export function framed(dialect, wake, options) {
  const { headers, body } = framings[dialect](wake, options)
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
}
