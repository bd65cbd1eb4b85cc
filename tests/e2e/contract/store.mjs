// SPDX-License-Identifier: Apache-2.0
// The store's part of the contract, with a real Redis that is made to fail: every wake is 503, never
// a duplicate and never a run, and afterwards all is as it was. `before` and `after` each step act on
// { redis }; a row without them has no Redis at all.
import { duplicate, relayed, storeUnavailable } from './rows.mjs'

const set = (name, value) => ({ redis }) => redis.command('CONFIG', 'SET', name, value)
/** A wake that was relayed before is not called a duplicate either while nobody can know. */
const outage = (before, after) => [
  { expect: relayed },
  { before, expect: storeUnavailable },
  { other: true, expect: storeUnavailable },
  { forged: true },
  { before: after, again: true, expect: duplicate },
  { other: true, expect: relayed }
]

const away = ['PostHog/posthog#92090', 'Significant-Gravitas/AutoGPT#12990', 'NangoHQ/nango#6423']
export const store = [
  { name: 'killed, and started again empty', reports: away, steps: [{ expect: relayed }, { before: ({ redis }) => redis.kill(), expect: storeUnavailable }, { other: true, expect: storeUnavailable }, { before: ({ redis }) => redis.start(), other: true, again: true, expect: relayed }] },
  { name: 'frozen', reports: away, steps: outage(({ redis }) => redis.freeze(), ({ redis }) => redis.thaw()) },
  { name: 'full, with noeviction', reports: ['redis/redis#2746', 'redis/redis#8623', 'redis/redis#6565', 'redis/redis#8478'], steps: [{ expect: relayed }, { before: set('maxmemory', '1'), other: true, expect: storeUnavailable }, { expect: duplicate }, { before: set('maxmemory', '0'), other: true, again: true, expect: relayed }] },
  { name: 'read-only after a failover', reports: ['n8n-io/n8n#25038', 'rajnandan1/kener#711', 'alphagov/notifications-utils#1279', 'StackExchange/StackExchange.Redis#2264'], steps: outage(({ redis }) => redis.command('REPLICAOF', '127.0.0.1', '1'), ({ redis }) => redis.command('REPLICAOF', 'NO', 'ONE')) },
  { name: 'loading', kind: 'loading', steps: [{ expect: storeUnavailable }, { other: true, expect: storeUnavailable }, { forged: true }] },
  { name: 'nobody there', kind: 'nobody', reports: away, steps: [{ expect: storeUnavailable }, { forged: true }] }
]
