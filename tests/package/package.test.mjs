// SPDX-License-Identifier: Apache-2.0
// The life of the Debian package in a Debian with a systemd of its own: it is installed, runs as a
// service, reloads, is watched, upgraded, removed and purged. The tests go one after another through
// one machine: ENGINE is the command that runs containers, CONTAINER the machine's name; PACKAGES has
// the packages that stand in its /srv as well.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { request } from '../e2e/http.mjs'
import { freePort } from '../e2e/redis.mjs'
import { Runtime } from '../e2e/runtimes.mjs'
import { until } from '../e2e/until.mjs'
import { framed, handle, newWake, secret } from '../e2e/wakes.mjs'

const engine = process.env.ENGINE.split(' ')
const packages = process.env.PACKAGES
const MOST_EXPOSED = 1.5

const only = (directory, end) => {
  const found = fs.readdirSync(path.join(packages, directory)).filter(name => name.endsWith(end))
  assert.equal(found.length, 1, `${directory}: ${found}`)
  return path.join(packages, directory, found[0])
}
const deb = only('now', '.deb')

/** Runs a shell command in the machine; resolves to { code, out }. */
const tried = command => {
  const words = [...engine.slice(1), 'exec', '--env', 'DEBIAN_FRONTEND=noninteractive', process.env.CONTAINER, 'sh', '-euc', command]
  const { status, stdout, stderr } = spawnSync(engine[0], words, { encoding: 'utf8' })
  return { code: status, out: stdout + stderr }
}
const run = command => {
  const { code, out } = tried(command)
  assert.equal(code, 0, `${command}\n${out}`)
  return out.trim()
}
const put = (file, text) => run(`cat >'${file}' <<'END'\n${text}\nEND`)
const install = directory => run(`apt-get install -qy --no-install-recommends /srv/${directory}/*.deb`)
const property = name => run(`systemctl show --property ${name} --value wakegate`)

const runtime = new Runtime(({ headers }) =>
  headers.authorization === 'Bearer package-token' ? { status: 200, body: { success: true }, run: 'package' } : { status: 401, body: '' })
await runtime.listen()
const port = await freePort()
const config = {
  listen: `127.0.0.1:${port}`,
  drain: '0',
  routes: {
    relay: {
      dialect: 'agentchat',
      handle,
      secrets: [{ file: '/etc/wakegate/wake-secret' }],
      target: { trigger: { dialect: 'bearer-json', url: `${runtime.url}/hook`, token: { env: 'PACKAGE_TOKEN' }, private: true } }
    }
  }
}
const post = (wake, name = 'relay') => request(`http://127.0.0.1:${port}/wake/${name}`, framed('agentchat', wake))
const wake = newWake()
const isKnown = async () => assert.equal((await post(wake)).json.status, 'duplicate', 'what was relayed is remembered')

test('the packages are in order', () => {
  // Who publishes a package says who answers for it.
  const mail = 'bogus-mail-host,bogus-mail-host-in-debian-changelog'
  const { stdout, stderr, status } = spawnSync('lintian', ['--allow-root', '--suppress-tags', mail, '--fail-on', 'error,warning', deb], { encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
  const depends = execFileSync('dpkg-deb', ['--field', deb, 'Depends'], { encoding: 'utf8' })
  for (const library of ['libc6', 'libcurl4', 'libhiredis', 'libjansson4', 'libmicrohttpd12', 'libsqlite3-0', 'libssl3', 'libuv1'])
    assert.match(depends, new RegExp(`\\b${library}`))
  const changelog = fs.readFileSync(new URL('../../deploy/package/changelog', import.meta.url), 'utf8')
  assert.ok(changelog.startsWith(`wakegate (${process.env.VERSION}) `), 'the changelog begins with this version')
})

test('the pages of the manual are well-formed', () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'wakegate-manual-'))
  execFileSync(new URL('../../deploy/man/pages', import.meta.url).pathname, [path.join(packages, 'wakegate'), directory])
  const pages = ['wakegate.1', 'wakegate.json.5'].map(name => path.join(directory, name))
  const { stdout, stderr, status } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', ...pages], { encoding: 'utf8' })
  fs.rmSync(directory, { recursive: true })
  assert.equal(status, 0, stdout + stderr)
})

test('the debug symbols are those of the program, in a package of their own', () => {
  const id = /Build ID: (\w\w)(\w+)/.exec(execFileSync('readelf', ['-n', path.join(packages, 'wakegate')], { encoding: 'utf8' }))
  const inside = execFileSync('dpkg-deb', ['-c', only('now', '.ddeb')], { encoding: 'utf8' })
  assert.ok(inside.includes(`/.build-id/${id[1]}/${id[2]}.debug`), inside)
  const listed = execFileSync('dpkg-deb', ['-c', deb], { encoding: 'utf8' })
  assert.doesNotMatch(listed, /debug/)
})

