// SPDX-License-Identifier: Apache-2.0
// The dashboard and the alerts speak of what the program tells: each metric and label in them is compared
// with /metrics of a gateway to which everything happened that they look for.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { route, scratch, startGateway, trigger } from '../e2e/gateway.mjs'
import { answer, startRuntime } from '../e2e/runtimes.mjs'
import { until } from '../e2e/until.mjs'
import { newWake, seconds } from '../e2e/wakes.mjs'
import { json, section, text, where, yaml } from './files.mjs'

const dashboard = json('grafana/wakegate.json')
const alerts = yaml('prometheus/wakegate.rules.yaml').groups.flatMap(group => group.rules)
const unitTests = new URL('wakegate.rules.test.yaml', import.meta.url)

const panels = dashboard.panels.filter(panel => panel.type !== 'row')
const shown = panels.flatMap(panel => panel.targets.map(target => target.expr))
const queries = dashboard.templating.list.filter(({ type }) => type === 'query').map(({ query }) => query.query)

/** Prometheus' own, which every series has. */
const everywhere = ['job', 'instance']

/** The selectors of an expression: [{ name, matchers: [{ label, values }] }]. `values` is
 * empty where they come from the dashboard's variables. */
function selectors(expression) {
  return [...expression.matchAll(/\b(wakegate_\w+)(\{[^}]*\})?/g)].map(([, name, braces = '{}']) => ({
    name,
    matchers: [...braces.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(([, label, operator, value]) => ({
      label,
      values: value.startsWith('$') ? [] : operator.endsWith('~') ? value.split('|') : [value]
    }))
  }))
}

/** The labels that an expression sums by. */
const groupings = expression => [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names]) => names.split(',').map(name => name.trim()))

/** A page of metrics as { families: { name: kind }, series: [{ name, labels }] }. */
function readPage(page) {
  const families = Object.fromEntries([...page.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, kind]) => [name, kind]))
  const series = [...page.matchAll(/^(wakegate_\w+)(?:\{(.*)\})? [\d.]+$/gm)].map(([, name, labels = '']) => ({
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value]))
  }))
  return { families, series }
}

/** What the alerts and the dashboard look for, brought about one after another. */
async function eventfulGateway(t) {
  const runtimes = {}
  for (const name of ['good', 'refuses', 'gone', 'busy', 'hangs', 'paced', 'parks']) runtimes[name] = await startRuntime(t, 'claude-code')
  const routes = Object.fromEntries(Object.entries(runtimes).map(([name, runtime]) => [name, route('agentchat', trigger(runtime, { id: name }))]))
  routes.paced.target.trigger.pace = { per_hour: 1, burst: 1 }
  runtimes.refuses.behave(answer(400, 'no'), { always: true })
  runtimes.gone.behave(answer(410, 'no more'), { always: true })
  runtimes.busy.behave(answer(503, 'later'), { always: true })
  runtimes.hangs.behave('hang', { always: true })
  const gateway = await startGateway(t, { routes, budget: '2s', max_in_flight: 1, rooms: { anonymous: { threads: ['*'] } } })
  const send = async (name, status, wake = newWake(), options = {}) => {
    const { status: found, text: said } = await gateway.wake(name, 'agentchat', wake, options)
    assert.equal(found, status, said)
  }
  const again = newWake()
  await send('good', 200, again)
  await send('good', 200, again)
  await send('good', 401, newWake(), { secret: 'another' })
  await send('good', 401, newWake(), { at: seconds() - 3600 })
  await send('refuses', 502)
  await send('gone', 502)
  await send('busy', 503)
  const unclear = newWake()
  await send('hangs', 504, unclear)
  await send('hangs', 503, unclear)
  await send('hangs', 503)
  await send('paced', 200)
  await send('paced', 503)
  runtimes.parks.behave('park')
  const parked = send('parks', 200)
  await until(() => runtimes.parks.parked === 1, 'one is under way')
  await send('good', 503)
  runtimes.parks.unpark()
  await parked
  gateway.write('{')
  gateway.child.kill('SIGHUP')
  await gateway.event('reload_failed')
  return gateway
}

