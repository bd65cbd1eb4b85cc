// SPDX-License-Identifier: Apache-2.0
// namespace: a network namespace of a test's own, with its own resolv.conf and hosts file, in which
// names resolve as the test wants. Needs root; where it cannot be made, `why` says so.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const ip = (...words) => spawnSync('ip', words, { encoding: 'utf8' })
let serial = 0

/** Makes one and removes it with the test. Resolves to { prefix } for commands, or { why }. */
export function makeNamespace(t, { resolv = 'nameserver 127.0.0.1\n', hosts = '' } = {}) {
  const name = `wakegate-e2e-${process.pid}-${serial++}`
  const directory = path.join('/etc/netns', name)
  const made = ip('netns', 'add', name)
  if (made.error || made.status !== 0) return { why: made.error?.message ?? made.stderr.trim() }
  t.after(() => {
    ip('netns', 'del', name)
    fs.rmSync(directory, { recursive: true, force: true })
    // Only if it is empty: somebody else may use it.
    try {
      fs.rmdirSync(path.dirname(directory))
    } catch {}
  })
  const up = ip('-n', name, 'link', 'set', 'lo', 'up')
  if (up.status !== 0) return { why: up.stderr.trim() }
  try {
    fs.mkdirSync(directory, { recursive: true })
    fs.writeFileSync(path.join(directory, 'resolv.conf'), resolv)
    fs.writeFileSync(path.join(directory, 'hosts'), `127.0.0.1 localhost\n::1 localhost\n${hosts}`)
  } catch (error) {
    return { why: error.message }
  }
  const prefix = ['ip', 'netns', 'exec', name]
  const tried = spawnSync(prefix[0], [...prefix.slice(1), 'true'], { encoding: 'utf8' })
  return tried.status === 0 ? { prefix } : { why: tried.stderr.trim() }
}
