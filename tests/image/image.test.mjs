// SPDX-License-Identifier: Apache-2.0
// The built image, run as in production: any user, a read-only root, no capabilities, config and
// secrets as mounted files. ENGINE is the command that runs containers, IMAGE what to run.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import dgram from 'node:dgram'
import fs from 'node:fs'
import https from 'node:https'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { request } from '../e2e/http.mjs'
import { freePort } from '../e2e/redis.mjs'
import { Runtime } from '../e2e/runtimes.mjs'
import { until } from '../e2e/until.mjs'
import { framed, handle, newWake, secret } from '../e2e/wakes.mjs'

const engine = process.env.ENGINE.split(' ')
const image = process.env.IMAGE
const MOST_MEGABYTES = 40

const ask = (...words) => execFileSync(engine[0], [...engine.slice(1), ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

// --- what the containers meet --------------------------------------------------------------------

/** A directory that every user may read, and that goes with the test. */
function scratch(t) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'wakegate-image-'))
  fs.chmodSync(directory, 0o755)
  t.after(() => fs.rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** An authority of the test's own, and a certificate for `names` from it. */
function certify(directory, ...names) {
  const openssl = (...words) => execFileSync('openssl', words, { cwd: directory, stdio: 'pipe' })
  openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
    '-subj', '/CN=image authority', '-keyout', 'ca.key', '-out', 'ca.pem')
  openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
    '-subj', '/CN=image', '-keyout', 'server.key', '-out', 'server.csr')
  fs.writeFileSync(path.join(directory, 'ext'), `subjectAltName=${names.map(name => `DNS:${name}`)}\n`)
  openssl('x509', '-req', '-in', 'server.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial',
    '-extfile', 'ext', '-days', '2', '-out', 'server.pem')
  const file = base => path.join(directory, base)
  return { ca: file('ca.pem'), key: file('server.key'), cert: file('server.pem') }
}

/** A runtime behind TLS that wants the token "image-token". */
async function startRuntime(t, { key, cert }) {
  const runtime = new Runtime(({ headers }) =>
    headers.authorization === 'Bearer image-token' ? { status: 200, body: { success: true }, run: 'image' } : { status: 401, body: '' })
  const tls = https.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) })
  tls.on('request', (req, res) => runtime.server.emit('request', req, res))
  tls.listen(0, '127.0.0.1')
  await once(tls, 'listening')
  t.after(() => tls.closeAllConnections() ?? tls.close())
  runtime.port = tls.address().port
  return runtime
}

/** A name server that gives every name the address 127.0.0.1, and no other. */
async function startResolver(t, address) {
  const resolver = dgram.createSocket('udp4')
  resolver.names = new Set()
  resolver.on('message', (question, from) => {
    let at = 12
    const labels = []
    for (; question[at] > 0; at += 1 + question[at]) labels.push(question.toString('latin1', at + 1, at + 1 + question[at]))
    resolver.names.add(labels.join('.').toLowerCase())
    const asked = question.subarray(12, at + 5)
    const isA = question.readUInt16BE(at + 1) === 1
    const head = Buffer.from([question[0], question[1], 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0])
    const answer = isA ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]) : Buffer.alloc(0)
    resolver.send(Buffer.concat([head, asked, answer]), from.port, from.address)
  })
  resolver.bind(53, address)
  await once(resolver, 'listening')
  t.after(() => resolver.close())
  return resolver
}

async function startRedis(t, directory, { ca, key, cert }) {
  const port = await freePort()
  const child = spawn('redis-server', ['--port', '0', '--tls-port', String(port), '--bind', '127.0.0.1', '--save', '',
    '--tls-ca-cert-file', ca, '--tls-key-file', key, '--tls-cert-file', cert, '--tls-auth-clients', 'no', '--dir', directory])
  const over = once(child, 'exit')
  let said = ''
  child.stdout.on('data', chunk => (said += chunk))
  t.after(async () => {
    child.kill('SIGKILL')
    await over
  })
  await until(() => said.includes('Ready to accept connections'), () => `redis-server answers: ${said}`)
  return port
}

// --- a container ---------------------------------------------------------------------------------

let serial = 0

class Container {
  text = ''

  constructor(t, options) {
    this.name = `wakegate-${process.pid}-${serial++}`
    this.options = options
    t.after(() => this.remove())
  }

