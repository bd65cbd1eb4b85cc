// SPDX-License-Identifier: Apache-2.0
// until: waiting for something to become true, with a generous end, instead of sleeping for a guess.

export const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

/** Asks `condition` again and again until it gives something true, and returns that. `what` is a
 * text, or a function that makes it when it is needed. */
export async function until(condition, what, limit = 20_000) {
  const end = Date.now() + limit
  for (;;) {
    const value = await condition()
    if (value) return value
    if (Date.now() > end) throw new Error(`waited ${limit} ms in vain until ${typeof what === 'function' ? what() : what}`)
    await pause(10)
  }
}
