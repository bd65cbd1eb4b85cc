// SPDX-License-Identifier: Apache-2.0
// The Kubernetes objects: rendered as kustomize does it, checked against the schemas of Kubernetes, and
// against each other and the program: what one names, another has.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { run, scratch } from '../e2e/gateway.mjs'
import { documents, endsWithin, json, moveSecrets, secretFiles, text, where, yaml } from './files.mjs'

const require = createRequire(import.meta.url)
const folder = 'kubernetes'
const clusterWide = ['Namespace']

/** As `kubectl kustomize` does it, for what this kustomization uses. */
function render() {
  const { apiVersion, kind, namespace, resources, configMapGenerator, generatorOptions, ...rest } = yaml(`${folder}/kustomization.yaml`)
  assert.deepEqual(rest, {}, 'the test knows every field that is used')
  assert.deepEqual(generatorOptions, { disableNameSuffixHash: true })
  assert.equal(`${apiVersion} ${kind}`, 'kustomize.config.k8s.io/v1beta1 Kustomization')
  const objects = resources.flatMap(name => documents(`${folder}/${name}`))
  for (const { name, files } of configMapGenerator)
    objects.push({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: Object.fromEntries(files.map(file => [file, text(`${folder}/${file}`)])) })
  for (const object of objects) if (!clusterWide.includes(object.kind)) object.metadata.namespace = namespace
  return objects
}

const objects = render()
const secrets = documents(`${folder}/secret.example.yaml`)
const config = json(`${folder}/wakegate.json`)
const find = (kind, name) => objects.find(object => object.kind === kind && object.metadata.name === name)
const workloads = objects.filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))
const nameOf = ({ kind, metadata }) => `${kind} ${metadata.name}`
const matches = (selector, labels) => Object.entries(selector).every(([key, value]) => labels[key] === value)

/** `value`, with every key that is read of an object in it noted in `seen`. */
function watched(value, seen, at = '') {
  if (value === null || typeof value !== 'object') return value
  return new Proxy(value, {
    get(object, key) {
      if (typeof key === 'symbol') return object[key]
      seen.add(`${at}/${key}`)
      return watched(object[key], seen, `${at}/${key}`)
    }
  })
}

const allKeys = (value, at = '') =>
  value === null || typeof value !== 'object' ? [] : Object.entries(value).flatMap(([key, inner]) => [`${at}/${key}`, ...allKeys(inner, `${at}/${key}`)])

/** What Kubernetes has against an object. Its schemas let unknown fields pass, which the server would
 * drop or refuse; one that the validation never looked at is unknown. */
function faults(object) {
  const { apiVersion, kind } = object
  const models = require(`kubernetes-models/${apiVersion}/index`)
  const model = Object.entries(models).find(([name, one]) => one === models[kind] && name.startsWith('Io'))
  assert.ok(model, `there is no ${kind} in ${apiVersion}`)
  const { validate } = require(path.join(path.dirname(require.resolve('kubernetes-models')), '_schemas', `${model[0]}.js`))
  const seen = new Set()
  validate(watched(object, seen))
  return [
    ...(validate.errors ?? []).map(({ instancePath, message, keyword, params }) => `${instancePath} ${message ?? keyword} ${JSON.stringify(params)}`),
    ...allKeys(object).filter(key => !seen.has(key)).map(key => `${key} is not known`)
  ]
}

for (const object of [...objects, ...secrets])
  test(`${nameOf(object)} is what Kubernetes takes`, () => {
    assert.deepEqual(faults(object), [])
  })

test('the check of the objects finds what is wrong', () => {
  const broken = structuredClone(find('Deployment', 'wakegate'))
  broken.spec.replicas = 'two'
  delete broken.spec.selector
  const [container] = broken.spec.template.spec.containers
  container.readinesProbe = container.readinessProbe
  container.securityContext.privilege = false
  const found = faults(broken).join('\n')
  for (const fault of [/spec\/replicas/, /selector/, /readinesProbe is not known/, /securityContext\/privilege is not known/]) assert.match(found, fault)
})

