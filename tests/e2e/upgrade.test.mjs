// SPDX-License-Identifier: Apache-2.0
// Two gateways on one Redis are restarted in turn while wakes come: none is lost and none brought
// twice. WAKEGATE_OTHER names another version's program for the second of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Crowd } from './crowd.mjs'
import { makeGateway, program, route, trigger } from './gateway.mjs'
import { freePort, startRedis } from './redis.mjs'
import { startRuntime } from './runtimes.mjs'
import { pause, until } from './until.mjs'

const READY_MS = 50 // between two looks at /readyz
const DRAIN_MS = 500
const RESTARTS = 6

/** What a load balancer does: new wakes go to those that were ready when it last looked. */
class Balancer {
  ready = []
  refused = {} // why -> how often a wake had to be sent again
  #turn = 0
  #going = true

  constructor(gateways) {
    this.gateways = gateways
    this.over = this.#look()
  }

  async #look() {
    while (this.#going) {
      const answers = await Promise.all(this.gateways.map(gateway => gateway.get('/readyz').then(({ status }) => status === 200, () => false)))
      this.ready = this.gateways.filter((_, i) => answers[i])
      await pause(READY_MS)
    }
  }

  /** Sends the wake until it is accepted: the sender's retries, without their minutes. Every fifth
   * comes to both gateways at once, as when a retry overtakes the first try. */
  async send(wake, serial) {
    for (;;) {
      const turn = this.#turn++
      const chosen = serial % 5 === 0 ? this.ready : [this.ready[turn % this.ready.length]]
      const answers = await Promise.all(chosen.map(gateway => this.#try(gateway, wake)))
      if (answers.includes('relayed') || answers.includes('duplicate')) return
      for (const why of answers) this.refused[why] = (this.refused[why] ?? 0) + 1
      await pause(READY_MS)
    }
  }

  async #try(gateway, wake) {
    if (!gateway) return 'nobody is ready'
    try {
      const { status, text, json } = await gateway.wake('relay', 'agentchat', wake)
      assert.ok(status === 200 || status === 503, text)
      return json.status ?? json.code
    } catch (error) {
      if (!error.code || error.code === 'ERR_ASSERTION') throw error
      return error.code
    }
  }

  stop() {
    this.#going = false
    return this.over
  }
}

test('a rolling restart under load, several times: lost 0, doubled 0', { timeout: 120_000 }, async t => {
  const redis = await startRedis(t)
  const runtime = await startRuntime(t, 'poke') // it fires again whatever it is asked twice
  const take = runtime.take
  runtime.take = async request => {
    await pause(Math.random() * 60)
    return take(request)
  }
  const gateways = []
  for (const binary of [program, process.env.WAKEGATE_OTHER ?? program]) {
    const listen = `127.0.0.1:${await freePort()}`
    const gateway = makeGateway(t, { listen, store: redis.url, drain: `${DRAIN_MS}ms`, grace: '10s', log_level: 'info', routes: { relay: route('agentchat', trigger(runtime)) } }, { binary })
    gateways.push(await gateway.start())
  }
  const balancer = new Balancer(gateways)
  await until(() => balancer.ready.length === 2, 'both are ready')
  const crowd = new Crowd(8, (wake, serial) => balancer.send(wake, serial))
  const held = []
  for (let i = 0; i < RESTARTS; i++) {
    const gateway = gateways[i % 2]
    await crowd.more(50)
    assert.deepEqual(await gateway.stop('SIGTERM'), { code: 0, signal: null })
    held.push(...gateway.log('cut_short'))
    await gateway.restart()
    await until(() => balancer.ready.length === 2, 'both are ready again')
  }
  await crowd.more(50)
  await crowd.stop()
  await balancer.stop()
  const { lost, doubled } = crowd.count(runtime.runs)
  t.diagnostic(`${crowd.accepted.size} wakes over ${RESTARTS} restarts, lost ${lost.length}, doubled ${doubled.length}; sent again: ${JSON.stringify(balancer.refused)}`)
  assert.deepEqual({ lost, doubled }, { lost: [], doubled: [] })
  assert.equal(runtime.runs.length, crowd.accepted.size)
  assert.equal(crowd.accepted.size, crowd.begun)
  assert.deepEqual(held, [], 'nothing was cut short')
})
