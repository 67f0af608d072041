// Runs in process alone: the document is the same there, and so are the responses.

import { expect } from 'bun:test'
import fc from 'fast-check'
import type { Parameter, Schema } from '../../src/docs/document.ts'
import { startServer } from '../harness.ts'
import { longTest } from '../long-test.ts'
import type { Pair } from '../program.ts'
import { operationsOf, readDocument, type Served } from './document.ts'
import { faultsOf } from './schemas.ts'

/** Random requests that the document allows. */

const REQUESTS = 5_000
/** Their responses are injected, or never end. */
const LEFT_OUT = ['addFault', 'setInboxReply', 'openFeed']
const LOGIN = { method: 'POST', body: '{"username":"sandbox","password":"sandbox"}' }
const EXACT = 2 ** 53 - 1
const AMOUNT_MAX = 1e9

type Values = fc.Arbitrary<unknown>

const KINDS: Record<string, (schema: Schema, example: unknown) => Values> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: ({ minimum: min = -EXACT, maximum: max = EXACT }) => fc.integer({ min, max }),
  number: ({ minimum = -AMOUNT_MAX, exclusiveMinimum = minimum, maximum = AMOUNT_MAX }) =>
    fc.integer({ min: exclusiveMinimum * 100 + 1, max: maximum * 100 }).map((cents) => cents / 100),
  string: ({ minLength = 0, maxLength = 40, pattern, format }) => {
    if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
    if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
    return format === 'email' ? fc.emailAddress() : fc.string({ unit: 'grapheme', minLength, maxLength })
  },
  array: ({ items = {}, minItems: minLength = 0 }) =>
    fc.array(valuesOf(items), { minLength, maxLength: minLength + 2 }),
  object: ({ properties = {}, required: requiredKeys = [] }, example) => {
    const examples = { ...(example as Record<string, unknown> | undefined) }
    const members = Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema, examples[name])])
    return fc.record(Object.fromEntries(members) as Record<string, Values>, { requiredKeys })
  },
}

const valuesOf = (schema: Schema, example?: unknown): Values => {
  const { anyOf, enum: choices, type = 'object' } = schema
  const kinds = [type].flat().map((kind) => KINDS[kind]?.(schema, example) ?? fc.constant(null))
  const values = anyOf ? anyOf.map((each) => valuesOf(each)) : choices ? [fc.constantFrom(...choices)] : kinds
  return fc.oneof(...(example === undefined ? [] : [fc.constant(example)]), ...values)
}

/** Paths and headers cannot hold every text that a schema allows. */
const HELD = { path: /[^.]/, query: /^/, header: /^[ -~]*$/ }

/** It holds the response for up to 30 s of real time. */
const WAITING = 'wait'

const parametersOf = (parameters: readonly Parameter[], place: Parameter['in']) => {
  const placed = parameters.filter((parameter) => parameter.in === place && parameter.name !== WAITING)
  const values = placed.map(({ name, schema, example }): [string, fc.Arbitrary<string>] => [
    name,
    valuesOf(schema, example)
      .map(String)
      .filter((text) => HELD[place].test(text)),
  ])
  return fc.record(Object.fromEntries(values), {
    requiredKeys: placed.filter(({ required }) => required).map(({ name }) => name),
  })
}

const requestsOf = (operation: Served) => {
  const { schema, example } = operation.requestBody?.content['application/json'] ?? {}
  return fc.record({
    operation: fc.constant(operation),
    path: parametersOf(operation.parameters, 'path'),
    query: parametersOf(operation.parameters, 'query'),
    headers: parametersOf(operation.parameters, 'header'),
    body: schema ? valuesOf(schema, example) : fc.constant(undefined),
  })
}

longTest('A valid request gets neither a 500 nor an undocumented status or body', async () => {
  await using server = await startServer('--rate-limit', 'off')
  const operations = operationsOf(await readDocument(server)).filter((one) => !LEFT_OUT.includes(one.operationId))
  const requests = fc.constantFrom(...operations).chain(requestsOf)
  const found: unknown[] = []
  let token = ''
  for (const { operation, path, query, headers, body } of fc.sample(requests, { seed: 1, numRuns: REQUESTS })) {
    const target = operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name] ?? ''))
    const response = await server.request(`${target}?${new URLSearchParams(query)}`, {
      method: operation.method,
      headers: { ...headers, authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const { status } = response
    const type = response.headers.get('content-type')?.split(';', 1)[0] ?? ''
    const text = await response.text()
    const schema = operation.responses[status]?.content?.[type]?.schema
    const faults = schema && type === 'application/json' ? faultsOf(schema, JSON.parse(text)) : []
    const isDocumented = operation.responses[status] && (schema || text === '')
    if (status === 500 || !isDocumented || faults.length > 0) {
      found.push({ operation: operation.operationId, target, query, headers, body, status, text, faults })
    }
    if (status === 401) token = ((await (await server.request('/auth/login', LOGIN)).json()) as Pair).access_token
  }
  expect(found).toEqual([])
})
