// SPDX-License-Identifier: Apache-2.0
// room_scenarios: wakes that are offered in a room first and go to the trigger when nobody takes them.
// Two workers on any gateways take some offers, decline some, and answer many when it is nearly too
// late. What was taken is read from the thread's history, where the store wrote it with the take.
import { RoomClient, room, rooms, tokenOf, tokens } from '../e2e/room_clients.mjs'
import { pause } from '../e2e/until.mjs'
import { hold, now, timeout } from './times.mjs'
import { again, durable, fillRedis, freezeRedis, kill, killRedis, line, stepPlan, stepsPassed, stop } from './trouble.mjs'

const wait = 300
const took = house => (house.took ??= new Set()) // the offers of which a worker was told that it has them

/** A worker that comes again, here or there, whatever becomes of its gateway. */
async function work(house, name, dice) {
  while (!house.over) {
    const client = new RoomClient(dice.pick(house.doors), { auth: { token: tokenOf(name) } })
    client.socket.on('run:event', async ({ event }) => {
      if (event.type !== 'INTERRUPT' || dice.chance(0.3)) return
      await pause(dice.chance(0.5) ? 0 : dice.between(wait - 100, wait + 100))
      const answer = await client.resume('wakes', event.interruptId, { take: !dice.chance(0.2) }).catch(() => ({}))
      if (answer.ok && answer.taker) took(house).add(event.interruptId)
    })
    client.socket.on('protocol:hello', () => client.ask('thread:messages', { threadId: 'wakes' }).catch(() => {}))
    const gone = new Promise(resolve => ['disconnect', 'connect_error'].forEach(event => client.socket.on(event, resolve)))
    await Promise.race([gone, house.overSoon, pause(dice.between(1500, 4000))]) // then at another gateway
    client.socket.close()
    await pause(100)
  }
}

function enter(house, dice) {
  for (const name of ['worker', 'other']) work(house, name, dice.of(name)).catch(error => house.books.complain(`a worker broke: ${error.stack}`))
}

/** Every take stands in the thread's history, once, at its time. */
async function leave(house) {
  const reply = await house.redis.command('EVAL', "return cjson.encode(redis.call('XRANGE', KEYS[1], '-', '+'))", '1', 'wakegate:1:history:{wakes}')
  const offers = new Map()
  const taken = new Set()
  const wallToSteady = now() - Date.now() - 2 // both are whole or nearly so
  for (const [position, [, text]] of JSON.parse(reply.slice(reply.indexOf('\r\n') + 2))) {
    const { event } = JSON.parse(text)
    if (event.type === 'INTERRUPT') offers.set(event.interruptId, event.payload.arguments.delivery_id)
    if (event.type !== 'RUN_FINISHED' || event.result?.settled !== 'taken') continue
    const { interruptId } = event.result
    if (taken.has(interruptId)) house.books.complain(`the offer ${interruptId} was taken twice`)
    taken.add(interruptId)
    house.books.accept(offers.get(interruptId), 'room', Number(position.split('-')[0]) + wallToSteady)
  }
  for (const interruptId of took(house)) if (!taken.has(interruptId)) house.books.complain(`a worker was told that it has ${interruptId}, and the history knows nothing of it`)
  if (taken.size === 0) house.books.complain('nobody took anything: the run shows nothing of rooms')
}

const inRoom = {
  target: (house, place) => ({ first: [room({ id: 'room', wait: `${wait}ms`, hold: `${hold}ms`, timeout: `${timeout}ms` }), house.trigger(place)] }),
  config: { budget: `${wait + 1100}ms`, rooms: rooms({ kept: 100_000 }) },
  env: tokens,
  enter,
  leave
}

const roomSteps = ['claimed', 'offering', 'offered', 'withdrawing', 'withdrawn', 'taking', 'taken', 'delivering', 'sent', 'settling', 'settled']

export const roomScenarios = {
  rooms: { ...inRoom, excepts: ['ended_lease', 'ended_hold'], mood: dice => (dice.chance(0.5) ? 'accept' : 'slow'), faults: () => pause(3000) },
  rooms_steps: { ...inRoom, excepts: ['ended_lease', 'ended_hold'], plan: stepPlan(roomSteps, 'kill'), faults: stepsPassed },
  rooms_steps_stop: { ...inRoom, plan: stepPlan(roomSteps, 'stop'), faults: stepsPassed },
  rooms_redis: {
    ...inRoom,
    redis: durable,
    faults: (house, dice) => again(dice, 200, 900, () => dice.pick([killRedis, freezeRedis, fillRedis, kill])(house, dice))
  },
  rooms_trouble: {
    ...inRoom,
    faults: (house, dice) => again(dice, 50, 400, () => dice.pick([() => kill(house, dice), () => house.meanwhile(stop(house, dice)), () => line(house, dice, ['redis', 'front'])])())
  }
}
