import { describe, expect, test } from 'bun:test'
import { sharedServer, startServer, type TestWorld, testIn } from '../harness.ts'
import { ADA, countOf, NOON } from '../records.ts'

const server = await sharedServer()
const inWorld = testIn(() => server.world())

const PATH = '/api/v1/beneficiaries'
const KEY = 'order-4711/ada'
const atNoon = testIn(() => server.world(NOON))

/** The parts of a response that a client can see. */
const post = async (world: TestWorld, body: unknown, key: string | null = KEY, path = PATH) => {
  const response = await world.post(path, body, key === null ? {} : { 'idempotency-key': key })
  return {
    status: response.status,
    text: await response.text(),
    type: response.headers.get('content-type')?.split(';')[0],
    replayed: response.headers.get('idempotent-replayed'),
  }
}
const REUSED = JSON.stringify({ error: 'BadRequest', message: 'Idempotency-Key was used with a different request' })
const MALFORMED = JSON.stringify({
  error: 'BadRequest',
  message: 'Idempotency-Key must be 8 to 256 printable characters',
})

describe('a key that was used within 24 hours', () => {
  atNoon('returns the same status and bytes, marks the replay, and writes nothing', async (world) => {
    const first = await post(world, ADA)
    expect(first).toMatchObject({ status: 201, type: 'application/json', replayed: null })
    await world.clock({ advance: 'PT59M' })
    expect(await post(world, ADA)).toEqual({ ...first, replayed: 'true' })
    expect(await post(world, ADA)).toEqual({ ...first, replayed: 'true' })
    expect(await countOf(world)).toBe(1)
  })

  atNoon('returns the saved record even after it was deleted', async (world) => {
    const first = await post(world, ADA)
    const { id } = JSON.parse(first.text) as { id: string }
    expect((await world.delete(`${PATH}/${id}`)).status).toBe(204)
    expect(await post(world, ADA)).toEqual({ ...first, replayed: 'true' })
    expect(await countOf(world)).toBe(0)
  })

  test.each<[string, string]>([
    [
      'members in another order',
      '{"last_name":"Lovelace","metadata":{"b":2,"a":1},"first_name":"Ada","email":"ada@example.com"}',
    ],
    [
      'other white space',
      ' {"email" : "ada@example.com",\n"first_name":"Ada","last_name":"Lovelace","metadata":{"a":1,"b":2}}\n',
    ],
    [
      'numbers written in another way',
      '{"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace","metadata":{"a":1.0,"b":0.2e1}}',
    ],
    [
      'letters written as escapes',
      '{"email":"ada@example.com","first_name":"\\u0041da","last_name":"Lovelace","metadata":{"a":1,"b":2}}',
    ],
  ])('accepts a body that is equal as JSON: %s', async (_, body) => {
    const world = await server.world()
    const first = await post(world, { ...ADA, metadata: { a: 1, b: 2 } })
    expect(first.status).toBe(201)
    expect(await post(world, body)).toEqual({ ...first, replayed: 'true' })
    expect(await countOf(world)).toBe(1)
  })

  test.each<[string, unknown]>([
    ['another value', { ...ADA, first_name: 'Augusta' }],
    ['one member more', { ...ADA, country: 'GB' }],
    ['a member more that means nothing', { ...ADA, colour: 'red' }],
    ['null in the place of nothing', { ...ADA, country: null }],
    ['another order in a list', { ...ADA, metadata: { list: [2, 1] } }],
    ['a number in the place of a string', { ...ADA, metadata: { list: ['1', 2] } }],
    ['what would be refused anyway', { ...ADA, email: 'ada@' }],
    ['no body', undefined],
    ['what is not JSON', '{'],
  ])('400 refuses another body, and writes nothing: %s', async (_, body) => {
    const world = await server.world()
    const sent = { ...ADA, metadata: { list: [1, 2] } }
    const first = await post(world, sent)
    expect(await post(world, body)).toMatchObject({ status: 400, text: REUSED, replayed: null })
    expect(await post(world, sent)).toEqual({ ...first, replayed: 'true' })
    expect(await countOf(world)).toBe(1)
  })

  inWorld('400 refuses the same body for another route', async (world) => {
    const saved = await post(world, ADA)
    expect(saved.status).toBe(201)
    const paid = await post(world, ADA, KEY, '/api/v1/payouts')
    expect(paid).toMatchObject({ status: 400, text: REUSED, replayed: null })
    expect(await (await world.get('/api/v1/payouts')).json()).toEqual([])
  })

  inWorld('belongs to one client, and to one world', async (world) => {
    const limited = await world.limited()
    const elsewhere = await server.world()
    for (const client of [world, limited, elsewhere]) {
      expect(await post(client, ADA)).toMatchObject({ status: 201, replayed: null })
      expect(await countOf(client)).toBe(1)
    }
    expect(await post(limited, { ...ADA, first_name: 'Augusta' })).toMatchObject({ status: 400, text: REUSED })
  })
})

