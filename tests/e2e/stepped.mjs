// SPDX-License-Identifier: Apache-2.0
// stepped: a wall clock that a test sets forward and back under a running process (../stepped_clock.c).
// Timers go by the other clock and are not touched.
import fs from 'node:fs'
import path from 'node:path'
import { program, scratch } from './gateway.mjs'

const library = process.env.STEPPED_CLOCK_LIBRARY ?? path.join(path.dirname(program), 'tests', 'libstepped_clock.so')

/** The variables of a process that goes by it, and step(seconds), from the true time on. */
export function steppedClock(t) {
  const file = path.join(scratch(t), 'clock')
  const step = seconds => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(seconds))
    const fd = fs.openSync(file, fs.existsSync(file) ? 'r+' : 'w')
    fs.writeSync(fd, bytes, 0, 8, 0)
    fs.closeSync(fd)
  }
  step(0)
  return { step, env: { LD_PRELOAD: library, STEPPED_CLOCK: file, ASAN_OPTIONS: 'verify_asan_link_order=0' } }
}