  /** Starts it and waits for its log line "listening". */
  async start() {
    const words = ['run', '--name', this.name, '--read-only', '--read-only-tmpfs=false', '--cap-drop', 'ALL',
      '--security-opt', 'no-new-privileges', '--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=1000:1000', ...this.options, image]
    this.child = spawn(engine[0], [...engine.slice(1), ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.over = once(this.child, 'close')
    for (const stream of [this.child.stdout, this.child.stderr]) stream.on('data', chunk => (this.text += chunk))
    await until(() => {
      if (this.child.exitCode !== null) throw new Error(`it ended:\n${this.text}`)
      return this.entries.some(entry => entry.event === 'listening')
    }, () => `it listens:\n${this.text}`)
    return this
  }

  get entries() {
    return this.text.split('\n').filter(line => line.startsWith('{"')).map(line => JSON.parse(line))
  }

  get state() {
    return JSON.parse(ask('inspect', this.name))[0].State
  }

  /** Asks the process itself for who it is: lines of its /proc/<pid>/status. */
  status() {
    const lines = fs.readFileSync(`/proc/${this.state.Pid}/status`, 'utf8').split('\n')
    return Object.fromEntries(lines.filter(Boolean).map(line => line.split(/:\s*/, 2)))
  }

  /** Stops it as the image says, and tells its exit code; it is killed after `grace` seconds. */
  async stop(grace = 30) {
    ask('stop', '--time', String(grace), this.name)
    await this.over
    return this.state.ExitCode
  }

  async remove() {
    try {
      ask('rm', '--force', '--time', '0', this.name)
    } catch {
      return // it never came to be
    }
    await this.over
  }
}

/** The options with which a container runs `config` and keeps its wakes in `directory`/state. */
function mounts(directory, config, user) {
  const state = path.join(directory, 'state')
  if (!fs.existsSync(state)) {
    fs.mkdirSync(state)
    fs.chownSync(state, user, user)
  }
  fs.writeFileSync(path.join(directory, 'wakegate.json'), JSON.stringify(config))
  fs.writeFileSync(path.join(directory, 'wake-secret'), `${secret}\n`)
  fs.writeFileSync(path.join(directory, 'token'), 'image-token\n')
  const mount = (from, to) => ['--volume', `${path.join(directory, from)}:${to}:ro`]
  return [...mount('wakegate.json', '/etc/wakegate/wakegate.json'), ...mount('wake-secret', '/run/secrets/wake'),
    ...mount('token', '/run/secrets/token'), '--volume', `${state}:/var/lib/wakegate`]
}

const configFor = (runtime, over = {}) => ({
  drain: '0',
  routes: {
    relay: {
      dialect: 'agentchat',
      handle,
      secrets: [{ file: '/run/secrets/wake' }],
      target: {
        trigger: { dialect: 'bearer-json', url: `https://runtime.test:${runtime.port}/hook`, token: { file: '/run/secrets/token' }, private: true }
      }
    }
  },
  ...over
})

const post = (port, wake) => request(`http://127.0.0.1:${port}/wake/relay`, framed('agentchat', wake))

// --- the tests -----------------------------------------------------------------------------------

test('what the image says of itself, and how much it holds', t => {
  const [{ Config: config, Labels: labels }] = JSON.parse(ask('image', 'inspect', image))
  assert.match(config.User, /^[1-9]\d*:[1-9]\d*$/, 'a number, so that "not root" can be checked without a passwd file')
  assert.equal(config.StopSignal, 'SIGTERM')
  assert.deepEqual(config.Entrypoint, ['/usr/bin/wakegate'])
  const version = /^wakegate (\S+)/.exec(ask('run', '--rm', '--network', 'none', '--no-healthcheck', '--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=1000:1000', image, 'version'))[1]
  assert.equal(labels['org.opencontainers.image.version'], version, 'the Dockerfile and CMakeLists.txt name one version')
  assert.equal(labels['org.opencontainers.image.licenses'], 'Apache-2.0')

  const root = ask('image', 'mount', image).trim()
  t.after(() => ask('image', 'unmount', image))
  const files = fs.readdirSync(root, { recursive: true, withFileTypes: true })
    .map(entry => path.join(entry.path, entry.name)).map(file => ({ file: file.slice(root.length), ...fs.lstatSync(file) }))
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  const say = `${(bytes / 1e6).toFixed(1)} MB unpacked, ${files.length} files, ${files.filter(({ file }) => /\.so\./.test(file)).length} libraries`
  t.diagnostic(say)
  assert.ok(bytes < MOST_MEGABYTES * 1e6, say)
  assert.deepEqual(files.filter(({ mode }) => mode & 0o6002 && (mode & 0o170000) === 0o100000), [], 'nobody gains rights, or writes')
  assert.deepEqual(files.filter(({ file }) => /^\/(usr\/)?bin\//.test(file)).map(({ file }) => file), ['/usr/bin/wakegate'])
})

test('the Dockerfile names no architecture', () => {
  const text = fs.readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')
  assert.doesNotMatch(text, /x86|amd64|arm64|aarch64|lib64|linux-gnu/)
})

test('as any user, with a read-only root: a wake over TLS, once, and a clean end', async t => {
  const directory = scratch(t)
  const files = certify(directory, 'runtime.test')
  const runtime = await startRuntime(t, files)
  const port = await freePort()
  const config = configFor(runtime, { listen: `127.0.0.1:${port}`, ca_file: '/etc/wakegate/ca.pem' })
  const options = [...mounts(directory, config, 12345), '--network', 'host', '--no-healthcheck', '--add-host', 'runtime.test:127.0.0.1',
    '--volume', `${files.ca}:/etc/wakegate/ca.pem:ro`, '--user', '12345']
  const container = await new Container(t, options).start()

  const status = container.status()
  assert.equal(status.NSpid.trim().split(/\s+/).at(-1), '1', 'it is process 1')
  assert.match(status.Uid, /^12345\s+12345\s+12345\s+12345$/)
  assert.match(status.CapEff, /^0+$/)
  assert.match(fs.readFileSync(`/proc/${container.state.Pid}/mountinfo`, 'utf8'), /^\d+ \d+ \S+ \S+ \/ ro,/m, 'the root is read-only')

  const wake = newWake()
  const first = await post(port, wake)
  assert.deepEqual([first.status, first.json?.status], [200, 'relayed'], first.text + container.text)
  assert.equal(runtime.runs.length, 1)
  assert.equal(runtime.requests[0].json.delivery_id, wake.delivery_id)
  assert.equal((await post(port, wake)).json.status, 'duplicate')
  assert.equal((await request(`http://127.0.0.1:${port}/wake/relay`, framed('agentchat', newWake(), { secret: 'another' }))).status, 401)
  assert.match(ask('exec', container.name, '/usr/bin/wakegate', 'healthcheck', `http://127.0.0.1:${port}`), /: ready\n$/)

  assert.equal(await container.stop(), 0, container.text)
  const again = await new Container(t, options).start()
  assert.equal((await post(port, wake)).json.status, 'duplicate', 'what was relayed is remembered in the volume')
  assert.equal(runtime.runs.length, 1)
  assert.equal(await again.stop(), 0)
})

test("the image's own user and certificates, for the runtime and for Redis, and names that DNS knows", async t => {
  const directory = scratch(t)
  const files = certify(directory, 'runtime.test', 'redis.test')
  const runtime = await startRuntime(t, files)
  const redis = await startRedis(t, directory, files)
  const resolver = await startResolver(t, '127.0.53.53')
  const port = await freePort()
  const config = configFor(runtime, { listen: `127.0.0.1:${port}`, store: `rediss://redis.test:${redis}/0` })
  // In the place of the public authorities stands the test's own.
  const container = await new Container(t, [...mounts(directory, config, 65532), '--network', 'host', '--no-healthcheck',
    '--dns', '127.0.53.53', '--volume', `${files.ca}:/etc/ssl/certs/ca-certificates.crt:ro`]).start()
  await until(async () => (await request(`http://127.0.0.1:${port}/readyz`, { method: 'GET' })).status === 200, () => `it is ready:\n${container.text}`)

  const wake = newWake()
  const first = await post(port, wake)
  assert.deepEqual([first.status, first.json?.status], [200, 'relayed'], first.text + container.text)
  assert.equal((await post(port, wake)).json.status, 'duplicate')
  assert.equal(runtime.runs.length, 1)
  for (const name of ['runtime.test', 'redis.test']) assert.ok(resolver.names.has(name), `${name} was asked for`)
  assert.equal(await container.stop(), 0)
})

test("the image's HEALTHCHECK, at the address that is the default", async t => {
  const directory = scratch(t)
  const container = await new Container(t, [...mounts(directory, configFor({ port: 1 }), 4321), '--network', 'none', '--user', '4321']).start()
  await until(() => {
    try {
      ask('healthcheck', 'run', container.name)
      return true
    } catch {
      return false
    }
  }, () => `it is healthy:\n${container.text}`)
  assert.equal(await container.stop(), 0)
})