test('kubectl renders the same', t => {
  let rendered
  try {
    rendered = execFileSync('kubectl', ['kustomize', where(folder)], { stdio: 'pipe', env: { PATH: process.env.PATH, HOME: scratch(t) } }).toString()
  } catch (error) {
    if (error.code === 'ENOENT') return t.skip('there is no kubectl here')
    throw error
  }
  const theirs = parseAllDocuments(rendered).map(document => document.toJS())
  const sorted = list => list.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  assert.deepEqual(sorted(theirs), sorted(objects))
})

test('every pod is one that the restricted profile admits, and its root is read-only', () => {
  assert.equal(find('Namespace', 'wakegate').metadata.labels['pod-security.kubernetes.io/enforce'], 'restricted')
  const volumes = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret', 'name']
  for (const workload of workloads) {
    const { spec } = workload.spec.template
    assert.equal(spec.securityContext.runAsNonRoot, true)
    assert.ok(spec.securityContext.runAsUser > 0 && spec.securityContext.fsGroup > 0)
    assert.equal(spec.securityContext.seccompProfile.type, 'RuntimeDefault')
    for (const key of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers']) assert.equal(spec[key], undefined, key)
    for (const volume of spec.volumes) assert.deepEqual(Object.keys(volume).filter(key => !volumes.includes(key)), [])
    for (const { securityContext, ports, resources } of spec.containers) {
      assert.deepEqual(securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
      assert.ok(ports.every(port => port.hostPort === undefined))
      assert.ok(resources.limits.memory && resources.requests.memory && resources.requests.cpu)
    }
    assert.equal(spec.enableServiceLinks, false)
    assert.equal(spec.automountServiceAccountToken, false)
  }
  const gateway = find('Deployment', 'wakegate').spec.template.spec
  assert.match(text('../Dockerfile'), new RegExp(`^USER ${gateway.securityContext.runAsUser}:${gateway.securityContext.runAsGroup}$`, 'm'), 'the user of the image')
})

test('a pod has the time that drain and grace take, and is out of the Service before it stops', () => {
  const { terminationGracePeriodSeconds, containers: [{ readinessProbe }] } = find('Deployment', 'wakegate').spec.template.spec
  assert.ok(terminationGracePeriodSeconds > endsWithin(config) + 5)
  const { periodSeconds, failureThreshold, timeoutSeconds } = readinessProbe
  assert.ok(parseInt(config.drain) > periodSeconds * failureThreshold + timeoutSeconds)
})

test('ports: what listens, what is probed, what Services lead to, what may come in', () => {
  const { containers: [{ ports, livenessProbe, readinessProbe }] } = find('Deployment', 'wakegate').spec.template.spec
  const { annotations } = find('Deployment', 'wakegate').spec.template.metadata
  const port = name => ports.find(one => one.name === name)?.containerPort
  assert.equal(config.listen, `[::]:${port('http')}`)
  assert.equal(config.admin, `[::]:${port('admin')}`)
  assert.equal(annotations['prometheus.io/port'], String(port('admin')))
  assert.deepEqual(livenessProbe.httpGet, { path: '/livez', port: 'admin' })
  assert.deepEqual(readinessProbe.httpGet, { path: '/readyz', port: 'admin' })
  for (const service of objects.filter(({ kind }) => kind === 'Service')) {
    const workload = workloads.find(one => matches(service.spec.selector, one.spec.template.metadata.labels))
    const names = workload.spec.template.spec.containers[0].ports.flatMap(one => [one.name, one.containerPort])
    for (const one of service.spec.ports) assert.ok(names.includes(one.targetPort ?? one.port), `${nameOf(service)}: ${one.name}`)
  }
  const service = find('Service', 'wakegate')
  for (const { http } of find('Ingress', 'wakegate').spec.rules)
    for (const { backend } of http.paths) {
      assert.equal(backend.service.name, service.metadata.name)
      assert.ok(service.spec.ports.some(({ name }) => name === backend.service.port.name))
    }
  const allowed = find('NetworkPolicy', 'wakegate').spec.ingress.flatMap(rule => rule.ports.map(one => one.port))
  assert.deepEqual(allowed.toSorted(), ['admin', 'http'])
})

test('the Ingress leads to wakes and rooms alone, and a session of long polling stays at one pod', () => {
  const ingress = find('Ingress', 'wakegate')
  const paths = ingress.spec.rules.flatMap(({ http }) => http.paths.map(one => one.path))
  assert.deepEqual(paths, ['/wake/', config.rooms.path ?? '/socket.io/'])
  assert.equal(find('Service', 'wakegate').metadata.annotations['traefik.ingress.kubernetes.io/service.sticky.cookie'], 'true')
  assert.equal(ingress.metadata.annotations['nginx.ingress.kubernetes.io/affinity'], 'cookie')
  assert.deepEqual(ingress.spec.tls[0].hosts, ingress.spec.rules.map(({ host }) => host))
})

test('selectors select the pods', () => {
  for (const workload of workloads) assert.ok(matches(workload.spec.selector.matchLabels, workload.spec.template.metadata.labels), nameOf(workload))
  for (const object of objects.filter(({ kind }) => ['PodDisruptionBudget', 'NetworkPolicy'].includes(kind))) {
    const { matchLabels } = object.spec.selector ?? object.spec.podSelector
    assert.ok(workloads.some(one => matches(matchLabels, one.spec.template.metadata.labels)), nameOf(object))
  }
})

test('volumes: each is of a ConfigMap or Secret that there is, mounted whole where the config looks', () => {
  for (const workload of workloads) {
    const { volumes, containers: [{ volumeMounts }] } = workload.spec.template.spec
    const claims = workload.spec.volumeClaimTemplates?.map(({ metadata }) => ({ name: metadata.name })) ?? []
    assert.deepEqual(volumeMounts.map(({ name }) => name).toSorted(), [...volumes, ...claims].map(({ name }) => name).toSorted())
    for (const mount of volumeMounts) assert.equal(mount.subPath, undefined, 'a file mounted by itself would not change')
    for (const { configMap, secret } of volumes) {
      if (configMap) assert.ok(find('ConfigMap', configMap.name))
      if (secret) assert.ok(secrets.some(({ metadata }) => metadata.name === secret.secretName))
    }
  }
  const { volumes, containers: [{ volumeMounts }] } = find('Deployment', 'wakegate').spec.template.spec
  const mounted = kind => volumeMounts.find(({ name }) => volumes.find(one => one.name === name)[kind]).mountPath
  assert.match(text('../Dockerfile'), new RegExp(`WAKEGATE_CONFIG=${mounted('configMap')}/wakegate\\.json`))
  const keys = Object.keys(secrets[0].stringData)
  assert.deepEqual(secretFiles(config).map(file => path.dirname(file)).filter(directory => directory !== mounted('secret')), [])
  assert.deepEqual(secretFiles(config).map(file => path.basename(file)).toSorted(), keys.toSorted())
  assert.equal(config.watch, true)
})

test('no Secret is rendered, and the example gives Redis the rights of every other place', () => {
  assert.deepEqual(objects.filter(({ kind }) => kind === 'Secret'), [])
  assert.equal(secrets[1].stringData['redis-acl'], text('compose/redis-acl.example'))
  const { args } = find('StatefulSet', 'redis').spec.template.spec.containers[0]
  const composed = yaml('compose.yaml').services.redis.command
  const plain = words => words.map(word => (word.startsWith('/run/secrets/') ? path.basename(word) : word))
  assert.deepEqual(plain(args), plain(composed))
})

test('the config of the ConfigMap passes check, with the keys of the example Secret', async t => {
  const directory = scratch(t)
  for (const [key, value] of Object.entries(secrets[0].stringData)) fs.writeFileSync(path.join(directory, key), value)
  const file = path.join(directory, 'wakegate.json')
  fs.writeFileSync(file, JSON.stringify(moveSecrets(JSON.parse(find('ConfigMap', 'wakegate').data['wakegate.json']), directory)))
  const { code, out } = await run(['check', '--config', file])
  assert.equal(code, 0, out)
  assert.match(out, /^[^\n]* is fine: 1 route, store redis\n$/, 'nor is there a warning')
})
