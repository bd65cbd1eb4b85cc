// SPDX-License-Identifier: Apache-2.0
// house: what a fault run is about: gateways on one store, a runtime behind them, and a line for every
// connection between them. A gateway that dies comes back; what it counted is read until then.
import fs from 'node:fs'
import path from 'node:path'
import { defaults, makeGateway, route, scratch, trigger } from '../e2e/gateway.mjs'
import { request } from '../e2e/http.mjs'
import { startRedis } from '../e2e/redis.mjs'
import { pause } from '../e2e/until.mjs'
import { Line } from './line.mjs'
import { startCountingRuntime } from './runtime.mjs'
import { budget, hold, lease, now, timeout } from './times.mjs'

export const binary = process.env.WAKEGATE_FAULTS ?? new URL('../../build/test/tests/faults/wakegate_faults', import.meta.url).pathname

/** Stands in for the context of a test: what has to end when the run does. */
export class Ending {
  #steps = []

  after(step) {
    this.#steps.push(step)
  }

  async end() {
    for (const step of this.#steps.reverse()) await step()
  }
}

const houses = new Set()

/** Ends what the houses started, at once. */
export function endAll() {
  for (const { places, redis } of houses) {
    places.forEach(place => place.signal('SIGKILL'))
    redis?.child.kill('SIGKILL')
  }
}

/** One gateway's place: it is started again whenever it ends, until the run does. */
class Place {
  lines = {}

  constructor(house, number) {
    this.house = house
    this.number = number
  }

  async open(t, config) {
    this.lines.front = await new Line().open()
    this.lines.runtime = await new Line(new URL(this.house.runtime.url).port).open()
    if (this.house.redis) this.lines.redis = await new Line(this.house.redis.port).open()
    t.after(() => Object.values(this.lines).forEach(line => line.close()))
    this.gateway = makeGateway(t, config(this), {
      binary,
      ready: false,
      directory: scratch(t),
      env: { FAULTS_RECORD: this.house.recordFile, ...this.house.env }
    })
    this.gateway.mayFail = true // how it ends is looked at here
    t.after(() => this.#end())
    await this.#launch(() => this.gateway.start())
  }

  async #launch(begin) {
    const at = this.house.nextStep?.(this)
    if (at) this.gateway.env.FAULTS_AT = at
    else delete this.gateway.env.FAULTS_AT
    try {
      await begin()
      this.lines.front.to = new URL(this.gateway.url).port
    } catch (error) {
      if (this.gateway.running) this.house.books.complain(`a gateway does not start: ${error.message}`)
    }
    this.gateway.over.then(end => this.#again(end))
  }

  async #again({ code, signal }) {
    if (this.ending) return
    const asked = (code === 0 || signal === 'SIGTERM') && this.leaves === this.gateway.child.pid // SIGTERM: it had only begun
    if (signal !== 'SIGKILL' && !asked) {
      this.house.books.complain(`a gateway ended with ${code ?? signal}:\n${this.gateway.everything().slice(-2000)}`)
      this.house.end()
      return
    }
    await pause(this.house.dice.between(50, 400))
    if (!this.ending) await this.#launch(() => this.gateway.restart())
  }

  get pid() {
    return this.gateway.running ? this.gateway.child.pid : undefined
  }

  /** Lets it end in order. */
  leave() {
    this.leaves = this.pid
    this.signal('SIGTERM')
  }

  signal(name) {
    if (this.gateway?.running) this.gateway.child.kill(name)
  }

  /** Reads its counters. `last`: nothing happens in it any more. */
  async scrape(last = false) {
    const { pid } = this
    if (!pid || !this.gateway.url) return
    try {
      const { text } = await request(`${this.gateway.url}/metrics`, { method: 'GET', timeout: last ? 5000 : 400 })
      if (pid !== this.pid) return
      const values = Object.fromEntries(text.split('\n').filter(line => line && line[0] !== '#').map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
      this.house.books.scrapes.set(pid, { values, last })
    } catch {
      if (last) this.house.books.complain(`gateway ${this.number} does not tell its metrics at the end`)
    }
  }

  async #end() {
    this.ending = true
    if (!this.gateway.running) return
    this.signal('SIGCONT')
    const { code, signal } = await this.gateway.stop()
    if (code !== 0) this.house.books.complain(`a gateway did not end well: ${code ?? signal}\n${this.gateway.everything().slice(-2000)}`)
  }
}

export class House {
  places = []

  constructor(books, dice) {
    this.books = books
    this.dice = dice
    this.overSoon = new Promise(resolve => (this.end = () => resolve((this.over = true))))
  }

