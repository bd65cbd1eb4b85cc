// SPDX-License-Identifier: Apache-2.0
// machinery: the processes of a benchmark, each started here and ended here by its own id; what
// they cost, as the kernel counts it; what they run on.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import readline from 'node:readline'

/** How many descriptors a process here may have. */
export const descriptors = () => {
  const hard = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim()
  return hard === 'unlimited' ? Infinity : Number(hard)
}

export const machine = () => `${os.cpus().length} x ${os.cpus()[0].model.trim()}, Linux ${os.release()}, load ${os.loadavg()[0].toFixed(2)}`

/** The version of a package of this directory. */
export const version = name => JSON.parse(fs.readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version

/** A process that tells lines and, at its end, is told to end and must end well. */
export class Process {
  constructor(words, { env = {}, stderr = 'inherit' } = {}) {
    this.name = words.slice(0, 2).join(' ')
    this.child = spawn(words[0], words.slice(1), { stdio: ['pipe', 'pipe', stderr], env: { ...process.env, ...env } })
    this.over = once(this.child, 'exit')
    this.lines = readline.createInterface({ input: this.child.stdout })[Symbol.asyncIterator]()
  }

  /** Its next line. */
  async line() {
    const { value, done } = await this.lines.next()
    if (done) throw new Error(`${this.name} ended`)
    return value
  }

  say(line) {
    this.child.stdin.write(line + '\n')
  }

  /** The bytes of its memory that are in RAM. */
  resident() {
    const [, kilobytes] = /^Rss: +(\d+) kB/m.exec(fs.readFileSync(`/proc/${this.child.pid}/smaps_rollup`, 'utf8'))
    return kilobytes * 1024
  }

  /** The time that its threads have had a processor, in ms. */
  busy() {
    const tasks = `/proc/${this.child.pid}/task`
    const each = fs.readdirSync(tasks).map(task => Number(fs.readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]))
    return each.reduce((sum, ns) => sum + ns, 0) / 1e6
  }

  async end() {
    this.child.stdin.end()
    this.child.kill('SIGTERM')
    await this.over
  }
}

/** Clients of the server at `url`; `in` is what they told when all were in. */
export class Crowd {
  constructor(program, url, { path, speaks }, count) {
    this.process = new Process([program, new URL(url).port, path, speaks, String(count)])
  }

  async gathered() {
    return JSON.parse(await this.process.line())
  }

  /** One sends an envelope to all. */
  async tell() {
    this.process.say('tell')
    return JSON.parse(await this.process.line())
  }

  async leave() {
    this.process.child.stdin.end()
    const [code] = await this.process.over
    if (code !== 0) throw new Error(`the crowd ended with ${code}`)
  }
}
