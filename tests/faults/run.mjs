// SPDX-License-Identifier: Apache-2.0
// run: the fault runs. Each run is one scenario with one seed: a house, a sender, faults for a while, then
// calm until the sender's ladder has brought what was left; then the books of both ends are compared.
//
//   node tests/faults/run.mjs [--seed N] [--seeds COUNT] [--scenario NAME]... [--smoke] [--at-once N]
//
// A seed makes the same plan again: the same faults in the same order with the same pauses. What else a
// machine does in between it cannot know, so repeat a seed a few times when it is to fail again.
import { parseArgs } from 'node:util'
import { AgentChat } from './agentchat.mjs'
import { Books, check, story } from './books.mjs'
import { Dice } from './dice.mjs'
import { Ending, House, endAll } from './house.mjs'
import { scenarios } from './scenarios.mjs'
import { selftests } from './selftest.mjs'

const smokeScenarios = ['steps', 'everything', 'rooms_steps', 'sqlite']
const mean = 120 // ms from one message to the next
const longest = 150_000 // ms, of one run

/** How late this process itself comes to what happens: what it notes may be so much older. */
function watchLag(books) {
  let due = Date.now() + 50
  return setInterval(() => {
    books.lag = Math.max(books.lag, Date.now() - due)
    due = Date.now() + 50
  }, 50)
}

/** One run; resolves to { complaints, totals, story }. `env` is for the gateways. */
export async function run(name, seed, { env } = {}) {
  const scenario = scenarios[name]
  const dice = new Dice(`${name} ${seed}`)
  const books = new Books()
  const ending = new Ending()
  const house = new House(books, dice.of('house'))
  house.ending = ending
  const sender = new AgentChat(house, dice.of('sender'), books)
  let unwatch = () => {}
  const lagging = watchLag(books)
  const timer = setTimeout(() => {
    books.complain(`the run is not over after ${longest} ms`)
    house.end()
  }, longest)
  try {
    scenario.plan?.(house, dice.of('plan'))
    await house.open(ending, { ...scenario, env: { ...scenario.env, ...env } })
    await scenario.enter?.(house, dice.of('clients'))
    unwatch = house.watchStopped()
    const sending = sender.run(mean)
    await scenario.faults(house, dice.of('faults'))
    unwatch()
    await house.calmDown()
    sender.stop()
    await sending
    await scenario.leave?.(house)
    await house.finish()
    if (scenario.shows && !scenario.shows.test(house.log())) books.complain(`no gateway met ${scenario.shows}`)
  } catch (error) {
    books.complain(`the run broke: ${error.stack}`)
  }
  clearTimeout(timer)
  clearInterval(lagging)
  unwatch()
  sender.stop()
  house.end()
  try {
    await ending.end()
  } catch (error) {
    books.complain(`the run did not end well: ${error.stack}`)
  }
  const result = check(books, { idempotent: scenario.runtime === 'idempotent', excepts: scenario.excepts })
  const id = result.complaints.map(text => /[0-9a-f-]{36}/.exec(text)?.[0]).find(Boolean)
  return { ...result, story: id ? [`what became of ${id}:`, ...story(books, id)] : [] }
}

function line(name, seed, seconds, { complaints, totals }) {
  const by = Object.entries(totals.doubledBy).map(([cause, count]) => `${count} ${cause}`)
  const counted = Object.entries(totals.counted).filter(([, count]) => count).map(([cause, count]) => `${count} ${cause}`)
  return (
    `${complaints.length ? 'FAILED ' : 'ok     '} ${name} seed ${seed}: ${totals.messages} messages, ${totals.ids} ids, ${totals.tries} tries, ${totals.ok} ok; ` +
    `asked ${totals.asked}, accepted ${totals.accepted}, lost ${totals.lost}, late ${totals.late}, doubled ${totals.doubled}${by.length ? ` (${by.join(', ')})` : ''}; ` +
    `counters ${counted.join(', ') || '0'} (${seconds.toFixed(0)} s)`
  )
}

const report = { passed: 0, failed: 0 }

function tell(ok, text, complaints = []) {
  console.log(text)
  for (const complaint of complaints.slice(0, 12)) console.log(`        ${complaint.slice(0, 1000)}`)
  report[ok ? 'passed' : 'failed']++
}

async function runOne(name, seed) {
  const began = Date.now()
  const result = await run(name, seed)
  tell(result.complaints.length === 0, line(name, seed, (Date.now() - began) / 1000, result), result.complaints)
  for (const text of result.story) console.log(`          ${text}`)
  if (result.complaints.length) console.log(`        again: tests/run faults -- --scenario ${name} --seed ${seed}`)
}

async function main() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: process.env.SEED },
      seeds: { type: 'string' },
      scenario: { type: 'string', multiple: true },
      smoke: { type: 'boolean', default: false },
      'at-once': { type: 'string', default: '4' }
    }
  })
  const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
  const seeds = Number(values.seeds ?? (values.seed === undefined && !values.smoke ? 2 : 1))
  const names = values.scenario ?? (values.smoke ? smokeScenarios : Object.keys(scenarios))
  for (const name of names) if (!scenarios[name]) throw new Error(`no scenario ${name}; there are ${Object.keys(scenarios).join(', ')}`)
  console.log(`seed ${first}${seeds > 1 ? ` and the ${seeds - 1} after it` : ''}`)
  const jobs = values.scenario ? [] : selftests(run, values.smoke).map(({ name, test }) => async () => {
    const complaint = await test()
    tell(!complaint, `${complaint ? 'FAILED ' : 'ok     '} the check itself: ${name}`, [complaint].filter(Boolean))
  })
  for (let seed = first; seed < first + seeds; seed++) for (const name of names) jobs.push(() => runOne(name, seed))
  const worker = async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) await job()
  }
  await Promise.all(Array.from({ length: Number(values['at-once']) }, worker))
  console.log(`faults: ${report.passed} passed, ${report.failed} failed`)
  process.exitCode = report.failed === 0 && report.passed > 0 ? 0 : 1
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    endAll()
    process.exit(1)
  })
await main()
