// SPDX-License-Identifier: Apache-2.0
// redis: a real redis-server of a test's own, which can be stopped, frozen, killed and started again.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { until } from './until.mjs'

export async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

export class Redis {
  constructor(port, directory, options, env) {
    this.port = port
    this.env = env
    this.directory = directory
    this.options = options
  }

  get url() {
    return `redis://127.0.0.1:${this.port}/0`
  }

  async start({ loaded = true } = {}) {
    this.child = spawn(
      'redis-server',
      ['--port', this.port, '--bind', '127.0.0.1', '--dir', this.directory, '--save', '', '--appendonly', 'no',
        '--daemonize', 'no', ...this.options].map(String),
      { stdio: 'ignore', env: { ...process.env, ...this.env } }
    )
    this.over = once(this.child, 'exit')
    await until(() => (loaded ? this.ping() : this.command('PING').then(() => true, () => false)), 'redis-server answers')
  }

  /** One command over a connection of its own; resolves to the reply's text. */
  command(...words) {
    return new Promise((resolve, reject) => {
      const socket = net.connect(this.port, '127.0.0.1')
      let text = ''
      socket.setTimeout(2000, () => socket.destroy(new Error('redis-server does not answer')))
      socket.on('connect', () => {
        socket.write(`*${words.length}\r\n` + words.map(w => `$${Buffer.byteLength(w)}\r\n${w}\r\n`).join(''))
      })
      socket.on('data', chunk => {
        text += chunk
        if (text.endsWith('\r\n')) {
          socket.end()
          resolve(text)
        }
      })
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('redis-server closed the connection')))
    })
  }

  async ping() {
    return this.command('PING').then(reply => /^(\+PONG|-NOAUTH)/.test(reply), () => false)
  }

  freeze() {
    this.child.kill('SIGSTOP')
  }

  thaw() {
    this.child.kill('SIGCONT')
  }

  async kill() {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGKILL')
      await this.over
    }
  }
}

/** Starts one and ends it with the test `t`. `options`: more of redis-server's own. */
export function startRedis(t, ...options) {
  return startRedisIn(t, {}, ...options)
}

/** The same with further variables in its environment. */
export async function startRedisIn(t, env, ...options) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'wakegate-redis-'))
  const redis = new Redis(await freePort(), directory, options, env)
  t.after(async () => {
    await redis.kill()
    fs.rmSync(directory, { recursive: true, force: true })
  })
  await redis.start()
  return redis
}
