// SPDX-License-Identifier: Apache-2.0
// stepped: a wall clock that a test sets forward and back under a running process (libfaketime). Timers
// go by the other clock and are not touched.
import fs from 'node:fs'
import path from 'node:path'
import { scratch } from './gateway.mjs'

const places = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib']
const library = places.map(place => `${place}/faketime/libfaketime.so.1`).find(file => fs.existsSync(file))

/** Why a test with it cannot run; false where it can. */
export const missing = library ? false : 'faketime is not installed'

/** The variables of a process that goes by it, and step(seconds), from the true time on. */
export function steppedClock(t) {
  const file = path.join(scratch(t), 'clock')
  const step = seconds => fs.writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`)
  step(0)
  return {
    step,
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      ASAN_OPTIONS: 'verify_asan_link_order=0'
    }
  }
}
