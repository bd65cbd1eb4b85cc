// SPDX-License-Identifier: Apache-2.0
// authority: certificates of a test's own making, good ones and bad ones.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { scratch } from './gateway.mjs'

const day = 24 * 3600 * 1000
const stamp = ms => new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')

const settings = `
[ca]
default_ca = own
[own]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
`

/** An authority: { ca (a path), caText, key, cert(names, from, to) }, its dates in days from now. */
export function makeAuthority(t) {
  const directory = scratch(t)
  const at = name => path.join(directory, name)
  const write = (name, text) => fs.writeFileSync(at(name), text)
  const openssl = (...words) => execFileSync('openssl', words, { cwd: directory, stdio: 'pipe' })
  openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=e2e authority', '-keyout', 'ca.key', '-out', 'ca.pem')
  openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', 'server.key')
  write('ca.cnf', settings)
  write('index.txt', '')
  write('serial', '01\n')
  return {
    directory,
    ca: at('ca.pem'),
    key: fs.readFileSync(at('server.key')),
    cert(names, from = -1, to = 2) {
      openssl('req', '-new', '-key', 'server.key', '-subj', '/CN=e2e', '-out', 'server.csr')
      write('ext', `subjectAltName=${names}\n`)
      const dates = ['-startdate', stamp(Date.now() + from * day), '-enddate', stamp(Date.now() + to * day)]
      openssl('ca', '-batch', '-notext', '-config', 'ca.cnf', '-cert', 'ca.pem', '-keyfile', 'ca.key', '-in', 'server.csr', '-extfile', 'ext', ...dates, '-out', 'server.pem')
      return fs.readFileSync(at('server.pem'))
    },
    /** One that nobody vouches for but itself. */
    selfSigned(names) {
      openssl('req', '-x509', '-key', 'server.key', '-days', '2', '-subj', '/CN=e2e', '-addext', `subjectAltName=${names}`, '-out', 'self.pem')
      return fs.readFileSync(at('self.pem'))
    }
  }
}
