// SPDX-License-Identifier: Apache-2.0
// scenarios: what goes wrong in a run. Each says how its house is built and what its faults do; `faults`
// ends when the last of them is over.
import { pause } from '../e2e/until.mjs'
import { failover, loading } from './redis_faults.mjs'
import { roomScenarios } from './room_scenarios.mjs'
import { moodNames } from './runtime.mjs'
import { again, deafen, durable, emptyRedis, endlessPlan, faultsFor, fillRedis, freezeRedis, kill, killRedis, line, stepPlan, stepsPassed, stop } from './trouble.mjs'

const relaySteps = ['verified', 'claiming', 'claimed', 'delivering', 'sent', 'settling', 'settled', 'releasing', 'released']
const onceSteps = [...relaySteps, 'holding', 'held']
const stepMood = dice => (dice.chance(0.5) ? 'accept' : dice.pick(['hang', 'refuse', 'slow', 'acceptAndHang', 'throttle']))
const anyMood = dice => (dice.chance(0.4) ? 'accept' : dice.pick(moodNames))


const ends = ['ended_lease', 'ended_hold'] // where no write is lost or late

export const scenarios = {
  calm: { excepts: ends, faults: () => pause(1500) },
  kill: { excepts: ends, faults: (house, dice) => again(dice, 100, 600, () => kill(house, dice)) },
  stop: { mood: dice => (dice.chance(0.3) ? 'accept' : 'slow'), faults: (house, dice) => again(dice, 300, 1200, () => house.meanwhile(stop(house, dice)), 12_000) },
  steps: { excepts: ends, mood: stepMood, plan: stepPlan(onceSteps, 'kill'), faults: stepsPassed },
  steps_stop: { mood: stepMood, plan: stepPlan(onceSteps, 'stop'), faults: stepsPassed },
  steps_idempotent: { runtime: 'idempotent', mood: stepMood, plan: stepPlan(relaySteps, 'kill'), faults: stepsPassed },
  steps_sqlite: { excepts: ends, store: 'sqlite', mood: stepMood, plan: stepPlan(onceSteps, 'kill'), faults: stepsPassed },
  sqlite: { excepts: ends, store: 'sqlite', mood: anyMood, faults: (house, dice) => again(dice, 100, 900, () => kill(house, dice)) },
  runtime: { excepts: ends, mood: anyMood, faults: () => pause(faultsFor) },
  runtime_idempotent: { runtime: 'idempotent', mood: anyMood, faults: (house, dice) => again(dice, 300, 1500, () => kill(house, dice)) },
  lines: { faults: (house, dice) => again(dice, 20, 200, () => line(house, dice, ['front', 'redis', 'runtime'])) },
  redis_line: { faults: (house, dice) => again(dice, 10, 100, () => line(house, dice, ['redis'])) },
  redis_deaf: { plan: endlessPlan(['settling', 'sent'], 'kill'), faults: (house, dice) => again(dice, 20, 200, () => deafen(house, dice), 15_000) },
  redis_freeze: { faults: (house, dice) => again(dice, 100, 800, () => freezeRedis(house, dice)) },
  redis_kill: { redis: durable, faults: (house, dice) => again(dice, 300, 1500, () => killRedis(house, dice)) },
  redis_empty: { faults: (house, dice) => again(dice, 800, 2500, () => emptyRedis(house, dice)) },
  redis_full: { shows: /\(OOM/, redis: ['--maxmemory-policy', 'noeviction'], faults: (house, dice) => again(dice, 200, 900, () => fillRedis(house, dice)) },
  redis_failover: { shows: /read-only replica/, redis: durable, faults: failover },
  redis_loading: { shows: /\(LOADING/, redis: loading.options, faults: loading.faults },
  everything: {
    mood: anyMood,
    redis: durable,
    faults: (house, dice) =>
      again(dice, 20, 300, () =>
        dice.pick([
          () => kill(house, dice),
          () => house.meanwhile(stop(house, dice)),
          () => line(house, dice, ['front', 'redis', 'runtime']),
          () => house.meanwhile(line(house, dice, ['front', 'redis', 'runtime'])),
          () => freezeRedis(house, dice),
          () => killRedis(house, dice),
          () => fillRedis(house, dice)
        ])()
      )
  },
  everything_idempotent: {
    runtime: 'idempotent',
    mood: anyMood,
    redis: durable,
    faults: (house, dice) =>
      again(dice, 20, 300, () => dice.pick([() => kill(house, dice), () => house.meanwhile(stop(house, dice)), () => line(house, dice, ['front', 'redis', 'runtime']), () => killRedis(house, dice)])())
  },
  ...roomScenarios
}