describe('a key after 24 hours', () => {
  atNoon('is free after exactly 24 hours', async (world) => {
    const first = await post(world, ADA)
    await world.clock({ advance: 'PT23H59M59.999S' })
    const late = await world.again()
    expect(await post(late, ADA)).toEqual({ ...first, replayed: 'true' })
    await world.clock({ advance: 'PT0.001S' })
    const second = await post(late, ADA)
    expect(second).toMatchObject({ status: 201, replayed: null })
    expect(second.text).not.toBe(first.text)
    expect(await post(late, ADA)).toEqual({ ...second, replayed: 'true' })
    expect(await countOf(late)).toBe(2)
  })
})

describe('refusals', () => {
  test.each<[string, unknown, string]>([
    ['a broken member', { ...ADA, email: 'ada@' }, '{"error":"ValidationException","message":"Invalid email format"}'],
    ['a body that is not JSON', '{"email":', '{"error":"BadRequest","message":"Invalid request body"}'],
    ['no body', undefined, '{"error":"BadRequest","message":"Invalid request body"}'],
    ['a list', [ADA], '{"error":"BadRequest","message":"Invalid request body"}'],
  ])('are stored and replayed like successes: %s', async (_, body, text) => {
    const world = await server.world()
    const first = await post(world, body)
    expect(first).toEqual({ status: 400, text, type: 'application/json', replayed: null })
    expect(await post(world, body)).toEqual({ ...first, replayed: 'true' })
    expect(await countOf(world)).toBe(0)
  })

  inWorld('use their key: a corrected request needs another', async (world) => {
    await post(world, { ...ADA, email: 'ada@' })
    expect(await post(world, ADA)).toMatchObject({ status: 400, text: REUSED })
    expect(await post(world, ADA, 'another key')).toMatchObject({ status: 201 })
    expect(await countOf(world)).toBe(1)
  })

  inWorld('401 are not stored', async (world) => {
    const headers = { 'idempotency-key': KEY }
    const body = JSON.stringify(ADA)
    const refused = await server.request(PATH, { method: 'POST', headers, body })
    expect(refused.status).toBe(401)
    const dead = await server.request(PATH, {
      method: 'POST',
      headers: { ...headers, authorization: 'Bearer x' },
      body,
    })
    expect(dead.status).toBe(401)
    expect(await post(world, ADA)).toMatchObject({ status: 201, replayed: null })
  })

  test('429 are not stored', async () => {
    const strict = await startServer('--rate-limit', '1/m')
    try {
      const world = await strict.world(NOON)
      expect((await world.get('/api/v1/countries/1')).status).toBe(200)
      expect(await post(world, ADA)).toMatchObject({ status: 429, replayed: null })
      await world.clock({ advance: 'PT1M' })
      expect(await post(world, ADA)).toMatchObject({ status: 201, replayed: null })
    } finally {
      await strict.stop()
    }
  })
})

describe('a malformed key', () => {
  test.each([
    ['of 7 characters', 'seven77'],
    ['of 257 characters', 'x'.repeat(257)],
    ['that is empty', ''],
    ['with a tab', 'with\ta tab'],
    ['with a letter beyond ASCII', 'schlüssel'],
  ])('400 refuses one %s and writes nothing', async (_, key) => {
    const world = await server.world()
    expect(await post(world, ADA, key)).toMatchObject({ status: 400, text: MALFORMED, replayed: null })
    expect(await post(world, ADA, key)).toMatchObject({ status: 400, text: MALFORMED, replayed: null })
    expect(await countOf(world)).toBe(0)
  })

  test.each([
    ['of 8 characters', '12345678'],
    ['of 256 characters', 'x'.repeat(256)],
    ['of every printable character', '!"#$%&\'()*+,-./0:;<=>?@A[\\]^_`a{|}~ !'],
  ])('one %s is valid', async (_, key) => {
    const world = await server.world()
    const first = await post(world, ADA, key)
    expect(first).toMatchObject({ status: 201, replayed: null })
    expect(await post(world, ADA, key)).toEqual({ ...first, replayed: 'true' })
  })
})

describe('at the same time', () => {
  atNoon('many requests with one key write once and get the same response', async (world) => {
    const responses = await Promise.all(Array.from({ length: 12 }, () => post(world, ADA)))
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(responses[0]?.status).toBe(201)
    expect(responses.filter(({ replayed }) => replayed === null)).toHaveLength(1)
    expect(await countOf(world)).toBe(1)
  })

  atNoon('of two bodies with one key one is saved, the other refused', async (world) => {
    const responses = await Promise.all([post(world, ADA), post(world, { ...ADA, first_name: 'Augusta' })])
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400])
    expect(await countOf(world)).toBe(1)
  })
})
