// SPDX-License-Identifier: Apache-2.0
// What the pages say of the config is what the schema and the program have: keys, variables, names, and
// the examples in the text.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import Ajv from 'ajv/dist/2020.js'
import { blocks, json, section, text } from './files.mjs'

const root = new URL('../../', import.meta.url)
const schema = json('wakegate.schema.json')
const pages = Object.fromEntries(['../README.md', 'README.md', 'platforms.md'].map(name => [name, text(name)]))

/** Every key of the schema: [the path to it, what the schema says of it]. */
function* keysOf(spec, at = '') {
  for (const [key, inner] of Object.entries(spec.properties ?? {})) {
    yield [`${at}${key}`, inner]
    yield* keysOf(inner, `${at}${key}.`)
  }
  if (spec.items && typeof spec.items === 'object') yield* keysOf(spec.items, at)
}

const keys = [...keysOf(schema), ...Object.entries(schema.$defs).flatMap(([name, spec]) => [...keysOf(spec, `${name}: `)])]
const keyNames = new Set(keys.map(([at]) => at.replace(/^.*[.: ]/, '')))

/** The words that the program has, in its strings: codes, events, labels, names. */
function* strings(directory) {
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const at = new URL(entry.name + (entry.isDirectory() ? '/' : ''), directory)
    if (entry.isDirectory()) yield* strings(at)
    else if (/\.[ch]$/.test(entry.name)) for (const [, word] of fs.readFileSync(at, 'utf8').matchAll(/"([A-Za-z_]+)\\?"/g)) yield word
  }
}
const spoken = new Set(['gateway/', 'relay/', 'dialects/'].flatMap(name => [...strings(new URL(name, root))]))

const codeOf = page => [...page.matchAll(/`([^`]+)`/g)].map(([, code]) => code).concat(blocks(page))

test('every key of the schema is described', () => {
  assert.ok(keys.length > 80, `${keys.length} keys`)
  for (const [at, spec] of keys) {
    const meant = spec.$ref ? schema.$defs[spec.$ref.replace('#/$defs/', '')] : {}
    assert.ok(spec.description || meant.description, `${at} says nothing`)
  }
})

test('the pages name keys that there are', () => {
  // A route's name, and the words of an answer, are no keys.
  let named = 0
  const reference = ['Configure it', 'Point AgentChat at it', 'What it answers', 'What it promises'].map(title => section(pages['../README.md'], title))
  for (const part of [...reference, pages['README.md'], pages['platforms.md']])
    for (const code of codeOf(part))
      for (const [, key] of code.matchAll(/(?<!\\)"([a-z_$]+)":/g)) {
        named++
        assert.ok(keyNames.has(key) || ['relay', 'code', 'message'].includes(key), `"${key}" is no key: ${code}`)
      }
  assert.ok(named > 30, `${named} keys`)
})

test('the pages name codes, events, labels and variables that the program has', () => {
  for (const [name, page] of Object.entries(pages)) {
    for (const code of codeOf(page)) {
      if (/^[a-z]+(_[a-z]+)+$/.test(code))
        assert.ok(keyNames.has(code) || spoken.has(code) || page.includes(`${code} =`) || page.includes(`${code}=`), `${name}: ${code}`)
      for (const [variable] of code.matchAll(/\bWAKEGATE_[A-Z_]+/g)) assert.ok(spoken.has(variable), `${name}: ${variable}`)
    }
  }
})

test('the configs in the README are ones that the schema takes', () => {
  const validate = new Ajv({ strict: true, strictTypes: false, strictRequired: false }).compile(schema)
  const [whole] = blocks(section(pages['../README.md'], 'Configure it')).filter(block => block.startsWith('{'))
  const config = JSON.parse(whole)
  const [rooms] = blocks(section(pages['../README.md'], 'Rooms')).filter(block => block.startsWith('"rooms"'))
  assert.ok(validate({ ...config, ...JSON.parse(`{${rooms}}`) }), JSON.stringify(validate.errors))
})

test('every top-level key is one that the README or the runbook speaks of', () => {
  const all = Object.values(pages).join('\n')
  const unsaid = Object.keys(schema.properties).filter(key => key !== '$schema' && !new RegExp(`[\`"]${key}[\`":]`).test(all))
  assert.deepEqual(unsaid, [])
})

test('links between the pages lead somewhere', () => {
  const anchors = page => [...page.matchAll(/^#+ (.+)$/gm)].map(([, title]) => title.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-'))
  const deploy = new URL('deploy/', root)
  for (const [name, page] of Object.entries(pages))
    for (const [, target] of page.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      const [file, anchor] = target.split('#')
      const at = file ? new URL(file, new URL(name, deploy)) : new URL(name, deploy)
      assert.ok(fs.existsSync(at), `${name}: ${target}`)
      if (anchor) assert.ok(anchors(fs.readFileSync(at, 'utf8')).includes(anchor), `${name}: ${target}`)
    }
})

test('the rights of the user of Redis are the same in the README and in the example', () => {
  const [, said] = section(pages['../README.md'], 'Redis').match(/ACL SETUSER (.+)/)
  assert.ok(text('compose/redis-acl.example').split('\n').includes(`user ${said}`))
})