  /** Opens everything. `target(house, place)` gives the route's target; the default is the runtime's trigger. */
  async open(t, { gateways = 3, store = 'redis', redis = [], runtime = 'once', mood = () => 'accept', target, config = {}, env = {} }) {
    houses.add(this)
    t.after(() => houses.delete(this))
    this.recordFile = path.join(scratch(t), 'record')
    this.env = env
    this.calm = false
    if (store === 'redis') this.redis = await startRedis(t, ...redis)
    this.runtime = await startCountingRuntime(t, runtime, this.books, this.dice.of('runtime'), dice => (this.calm ? 'accept' : mood(dice)))
    for (let i = 0; i < (store === 'redis' ? gateways : 1); i++) this.places.push(new Place(this, i))
    await Promise.all(this.places.map(place => place.open(t, where => this.#config(where, target, config))))
    this.#scraping = setInterval(() => this.places.forEach(place => place.scrape()), 250)
    t.after(() => clearInterval(this.#scraping))
  }

  #scraping

  #config(place, target = (house, where) => house.trigger(where), over) {
    return {
      ...defaults,
      store: this.redis ? `redis://127.0.0.1:${place.lines.redis.port}/0` : 'sqlite:wakegate.db',
      budget: `${budget}ms`,
      log_level: 'info',
      routes: { relay: route('agentchat', target(this, place)) },
      ...over
    }
  }

  /** The trigger of the gateway in `place`, through its line. */
  trigger(place, over = {}) {
    return trigger({ kind: this.runtime.kind, url: `http://127.0.0.1:${place.lines.runtime.port}` }, { id: 'runtime', hold: `${hold}ms`, timeout: `${timeout}ms`, ...over })
  }

  /** Where the sender finds the gateways. */
  get doors() {
    return this.places.map(place => `http://127.0.0.1:${place.lines.front.port}`)
  }

  /** Lets every gateway go on that has stopped for `longest` ms. Returns what ends the watch. */
  watchStopped(longest = lease + 1600) {
    const since = new Map()
    const timer = setInterval(() => {
      for (const place of this.places) {
        if (!place.pid || !isStopped(place.pid)) since.delete(place)
        else if (!since.has(place)) since.set(place, Date.now())
        else if (Date.now() - since.get(place) > longest) this.#resume(place)
      }
    }, 50)
    return () => {
      clearInterval(timer)
      this.places.forEach(place => place.signal('SIGCONT'))
    }
  }

  /** Where steps are planned it then ends in order, so that the next start takes the next step. */
  #resume(place) {
    place.signal('SIGCONT')
    if (this.plannedSteps) setTimeout(() => place.leave(), 1000)
  }

  /** A fault that goes on while others come. */
  meanwhile(fault) {
    this.#running.push(fault)
  }

  #running = []

  /** No more faults: everything is mended, and the books know since when. */
  async calmDown() {
    await Promise.all(this.#running)
    this.calm = true
    for (const place of this.places) {
      Object.values(place.lines).forEach(line => line.mend())
      place.signal('SIGCONT')
    }
    while (!this.over) {
      const ready = await Promise.all(
        this.places.map(place => request(`${place.gateway.url}/readyz`, { method: 'GET', timeout: 1000 }).then(({ status }) => status === 200, () => false))
      )
      if (ready.every(Boolean)) break
      await pause(50)
    }
    this.books.healthy = now()
  }

  async finish() {
    clearInterval(this.#scraping)
    await Promise.all(this.places.map(place => this.#quiet(place)))
    await Promise.all(this.places.map(place => place.scrape(true)))
    if (fs.existsSync(this.recordFile)) this.books.readRecord(fs.readFileSync(this.recordFile, 'utf8'))
    for (const { gateway } of this.places)
      for (const line of gateway.noise) if (!/ share a secret; /.test(line)) this.books.complain(`a gateway wrote what is no log line: ${line}`)
  }

  /** The named steps at which a gateway has ended or stopped so far. */
  stepsPassed() {
    const text = fs.existsSync(this.recordFile) ? fs.readFileSync(this.recordFile, 'utf8') : ''
    return [...text.matchAll(/ step (\S+) /g)].map(match => match[1])
  }

  log() {
    return this.places.map(({ gateway }) => gateway.everything()).join('\n')
  }

  /** Waits until a gateway relays nothing any more. */
  async #quiet(place) {
    for (let i = 0; i < 200; i++) {
      await place.scrape()
      if (this.books.scrapes.get(place.pid)?.values.wakegate_relays_in_flight === 0) return
      await pause(50)
    }
    this.books.complain(`gateway ${place.number} still relays at the end`)
  }
}

function isStopped(pid) {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text[text.lastIndexOf(')') + 2] === 'T'
  } catch {
    return false
  }
}
