// SPDX-License-Identifier: Apache-2.0
// The config's schema and the program agree: both take every example, and the schema refuses what the
// program refuses, as far as a schema can see it.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import Ajv from 'ajv/dist/2020.js'
import { run, scratch } from './gateway.mjs'

const root = new URL('../../', import.meta.url)
const read = name => JSON.parse(fs.readFileSync(new URL(name, root), 'utf8'))
const examples = fs.readdirSync(new URL('deploy/examples/', root)).filter(name => name.endsWith('.json')).map(name => `examples/${name}`)
examples.push('package/wakegate.json')
const cases = read('tests/unit/data/bad-configs.json')

const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false, strictRequired: false })
const validate = ajv.compile(read('deploy/wakegate.schema.json'))
const accepts = config => {
  const good = validate(config)
  return { good, errors: JSON.stringify(validate.errors, null, 1) }
}

/** The example with its secrets in files of the test, and what variables it wants. */
function withSecrets(value, directory, env) {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(item => withSecrets(item, directory, env))
  const text = name =>
    /url/i.test(name) ? (/redis/i.test(name) ? 'redis://:password@redis:6379/0' : 'https://runtime.example.com/fire')
      : `whsec_${Buffer.from(name.padEnd(24, '-')).toString('base64')}`
  if (typeof value.env === 'string') env[value.env] = text(value.env)
  if (typeof value.file === 'string') {
    const file = path.join(directory, path.basename(value.file))
    fs.writeFileSync(file, `${text(path.basename(file))}\n`)
    return { file }
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withSecrets(item, directory, env)]))
}

for (const name of examples) {
  test(`the example ${name} is fine, for the schema and for check`, async t => {
    const example = read(`deploy/${name}`)
    const { good, errors } = accepts(example)
    assert.ok(good, errors)
    const directory = scratch(t)
    const env = {}
    const file = path.join(directory, path.basename(name))
    fs.writeFileSync(file, JSON.stringify(withSecrets(example, directory, env)))
    const { code, out, err } = await run(['check', '--config', file], { env, cwd: directory })
    assert.equal(code, 0, out + err)
    assert.match(out, /^[^\n]* is fine: \d+ routes?, store \w+\n$/, 'nor is there a warning')
  })
}

test('every trigger in dialects/README.md is fine, for the schema and for check', async t => {
  const text = fs.readFileSync(new URL('dialects/README.md', root), 'utf8')
  const triggers = text.match(/^ {4}\{"(runtime|dialect)".*\}$/gm).map(line => JSON.parse(line.replace(/trig_\.\.\.|\.\.\./, 'runtime.example.com')))
  assert.equal(triggers.length, 7)
  for (const trigger of triggers) {
    const config = structuredClone(read('tests/unit/data/base-config.json'))
    config.routes.relay.target = { trigger }
    const { good, errors } = accepts(config)
    assert.ok(good, errors)
    const directory = scratch(t)
    const env = {}
    fs.writeFileSync(path.join(directory, 'wakegate.json'), JSON.stringify(withSecrets(config, directory, env)))
    const { code, out, err } = await run(['check', '--config', 'wakegate.json'], { env, cwd: directory })
    assert.equal(code, 0, JSON.stringify(trigger) + out + err)
  }
})

/** A case of the unit test as the config it stands for (tests/unit/config_test.c builds it the same way). */
function configOf({ top = {}, route = {}, trigger = {}, rename }) {
  const lay = (object, changes) => {
    for (const [key, value] of Object.entries(changes)) value === null ? delete object[key] : (object[key] = value)
  }
  const config = structuredClone(read('tests/unit/data/base-config.json'))
  lay(config.routes.relay.target.trigger, trigger)
  lay(config.routes.relay, route)
  if (rename) {
    config.routes[rename] = config.routes.relay
    delete config.routes.relay
  }
  lay(config, top)
  return config
}

test('the schema sees what the program sees in bad configs', () => {
  let compared = 0
  for (const one of cases.filter(one => one.text === undefined && one.environment === undefined)) {
    const { good, errors } = accepts(configOf(one))
    const fine = (one.mistakes ?? []).length === 0 || one.schema === 'takes it'
    assert.equal(good, fine, `${one.name}: ${errors}`)
    compared++
  }
  assert.ok(compared > 40, `${compared} cases`)
})
