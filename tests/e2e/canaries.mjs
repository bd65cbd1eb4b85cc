// SPDX-License-Identifier: Apache-2.0
// canaries: secrets that can be recognised, in whatever form they come out: as they are, in pieces, in
// base64, in hex, percent-encoded. Signatures and tokens that were seen on the wire join them.
import crypto from 'node:crypto'

/** Twenty-four bytes that stand nowhere else, as hex. */
export const unique = () => crypto.randomBytes(24).toString('hex')

const PIECE = 14 // characters of a secret that cannot stand somewhere by chance

/** Every way to write `bytes`. */
function forms(bytes) {
  const raw = bytes.toString('latin1')
  const base64 = bytes.toString('base64')
  const hex = bytes.toString('hex')
  return [
    raw,
    JSON.stringify(bytes.toString()).slice(1, -1),
    encodeURIComponent(bytes.toString()),
    // Behind other bytes, base64 comes out in one of three ways.
    ...[0, 1, 2].map(offset => Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64').replace(/=+$/, '').slice(offset && 4, -2)),
    base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
    encodeURIComponent(base64),
    hex,
    hex.toUpperCase()
  ]
}

/** The beginning, the middle and the end of a text. */
function pieces(text) {
  if (text.length < PIECE) throw new Error(`"${text}" is too short to be recognised`)
  const middle = Math.floor((text.length - PIECE) / 2)
  return [text.slice(0, PIECE), text.slice(middle, middle + PIECE), text.slice(-PIECE)]
}

export class Canaries {
  #needles = new Map() // a piece to look for -> what it is

  /** `secret`: a text whose first `known` characters are no secret, such as whsec_. */
  add(name, secret, known = '') {
    const bytes = Buffer.from(secret.slice(known.length))
    for (const form of forms(bytes)) for (const piece of pieces(form)) this.#needles.set(piece, name)
    return secret
  }

  /** A secret that is base64 of the key: the key itself is looked for, too. */
  addKey(name, secret, known) {
    this.add(name, secret, known)
    const bytes = Buffer.from(secret.slice(known.length), 'base64')
    for (const form of [bytes.toString('latin1'), bytes.toString('hex')]) for (const piece of pieces(form)) this.#needles.set(piece, `${name}, decoded`)
    return secret
  }

  /** The proofs of a request: whatever is long and stands in a header that may carry one. */
  addProofs(name, headers) {
    for (const [header, value] of Object.entries(headers)) {
      if (!/signature|token|authorization/i.test(header)) continue
      for (const word of value.match(/[0-9A-Za-z+/_-]{40,}/g) ?? []) {
        this.add(`${name}: ${header}`, word)
        const digest = Buffer.from(word, /^[0-9a-f]{64}$/.test(word) ? 'hex' : 'base64')
        for (const form of forms(digest)) for (const piece of pieces(form)) this.#needles.set(piece, `${name}: ${header}, digest`)
      }
    }
  }

  get size() {
    return this.#needles.size
  }

  /** What stands in `text`: [{ name, line }]. */
  find(text) {
    const found = new Map()
    for (let at = 0; at + PIECE <= text.length; at++) {
      const name = this.#needles.get(text.slice(at, at + PIECE))
      if (name === undefined || found.has(name)) continue
      const end = text.indexOf('\n', at)
      found.set(name, text.slice(text.lastIndexOf('\n', at) + 1, end < 0 ? undefined : end))
    }
    return [...found].map(([name, line]) => ({ name, line }))
  }

  /** Every form that `find` must recognise, for a test of itself. */
  static formsOf(secret) {
    return forms(Buffer.from(secret))
  }
}
