// SPDX-License-Identifier: Apache-2.0
// trouble: single faults, by the dice of the run, and plans of named steps.
import { pause } from '../e2e/until.mjs'
import { lease, now } from './times.mjs'

export const faultsFor = 7000
/** A Redis that loses nothing that it acknowledged. */
export const durable = ['--appendonly', 'yes', '--appendfsync', 'always']

/** Does `fault` again and again, with pauses of `low` to `high` ms, until the time for faults is over. */
export async function again(dice, low, high, fault, forMs = faultsFor) {
  const end = now() + forMs
  for (;;) {
    const wait = dice.between(low, high)
    if (now() + wait > end) return
    await pause(wait)
    await fault()
  }
}

/** A plan of named steps: each start of a gateway takes the next, until all were passed. */
export function stepPlan(steps, action) {
  return (house, dice) => {
    const left = dice.shuffle(steps)
    house.nextStep = () => {
      const step = left.pop()
      return step && `${step}:${dice.whole(1, 2)}:${action}`
    }
    house.plannedSteps = steps
  }
}

/** Every start of a gateway takes one of these steps, as long as there are faults. */
export function endlessPlan(steps, action) {
  return (house, dice) => {
    house.nextStep = () => (house.calm ? undefined : `${dice.pick(steps)}:${dice.whole(1, 3)}:${action}`)
  }
}

/** Waits until every planned step was passed, as the record tells. */
export async function stepsPassed(house) {
  const end = now() + 60_000
  for (;;) {
    const passed = house.stepsPassed()
    const missing = house.plannedSteps.filter(step => !passed.includes(step))
    if (missing.length === 0) return
    if (now() > end) return house.books.complain(`no gateway came to the steps ${missing.join(', ')}`)
    await pause(50)
  }
}

/** Ends a gateway: mostly at once, sometimes in order. */
export function kill(house, dice) {
  const place = dice.pick(house.places)
  if (dice.chance(0.8)) place.signal('SIGKILL')
  else place.leave()
}

/** Stops a gateway, mostly for longer than a lease. */
export async function stop(house, dice) {
  const place = dice.pick(house.places)
  place.signal('SIGSTOP')
  await pause(dice.chance(0.7) ? lease + dice.between(0, 2000) : dice.between(200, 1500))
  place.signal('SIGCONT')
}

export async function line(house, dice, legs) {
  const at = dice.pick(house.places).lines[dice.pick(legs)]
  if (!at) return
  const how = dice.pick(['cut', 'refuse', 'slow', 'block', 'deafen'])
  if (how === 'cut') return at.cut()
  if (how === 'refuse') at.cut({ refuse: true })
  if (how === 'slow') at.slow(dice.between(20, 400))
  if (how === 'block') at.block()
  if (how === 'deafen') at.deafen()
  await pause(dice.between(100, 1800))
  if (how === 'deafen' || (how === 'block' && dice.chance(0.7))) at.cut()
  at.mend()
}

/** Redis does what a gateway asks, and the gateway does not hear of it. */
export async function deafen(house, dice) {
  const at = dice.pick(house.places).lines.redis
  at.deafen()
  await pause(dice.between(50, 600))
  at.cut()
  at.mend()
}

/** Freezes Redis for longer and shorter than commands, budgets and leases take. */
export async function freezeRedis(house, dice) {
  house.redis.freeze()
  await pause(dice.pick([100, 500, 1500, lease + 300]))
  house.redis.thaw()
}

/** Kills Redis and starts it again on the same files. */
export async function killRedis(house, dice) {
  await house.redis.kill()
  await pause(dice.between(50, 1200))
  await house.redis.start()
}

/** The same where it keeps nothing: from the kill on it may have lost everything. */
export async function emptyRedis(house, dice) {
  const loss = { from: now() }
  house.books.losses.push(loss)
  await killRedis(house, dice)
  loss.until = now()
}

export async function fillRedis(house, dice) {
  await house.redis.command('CONFIG', 'SET', 'maxmemory', '1')
  await pause(dice.pick([200, 1000, lease + 300]))
  await house.redis.command('CONFIG', 'SET', 'maxmemory', '0')
}