test('each metric, label and value in the alerts and on the dashboard is one that the program has', async t => {
  const gateway = await eventfulGateway(t)
  const { families, series } = readPage((await gateway.get('/metrics')).text)
  const familyOf = name => (families[name] ? name : name.replace(/_(bucket|sum|count)$/, ''))
  const used = new Set()
  for (const expression of [...alerts.map(alert => alert.expr), ...shown, ...queries]) {
    const labels = new Set(everywhere)
    for (const { name, matchers } of selectors(expression)) {
      const kind = families[familyOf(name)]
      assert.ok(kind, `${name} is no metric: ${expression}`)
      assert.equal(familyOf(name) !== name, kind === 'histogram', `${name} is a ${kind}: ${expression}`)
      used.add(familyOf(name))
      const here = series.filter(one => one.name === name)
      for (const one of here) for (const label of Object.keys(one.labels)) labels.add(label)
      for (const { label, values } of matchers) {
        if (everywhere.includes(label)) continue
        for (const value of values) assert.ok(here.some(one => one.labels[label] === value), `${name} has no ${label}="${value}": ${expression}`)
      }
    }
    // What never happened in this test has no series, so its labels are known by their names alone.
    if (selectors(expression).every(({ name }) => series.some(one => one.name === name)))
      for (const label of groupings(expression)) assert.ok(labels.has(label), `there is no label ${label}: ${expression}`)
  }
  assert.deepEqual([...Object.keys(families)].filter(name => !used.has(name)), [], 'every metric is shown')
})

test('what is rare is counted from 0, so that the first time is a rise', async t => {
  const runtime = await startRuntime(t, 'claude-code')
  const gateway = await startGateway(t, { routes: { relay: route('agentchat', trigger(runtime)) } })
  const values = await gateway.metrics()
  for (const cause of ['ended_lease', 'ended_hold', 'lost_claim']) assert.equal(values[`wakegate_repeats_total{route="relay",cause="${cause}"}`], 0)
  for (const result of ['ok', 'failed']) assert.equal(values[`wakegate_reloads_total{result="${result}"}`], 0)
})

test('promtool takes the alerts, and each fires when it should and not otherwise', () => {
  execFileSync('promtool', ['check', 'rules', where('prometheus/wakegate.rules.yaml')], { stdio: 'pipe' })
  execFileSync('promtool', ['test', 'rules', unitTests.pathname], { stdio: 'pipe' })
  const cases = fs.readFileSync(unitTests, 'utf8')
  for (const { alert } of alerts) {
    assert.match(cases, new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:\\n`), `${alert} fires in a test`)
    assert.match(cases, new RegExp(`alertname: ${alert}\\n(?!\\s+exp_alerts)`), `${alert} stays quiet in a test`)
  }
})

test('promtool takes every expression of the dashboard', t => {
  const file = path.join(scratch(t), 'dashboard.yaml')
  const rules = shown.map((expr, i) => ({ record: `panel:${i}`, expr: expr.replaceAll('$__rate_interval', '5m') }))
  fs.writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }))
  execFileSync('promtool', ['check', 'rules', file], { stdio: 'pipe' })
})

test('the dashboard is laid out: each panel has a place, a name, words and a legend', () => {
  const taken = new Set()
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length)
  for (const { title, gridPos: { x, y, w, h } } of dashboard.panels) {
    assert.ok(x + w <= 24, title)
    for (let i = x; i < x + w; i++)
      for (let j = y; j < y + h; j++) {
        assert.ok(!taken.has(`${i} ${j}`), `${title} lies over another panel`)
        taken.add(`${i} ${j}`)
      }
  }
  const variables = dashboard.templating.list.map(({ name }) => name)
  for (const { title, description, targets } of panels) {
    assert.ok(title && description, title)
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title)
    for (const { expr, legendFormat, datasource } of targets) {
      assert.ok(legendFormat, title)
      assert.equal(datasource.uid, '${datasource}')
      for (const [, name] of expr.matchAll(/\$(\w+)/g)) assert.ok(name === '__rate_interval' || variables.includes(name), `${title}: ${name}`)
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) assert.ok(groupings(expr).includes(label) || !/\bby \(/.test(expr), `${title}: ${label}`)
    }
  }
})

test('the runbook has a part for each alert, and for nothing else', () => {
  const parts = [...section(text('README.md'), 'What each alert means').matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
  assert.deepEqual(parts.toSorted(), alerts.map(({ alert }) => alert).toSorted())
  for (const { alert, labels, annotations } of alerts) {
    assert.ok(['critical', 'warning'].includes(labels.severity), alert)
    assert.ok(annotations.summary, alert)
    assert.ok(section(text('README.md'), alert).trim().length > 80, `what to do about ${alert}`)
  }
})