test('installed: there are its user, its files and its directories, and nothing runs', () => {
  install('now')
  assert.equal(run('stat -c "%U:%G %a" /etc/wakegate /var/lib/wakegate'), 'root:wakegate 750\nwakegate:wakegate 750')
  assert.match(run('getent passwd wakegate'), /:\/var\/lib\/wakegate:\/usr\/sbin\/nologin$/)
  assert.equal(property('ActiveState'), 'inactive')
  assert.equal(run('wakegate version | head -n 1'), `wakegate ${process.env.VERSION}`)
  const { code, out } = tried('wakegate check --config /etc/wakegate/wakegate.json')
  assert.equal(code, 1)
  const mistakes = out.split('\n').filter(line => line.startsWith('mistake: '))
  assert.equal(mistakes.length, 2, out)
  for (const line of mistakes) assert.match(line, /(wake-secret|routine-token)/, 'only its secrets are missing')
})

test('the unit is valid, and how exposed it is', t => {
  assert.equal(run('systemd-analyze verify --man=no wakegate.service'), '')
  const [line, score] = /Overall exposure level for wakegate.service: ([\d.]+)/.exec(run('systemd-analyze security --no-pager wakegate.service'))
  t.diagnostic(line)
  assert.ok(Number(score) <= MOST_EXPOSED, line)
})

test('as a service it relays a wake, once', async () => {
  put('/etc/wakegate/wakegate.json', JSON.stringify(config, null, 2))
  put('/etc/wakegate/wake-secret', secret)
  put('/etc/default/wakegate', 'PACKAGE_TOKEN=package-token')
  run('chgrp wakegate /etc/wakegate/wake-secret && chmod 640 /etc/wakegate/wake-secret && systemctl enable wakegate')
  run('systemctl start wakegate')
  assert.equal(property('ActiveState'), 'active')
  assert.match(run(`ps -o user= -p ${property('MainPID')} 2>/dev/null || stat -c %U /proc/${property('MainPID')}`), /^wakegate/)
  run(`wakegate healthcheck http://127.0.0.1:${port}`)
  const first = await post(wake)
  assert.equal(first.json?.status, 'relayed', first.text + run('journalctl -u wakegate'))
  await isKnown()
  assert.equal(runtime.runs.length, 1)
  assert.equal(run('stat -c %U /var/lib/wakegate/wakegate.db'), 'wakegate')
})

test('a reload brings a new route into force and ends no process', async () => {
  const before = property('MainPID')
  assert.equal((await post(newWake(), 'more')).status, 404)
  put('/etc/wakegate/wakegate.json', JSON.stringify({ ...config, routes: { ...config.routes, more: config.routes.relay } }))
  run('systemctl reload wakegate')
  await until(async () => (await post(newWake(), 'more')).status === 200, 'the new route is there')
  assert.equal(property('ActiveState'), 'active')
  assert.equal(property('MainPID'), before)
})

test('a process that stands still is ended and started again', async () => {
  put('/run/watchdog.conf', '[Service]\nWatchdogSec=2s\nRestartSec=100ms')
  run('mkdir -p /run/systemd/system/wakegate.service.d && mv /run/watchdog.conf /run/systemd/system/wakegate.service.d/')
  run('systemctl daemon-reload && systemctl restart wakegate')
  const before = property('MainPID')
  const stamp = property('WatchdogTimestampMonotonic')
  await until(() => property('WatchdogTimestampMonotonic') !== stamp, 'signs of life arrive')
  run(`kill -STOP ${before}`)
  await until(() => property('NRestarts') === '1' && property('ActiveState') === 'active', 'it was started again')
  assert.notEqual(property('MainPID'), before)
  assert.match(run('journalctl -u wakegate'), /Watchdog timeout/)
  await isKnown()
  run('rm -r /run/systemd/system/wakegate.service.d && systemctl daemon-reload && systemctl restart wakegate')
})

test('an upgrade keeps the config and the wakes, and what ran runs', async () => {
  const before = property('MainPID')
  const kept = run('cat /etc/wakegate/wakegate.json')
  install('next')
  assert.equal(run("dpkg-query -W -f '${Version}' wakegate"), `${process.env.VERSION}+1`)
  assert.equal(run('cat /etc/wakegate/wakegate.json'), kept)
  assert.equal(property('ActiveState'), 'active')
  assert.notEqual(property('MainPID'), before, 'the new program runs')
  assert.equal(run('stat -c "%U:%G %a" /etc/wakegate /var/lib/wakegate'), 'root:wakegate 750\nwakegate:wakegate 750')
  await isKnown()
})

test('stopped, it ends in order', () => {
  run('systemctl stop wakegate')
  assert.equal(property('Result'), 'success')
  assert.equal(property('ExecMainStatus'), '0')
  run('systemctl start wakegate')
})

test('removed, it runs no more and keeps what it knew; purged, nothing is left', async t => {
  t.after(() => runtime.close())
  run('apt-get remove -qy wakegate')
  await assert.rejects(post(newWake()), /ECONNREFUSED/)
  run('test -e /var/lib/wakegate/wakegate.db && test -e /etc/wakegate/wakegate.json && test ! -e /usr/bin/wakegate')
  run('rm /etc/default/wakegate && rm -r /srv/now /srv/next') // not the package's
  run('apt-get purge -qy wakegate')
  assert.equal(run("find / -xdev -name '*wakegate*'"), '')
  assert.equal(run('find / -xdev -nouser -o -xdev -nogroup'), '')
  assert.equal(tried('getent passwd wakegate || getent group wakegate').out, '')
  assert.notEqual(tried('dpkg-query -W wakegate').code, 0)
})
