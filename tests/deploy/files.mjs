// SPDX-License-Identifier: Apache-2.0
// files: what stands in deploy/, and the configs in it made ready to run somewhere else.
import fs from 'node:fs'
import path from 'node:path'
import { parse, parseAllDocuments } from 'yaml'

const deploy = new URL('../../deploy/', import.meta.url)

export const where = name => new URL(name, deploy).pathname
export const text = name => fs.readFileSync(where(name), 'utf8')
export const json = name => JSON.parse(text(name))
export const yaml = name => parse(text(name))

/** Every document of a file; a mistake in the YAML throws. */
export function documents(name) {
  return parseAllDocuments(text(name)).map(document => {
    if (document.errors.length > 0) throw document.errors[0]
    return document.toJS()
  })
}

/** The part of a Markdown page under the title `title`, whatever its level. */
export function section(page, title) {
  const lines = page.split('\n')
  const begin = lines.findIndex(line => /^#+ /.test(line) && line.replace(/^#+ /, '') === title)
  if (begin < 0) throw new Error(`there is no part "${title}"`)
  const level = lines[begin].indexOf(' ')
  const rest = lines.slice(begin + 1)
  const end = rest.findIndex(line => /^#+ /.test(line) && line.indexOf(' ') <= level)
  return (end < 0 ? rest : rest.slice(0, end)).join('\n')
}

/** The blocks of indented lines in a part of a page, as they would be typed. */
export function blocks(part) {
  return [...part.matchAll(/(?:^ {4}.*\n?(?:\n(?= {4}))?)+/gm)].map(([block]) => block.replace(/^ {4}/gm, ''))
}

/** `config` with each file that a secret is in found in `directory` instead, under its own name. */
export function moveSecrets(config, directory) {
  if (config === null || typeof config !== 'object') return config
  if (Array.isArray(config)) return config.map(item => moveSecrets(item, directory))
  if (typeof config.file === 'string') return { file: path.join(directory, path.basename(config.file)) }
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, moveSecrets(value, directory)]))
}

/** The files that secrets of `config` are in. */
export function secretFiles(config) {
  if (config === null || typeof config !== 'object') return []
  if (typeof config.file === 'string') return [config.file]
  return Object.values(config).flatMap(secretFiles)
}

/** "1m30s" and the like in seconds, as Compose, Prometheus and the config write them. */
export function seconds(duration) {
  const units = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400 }
  const parts = [...String(duration).matchAll(/(\d+)(ms|[smhd])/g)]
  if (parts.map(([part]) => part).join('') !== String(duration)) throw new Error(`${duration} is no duration`)
  return parts.reduce((sum, [, number, unit]) => sum + number * units[unit], 0)
}

/** How long a gateway with `config` may take to end. */
export const endsWithin = config => seconds(config.drain) + seconds(config.grace)
