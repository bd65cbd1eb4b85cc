// SPDX-License-Identifier: Apache-2.0
// times: the contract's hours as the seconds of a run. What matters is their order, which is kept:
// the first retry comes while a hold lasts, the second after it and after a dead process's lease.
//
//               in the field                     here
//   ladder      1 min, 5 min, 30 min, 3 h        0.4 s, 4.6 s, 4.7 s, 4.8 s
//   budget      8 s                              1 s
//   time-out    20 s                             1.5 s
//   hold        4 min                            1 s
//   lease       5 min 28 s, or 1 min 28 s        4 s, or 3 s (of a runtime that drops repeats itself)

export const budget = 1000
export const timeout = 1500
export const hold = 1000
const leaseMargin = 500 // as in CMakeLists.txt
export const lease = budget + timeout + hold + leaseMargin
export const ladder = [400, 4600, 4700, 4800]
/** How much a busy machine may add to any of these. */
export const slack = 600

/** Milliseconds on the clock that the gateway's record uses too. */
export const now = () => Number(process.hrtime.bigint() / 1000n) / 1000
