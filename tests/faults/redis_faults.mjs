// SPDX-License-Identifier: Apache-2.0
// redis_faults: a Redis that fails over to a replica, and one that takes its time to load.
import { Redis, freePort } from '../e2e/redis.mjs'
import { scratch } from '../e2e/gateway.mjs'
import { pause, until } from '../e2e/until.mjs'
import { now } from './times.mjs'

const replies = (redis, what, ...words) => until(() => redis.command(...words).then(reply => reply.includes(what), () => false), `Redis says ${what}`)

async function startReplica(house) {
  const replica = new Redis(await freePort(), scratch(house.ending), ['--replicaof', '127.0.0.1', house.redis.port])
  house.ending.after(() => replica.kill())
  await replica.start()
  await replies(replica, 'master_link_status:up', 'INFO', 'replication')
  return replica
}

/** The master dies, the gateways are led to the replica, which is promoted later: until then it says
 * READONLY. What the master acknowledged last may be missing. Then once more, to a replica of that. */
export async function failover(house, dice) {
  for (let i = 0; i < 2; i++) {
    const replica = await startReplica(house)
    await pause(dice.between(500, 1500))
    const loss = { from: now() }
    house.books.losses.push(loss)
    await house.redis.kill()
    loss.until = now()
    await pause(dice.between(0, 500))
    for (const place of house.places) {
      place.lines.redis.cut()
      place.lines.redis.to = replica.port
    }
    await pause(dice.between(200, 2000))
    await replica.command('REPLICAOF', 'NO', 'ONE')
    house.redis = replica
  }
}

/** Redis comes back and says LOADING for a while: it has keys to read, and takes its time with each. */
export const loading = {
  options: ['--appendonly', 'yes', '--appendfsync', 'always', '--key-load-delay', '0', '--loading-process-events-interval-bytes', '1024'],
  async faults(house, dice) {
    for (let i = 0; i < 300; i++) await house.redis.command('SET', `filler:${i}`, 'x'.repeat(100))
    await house.redis.command('BGREWRITEAOF') // into the form that is read with a delay
    await replies(house.redis, 'aof_rewrite_in_progress:0', 'INFO', 'persistence')
    await pause(dice.between(300, 1500))
    await house.redis.kill()
    house.redis.options = house.redis.options.map((word, i, all) => (all[i - 1] === '--key-load-delay' ? String(dice.whole(5000, 10000)) : word))
    await house.redis.start({ loaded: false })
    await replies(house.redis, 'loading:1', 'INFO', 'persistence')
    await replies(house.redis, 'loading:0', 'INFO', 'persistence')
  }
}
