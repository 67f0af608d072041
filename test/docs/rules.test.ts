import { afterAll, describe, expect, test } from 'bun:test'
import { type ApiDocument, entriesOf, resolved, type Schema } from '../../src/docs/document.ts'
import { startServer } from '../harness.ts'
import { faultsOf } from './schemas.ts'

/** Rules for the whole document, which make generated clients exact and readable. */

const server = await startServer()
afterAll(() => server.stop())
const raw = (await (await server.request('/openapi.json')).json()) as ApiDocument
const operations = entriesOf(raw).map(({ operation }) => operation)

const isRecord = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const typesOf = ({ type }: Schema): unknown[] => [type].flat()

/** Every schema of the document with its path; examples are not schemas. */
const schemasIn = (value: unknown, place: string): [string, Schema][] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => schemasIn(item, `${place}/${index}`))
  if (!isRecord(value)) return []
  const below = Object.entries(value).flatMap(([name, member]) =>
    name === 'example' || name === 'examples' ? [] : schemasIn(member, `${place}/${name}`),
  )
  return 'type' in value && !('in' in value) ? [[place, value], ...below] : below
}
const schemas = [...schemasIn(raw.paths, ''), ...schemasIn(raw.components.schemas, 'components')]

/** The places of a kind of schema that break a rule. */
const placesOf = (breaks: (schema: Schema, place: string) => boolean): string[] =>
  schemas.filter(([place, schema]) => breaks(schema, place)).map(([place]) => place)

describe('In the document', () => {
  test('every number has a format that generators represent exactly', () => {
    expect(placesOf((schema) => typesOf(schema).includes('number') && schema.format !== 'double')).toEqual([])
    const isWide = ({ format }: Schema) => format === 'int32' || format === 'int64'
    expect(placesOf((schema) => typesOf(schema).includes('integer') && !isWide(schema))).toEqual([])
    // 32 bits only if the value is bound to them.
    expect(placesOf(({ format, maximum }) => format === 'int32' && !(Number(maximum) <= 2_147_483_647))).toEqual([])
  })

  test('every object is a named component', () => {
    const isComponent = (place: string) => /^components\/\w+$/.test(place)
    expect(placesOf((schema, place) => typesOf(schema).includes('object') && !isComponent(place))).toEqual([])
    expect(Object.keys(raw.components.schemas).filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual([])
  })

  test('no enum holds null: a value that may be null has it beside the enum', () => {
    expect(placesOf((schema) => Array.isArray(schema.enum) && schema.enum.includes(null))).toEqual([])
    expect(raw.components.schemas.PaceRequest?.properties).toMatchObject({
      payouts: { anyOf: [{ type: 'string', enum: ['auto', 'manual'] }, { type: 'null' }] },
    })
  })

  test('an optional member of a body may be null', () => {
    const mayBeNull = (schema: Schema): boolean =>
      typesOf(schema).includes('null') || (Array.isArray(schema.anyOf) && schema.anyOf.some(mayBeNull))
    const bodies = operations.flatMap(({ requestBody }) => (requestBody ? [requestBody.content] : []))
    const optional = bodies.flatMap((content) => {
      const { properties = {}, required = [] } = resolved(raw, content['application/json']?.schema ?? {})
      return Object.entries(properties).filter(([name]) => !required.includes(name))
    })
    expect(optional.length).toBeGreaterThan(20)
    expect(optional.filter(([, schema]) => !mayBeNull(schema)).map(([name]) => name)).toEqual([])
  })

  test('every parameter has a description, and an example that fits its schema', () => {
    const parameters = operations.flatMap((one) => one.parameters)
    expect(parameters.length).toBeGreaterThan(180)
    expect(parameters.filter(({ description = '' }) => !/^[A-Z]/.test(description))).toEqual([])
    const faults = parameters.map(({ name, schema, example }) => ({
      name,
      example,
      // It excludes sort_by and sort_order, which have one (contract C7).
      faults: example === undefined ? (name === 'sort' ? [] : ['none']) : faultsOf(schema, example),
    }))
    expect(faults.filter(({ faults }) => faults.length > 0)).toEqual([])
  })

  test('country_id and currency_id are strings in filters', () => {
    const filters = operations
      .flatMap(({ parameters }) => parameters)
      .filter(({ name }) => name === 'country_id' || name === 'currency_id')
    expect(filters.map(({ name, schema }) => [name, schema.type])).toEqual([
      ['country_id', 'string'],
      ['currency_id', 'string'],
      ['currency_id', 'string'],
    ])
  })

  test('case-insensitive values are listed in both cases', () => {
    const choicesOf = (id: string, name: string) =>
      operations.find(({ operationId }) => operationId === id)?.parameters.find((one) => one.name === name)?.schema.enum
    for (const id of ['listBeneficiaries', 'listPayouts', 'listProducts', 'listWallets', 'listTransactions']) {
      expect(choicesOf(id, 'sort_order')).toEqual(['ASC', 'asc', 'DESC', 'desc'])
    }
    expect(choicesOf('listOrders', 'status')).toEqual(expect.arrayContaining(['DELIVERED', 'delivered']))
  })

  test('X-Sandbox-Fault is a parameter of every operation that faults can hit', () => {
    for (const [path, methods] of Object.entries(raw.paths)) {
      for (const { parameters } of Object.values(methods)) {
        const isThere = parameters.some(({ name }) => name === 'X-Sandbox-Fault')
        expect({ path, isThere }).toEqual({ path, isThere: !/^\/(?:_sandbox|livez|readyz)/.test(path) })
      }
    }
  })
})

describe('The server accepts what the document allows', () => {
  const optional = Object.entries(raw.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, requestBody }]) => {
      const content = requestBody?.content['application/json']
      const { properties = {}, required = [] } = resolved(raw, content?.schema ?? {})
      const names = Object.keys(properties).filter((name) => !required.includes(name))
      return names.map(
        (name) =>
          [operationId, name, { path, method, example: { ...(content?.example as object | undefined) } }] as const,
      )
    }),
  )

  test.each(optional)('%s: a null %s equals an omitted one', async (_, name, { path, method, example }) => {
    const responseTo = async (body: object) => {
      const world = await server.world()
      const at = path.replace(/\{(?:id|name)\}/, '1') + (path.startsWith('/_sandbox') ? `?world=${world.name}` : '')
      const response = await world.request(at, { method: method.toUpperCase(), body: JSON.stringify(body) })
      return { status: response.status, error: response.ok ? undefined : await response.text() }
    }
    const { [name as never]: _given, ...without } = example
    expect(await responseTo({ ...without, [name]: null })).toEqual(await responseTo(without))
  })
})
