// SPDX-License-Identifier: Apache-2.0
// gateway: the program under test, started with a config of the test's own in a directory of its own,
// on a free port; its log, its metrics, its end. A test fails when the process leaves anything on
// standard error that is no log line (a sanitizer's report), or ends otherwise than the test wanted.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { request } from './http.mjs'
import { until } from './until.mjs'
import { framed, handle, secret, secretFor, standardSecret } from './wakes.mjs'
import { runtimePaths, runtimeSecrets } from './runtimes.mjs'

export const program = process.env.WAKEGATE ?? new URL('../../build/test/wakegate', import.meta.url).pathname

/** A directory that goes with the test. */
export function scratch(t) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'wakegate-e2e-'))
  t.after(() => fs.rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** What no test forgives: the report of a sanitizer. After one the exit code may be 1, as it is after
 * a mistake in the config. */
export const report = /Sanitizer|runtime error: /

/** Every secret of these tests, by the variable that the config names. */
const secretVariables = {
  E2E_SECRET: secret,
  E2E_STANDARD_SECRET: standardSecret,
  ...Object.fromEntries(Object.entries(runtimeSecrets).map(([kind, value]) => [variableOf(kind), value]))
}

function variableOf(kind) {
  return `E2E_RUNTIME_${kind.toUpperCase().replaceAll('-', '_')}`
}

/** A route that takes `dialect` and brings its wakes to `target`. */
export function route(dialect, target, over = {}) {
  const variable = secretFor(dialect) === secret ? 'E2E_SECRET' : 'E2E_STANDARD_SECRET'
  return { dialect, handle, secrets: [{ env: variable }], target, ...over }
}

/** A trigger at a fake runtime. */
export function trigger(runtime, over = {}) {
  const dialect = runtime.kind === 'grok' ? 'bearer-json' : runtime.kind
  const key = ['hermes', 'standard-webhooks', 'agentchat'].includes(runtime.kind) ? 'secret' : 'token'
  return {
    trigger: {
      dialect,
      url: runtime.url + runtimePaths[runtime.kind],
      [key]: { env: variableOf(runtime.kind) },
      private: true,
      ...over
    }
  }
}

export class Gateway {
  noise = []
  entries = []
  #rest = ''

  constructor(directory, config, { env, prefix, ready, tls, binary }) {
    this.directory = directory
    this.file = path.join(directory, 'wakegate.json')
    this.env = env
    this.prefix = prefix
    this.ready = ready
    this.tls = tls
    this.binary = binary
    this.write(config)
  }

  write(config) {
    this.config = config
    fs.writeFileSync(this.file, typeof config === 'string' ? config : JSON.stringify(config, null, 2))
  }

  /** Starts the process and waits until it listens and, unless the test wants otherwise, its store is
   * there. */
  async start() {
    this.launch()
    const first = await this.event('listening')
    this.url = first.url
    if (this.ready) await until(async () => (await this.get('/readyz')).status === 200, () => `it is ready\n${this.everything()}`)
    return this
  }

  launch() {
    const words = [...this.prefix, this.binary, 'serve', '--config', this.file]
    this.child = spawn(words[0], words.slice(1), {
      cwd: this.directory,
      env: { PATH: process.env.PATH, ...secretVariables, ...this.env },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    this.over = once(this.child, 'exit').then(([code, signal]) => ({ code, signal }))
    this.closed = once(this.child, 'close')
    this.child.stdout.on('data', chunk => this.noise.push(`stdout: ${chunk}`))
    this.child.stderr.on('data', chunk => this.#read(chunk))
  }

  #read(chunk) {
    const lines = (this.#rest + chunk).split('\n')
    this.#rest = lines.pop()
    for (const line of lines) {
      try {
        this.entries.push(JSON.parse(line))
      } catch {
        this.noise.push(line)
      }
    }
  }

  get running() {
    return this.child && this.child.exitCode === null && this.child.signalCode === null
  }

  log(event) {
    return this.entries.filter(entry => entry.event === event)
  }

  /** Waits for the `count`th log line of that event since the process was last started. */
  async event(event, count = 1, limit = 20_000) {
    const before = this.entries.length && this.startedWith ? this.startedWith : 0
    return until(
      () => {
        const found = this.entries.slice(before).filter(entry => entry.event === event)
        if (found.length >= count) return found[count - 1]
        if (!this.running) throw new Error(`wakegate ended before it logged "${event}":\n${this.everything()}`)
      },
      () => `"${event}" is logged:\n${this.everything()}`,
      limit
    )
  }

  everything() {
    return [...this.entries.map(entry => JSON.stringify(entry)), ...this.noise].join('\n')
  }

  /** Sends `wake` to /wake/<name> in `dialect`. */
  wake(name, dialect, wake, options) {
    return request(`${this.url}/wake/${name}`, { tls: this.tls, ...framed(dialect, wake, options) })
  }

  get(where) {
    return request(this.url + where, { method: 'GET', tls: this.tls })
  }

  /** The metrics as { 'name{labels}': value }. */
  async metrics() {
    const { status, text } = await this.get('/metrics')
    assert.equal(status, 200)
    const values = {}
    for (const line of text.split('\n')) {
      const at = line.lastIndexOf(' ')
      if (at > 0 && !line.startsWith('#')) values[line.slice(0, at)] = Number(line.slice(at + 1))
    }
    return values
  }

  /** Sends `signal` and waits for the end; resolves to { code, signal }. */
  stop(signal = 'SIGTERM') {
    if (this.running) this.child.kill(signal)
    return this.ended()
  }

  /** Waits for the end without asking for it; one that does not come is forced, and is a failure. */
  async ended(limit = 60_000) {
    const child = this.child
    const timer = setTimeout(() => child.kill('SIGKILL'), limit)
    const end = await this.over
    await this.closed
    clearTimeout(timer)
    return end
  }

  async kill() {
    this.killed = true
    return this.stop('SIGKILL')
  }

  /** Starts it again on the same directory and, where the port was free to choose, on a new port. */
  async restart() {
    assert.equal(this.running, false)
    this.killed = false
    this.startedWith = this.entries.length
    return this.start()
  }

  /** The end of every test: nothing but log lines was written, and the process ended well. */
  async finish() {
    if (!this.child) return
    const end = await this.stop()
    // Routes of a test share secrets, which is warned about before the log begins.
    const may = line => / share a secret; /.test(line) || this.mayWrite?.test(line)
    const noise = this.noise.filter(line => report.test(line) || !may(line))
    assert.deepEqual(noise, [], 'wakegate wrote what is no log line')
    if (!this.killed && !this.mayFail) assert.deepEqual(end, { code: 0, signal: null }, this.everything())
  }
}

/** What every config of a test shares; `over` wins. Short times keep the tests short. */
export const defaults = {
  listen: '127.0.0.1:0',
  store: 'sqlite:wakegate.db',
  drain: '0',
  grace: '5s',
  agentchat: { texts: false },
  log_level: 'debug'
}

export function makeGateway(t, over, { env = {}, prefix = [], directory = scratch(t), ready = true, tls, binary = program } = {}) {
  const config = typeof over === 'string' ? over : { ...defaults, ...over }
  const gateway = new Gateway(directory, config, { env, prefix, ready, tls, binary })
  t.after(() => gateway.finish())
  return gateway
}

export function startGateway(t, over, options) {
  return makeGateway(t, over, options).start()
}

/** Runs a subcommand to its end; resolves to { code, signal, out, err }. */
export async function run(words, { env = {}, input = '', cwd, prefix = [] } = {}) {
  const line = [...prefix, program, ...words.map(String)]
  const child = spawn(line[0], line.slice(1), { cwd, env: { PATH: process.env.PATH, ...secretVariables, ...env } })
  let out = ''
  let err = ''
  child.stdout.on('data', chunk => (out += chunk))
  child.stderr.on('data', chunk => (err += chunk))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [code, signal] = await once(child, 'close')
  assert.doesNotMatch(out + err, report)
  return { code, signal, out, err }
}

/** Sends again until the answer has `status`; each other answer must be a 503. */
export async function answersTo(send, status) {
  let last
  return until(
    async () => {
      last = await send()
      if (last.status === status) return last
      assert.equal(last.status, 503, last.text)
    },
    () => `the answer is ${status}; the last was ${last.status} ${last.text}`
  )
}
