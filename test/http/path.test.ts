import { expect, spyOn, test } from 'bun:test'
import { nextTurn } from '../../src/kernel/turns.ts'
import { openProgram } from '../harness.ts'
import { HUNDRED } from '../records.ts'

/** The functions of Scrip between a request and the function that decides (docs/architecture.md). */

const FRAMES_MAX = 12

/** The functions of src that call a method while it runs, once for each call. */
const callersOf = <Name extends string>(
  object: Record<Name, (...args: never[]) => unknown>,
  name: Name,
): string[][] => {
  const method = object[name]
  const calls: string[][] = []
  spyOn(object, name).mockImplementation((...args) => {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 200
    calls.push(new Error('a stack').stack?.match(/\/src\/[\w/-]+\.ts/g) ?? [])
    Error.stackTraceLimit = stackTraceLimit
    return method.apply(object, args)
  })
  return calls
}

test('few functions stand between a request and its decision: the route alone for a read, the unit of work for a write', async () => {
  await using program = openProgram()
  const { client, world } = await program.open()
  const reads = callersOf(program.deps.reference, 'findCountry')
  const writes = callersOf(world.ids, 'next')
  expect((await client.get('/api/v1/countries/105')).status).toBe(200)
  const payout = await client.post('/api/v1/payouts', { ...HUNDRED, reference_id: 'salary', amount: 10 })
  expect(payout.status).toBe(201)
  expect(reads).toEqual([['/src/reference/routes.ts']])
  expect(writes[0]).toContain('/src/payouts/payouts.ts')
  for (const frames of writes) expect(frames.length).toBeLessThanOrEqual(FRAMES_MAX)
})

test('a read whose token is known waits for nothing: its response is there before any other request', async () => {
  await using program = openProgram()
  const authorization = `Bearer ${await program.logIn({ username: 'sandbox', password: 'sandbox' })}`
  const respond = (path: string): Response | Promise<Response> =>
    program.app.fetch(new Request(program.url + path, { headers: { authorization } }))
  expect((await respond('/api/v1/countries/105')).status).toBe(200) // verifies the token
  const paths = ['/api/v1/countries/105', '/api/v1/countries', '/api/v1/payouts', '/api/v1/products?limit=1']
  const statuses: (number | 'waits')[] = []
  for (const path of paths) {
    await nextTurn() // In one turn, a client that has used up its share of the thread waits.
    const response = respond(path)
    statuses.push(response instanceof Promise ? 'waits' : response.status)
  }
  expect(statuses).toEqual([200, 200, 200, 200])
})
