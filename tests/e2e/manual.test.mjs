// SPDX-License-Identifier: Apache-2.0
// The pages of the manual say all that the program and the schema say: each command with its options,
// each key of the config in its object.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { program, run, scratch } from './gateway.mjs'

const root = new URL('../../', import.meta.url)

/** A page, as an object from the titles of its parts to their texts. */
function makePage(t, name) {
  const directory = scratch(t)
  execFileSync(new URL('deploy/man/pages', root).pathname, [program, directory])
  const text = fs.readFileSync(path.join(directory, name), 'utf8').replaceAll('\\-', '-').replaceAll('\\(dq', '"')
  const [, ...parts] = text.split(/^\.S[hs] /m)
  return Object.fromEntries(parts.map(part => [part.slice(0, part.indexOf('\n')), part]))
}

test('wakegate.1 has every command with every option', async t => {
  const page = makePage(t, 'wakegate.1')
  const { out } = await run(['--help'])
  const commands = [...out.matchAll(/^ {2}wakegate (\S+)/gm)].map(([, name]) => name)
  assert.ok(commands.length >= 7, out)
  for (const command of commands) {
    assert.ok(page[command], `there is a part for ${command}`)
    const usage = (await run([command, '--help'])).out
    for (const [option] of usage.matchAll(/--[a-z-]+/g)) assert.ok(page[command].includes(option), `${command} ${option}`)
    assert.ok(page[command].includes(usage.replace('usage: ', '').trim()), `${command}, as it says itself`)
  }
})

test('wakegate.json.5 has every key of the schema, in its object', t => {
  const page = makePage(t, 'wakegate.json.5')
  const schema = JSON.parse(fs.readFileSync(new URL('deploy/wakegate.schema.json', root), 'utf8'))
  let keys = 0
  const look = (part, spec) => {
    for (const [key, inner] of Object.entries(spec.properties ?? {})) {
      keys++
      assert.ok(page[part]?.includes(`.It Ic "${key}"\n`), `${part}: ${key}`)
      look(part, inner)
    }
    if (spec.items) look(part, spec.items)
  }
  look('KEYS', schema)
  for (const [name, spec] of Object.entries(schema.$defs)) look(name, spec)
  assert.ok(keys > 80, `${keys} keys`)
})
