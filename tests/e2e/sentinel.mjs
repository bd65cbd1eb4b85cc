// SPDX-License-Identifier: Apache-2.0
// sentinel: a real master with a replica, and real Sentinels that watch them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort, Redis, startRedis } from './redis.mjs'
import { until } from './until.mjs'

export const master = 'prime'

/** One Sentinel: a redis-server in another mode, which writes what it learns into its own config. */
class Sentinel extends Redis {
  async start() {
    this.child = spawn('redis-server', [this.file, '--sentinel'], { stdio: 'ignore' })
    this.over = once(this.child, 'exit')
    await until(() => this.ping(), 'the Sentinel answers')
  }

  /** The port of the master, as this Sentinel knows it. */
  async knows() {
    const reply = await this.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master)
    return Number(reply.split('\r\n')[4])
  }
}

/** Starts a Sentinel that watches `port` as `name`; `lines`: more of its config. */
export async function startSentinel(t, port, { name = master, quorum = 1, lines = [], tls = false } = {}) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'wakegate-sentinel-'))
  const sentinel = new Sentinel(await freePort(), directory, [])
  if (tls) sentinel.tlsPort = await freePort()
  sentinel.file = path.join(directory, 'sentinel.conf')
  fs.writeFileSync(
    sentinel.file,
    [
      `port ${sentinel.port}`,
      'bind 127.0.0.1',
      ...(tls ? [`tls-port ${sentinel.tlsPort}`] : []),
      `dir ${directory}`,
      `sentinel monitor ${name} 127.0.0.1 ${port} ${quorum}`,
      `sentinel down-after-milliseconds ${name} 1000`,
      `sentinel failover-timeout ${name} 6000`,
      ...lines
    ].join('\n') + '\n'
  )
  t.after(async () => {
    await sentinel.kill()
    fs.rmSync(directory, { recursive: true, force: true })
  })
  await sentinel.start()
  return sentinel
}

/** A master, a replica in step with it, and three Sentinels that know it all. With `tls` each has a
 * second port, `tlsPort`, which is the one that is named and used; the plain one is for the test. */
export async function startReplicated(t, { options = [], sentinel = {}, tls = false } = {}) {
  const start = async (...more) => {
    const tlsPort = tls ? await freePort() : undefined
    const redis = await startRedis(t, '--repl-diskless-sync-delay', 0, ...(tls ? ['--tls-port', tlsPort] : []), ...options, ...more)
    return Object.assign(redis, { tlsPort })
  }
  const portOf = one => one.tlsPort ?? one.port
  const first = await start()
  const second = await start('--replicaof', `127.0.0.1 ${portOf(first)}`)
  const inStep = async () => /master_link_status:up/.test(await second.command('INFO', 'replication'))
  await until(inStep, 'the replica is in step')
  const sentinels = []
  for (let i = 0; i < 3; i++) sentinels.push(await startSentinel(t, portOf(first), { quorum: 2, tls, ...sentinel }))
  const seen = async one => {
    const reply = await one.command('SENTINEL', 'MASTER', master)
    return /num-slaves\r\n\$1\r\n1\r\n/.test(reply) && /num-other-sentinels\r\n\$1\r\n2\r\n/.test(reply)
  }
  for (const one of sentinels) await until(() => seen(one), 'the Sentinels know each other and the replica')
  const hosts = sentinels.map(one => `127.0.0.1:${portOf(one)}`).join(',')
  return { first, second, sentinels, hosts, url: `redis+sentinel://${hosts}/${master}/0` }
}
