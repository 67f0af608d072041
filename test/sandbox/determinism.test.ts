// Runs in process alone: it proves logic, which is the same behind a socket.

import { describe, expect, test } from 'bun:test'
import { type Server, startServer, TestWorld } from '../harness.ts'
import { start } from '../program.ts'
import { ADA, NOON, saveAda } from '../records.ts'
import { everything, makeAtNoon, type Replayed } from './everything.ts'
import { succeed } from './surface.ts'

/** With the same seed and a frozen clock a world sends the same bytes, in every run (contract C15). */

const FLAGS = ['--seed', '42', '--public-url', 'http://sandbox.example']
const NAME = 'the-same'

const outcome = async (server: Server): Promise<string> => {
  await makeAtNoon(server, NAME)
  return JSON.stringify(await everything(server, NAME), null, 1)
}

/** Requests of no world, to the control API, are numbered by the process. */
const ownOutcome = async (server: Server): Promise<string> => {
  const responses = JSON.parse(await outcome(server)) as Replayed[]
  for (const { headers } of responses) {
    if (!headers['x-request-id']?.startsWith(`req_${NAME}_`)) delete headers['x-request-id']
  }
  return JSON.stringify(responses, null, 1)
}

/** Another process, asked as a server of this one is. */
const elsewhere = async (...flags: string[]): Promise<Server> => {
  const { url, request, ...running } = await start(flags)
  const stop = async () => void (await running.stop())
  const world = () => Promise.reject(new Error('worlds are made by name here'))
  return { url, request, world, stop, [Symbol.asyncDispose]: stop }
}

const served = async <T>(starting: Promise<Server>, work: (server: Server) => Promise<T>): Promise<T> => {
  await using server = await starting
  return await work(server)
}

describe('With the same --seed', () => {
  test('a long script over every operation gets the same bytes in another process', async () => {
    const here = await served(elsewhere(...FLAGS), outcome)
    expect(await served(elsewhere(...FLAGS), outcome)).toBe(here)
  })

  test('and uses every operation of a world', async () => {
    await served(startServer(...FLAGS), async (server) => {
      await outcome(server)
      const { outcomes } = await succeed<{ outcomes: { operation: string; path: string; count: number }[] }>(
        server,
        'GET',
        `/coverage?world=${NAME}`,
      )
      const covered = new Set(outcomes.filter(({ count }) => count > 0).map(({ operation }) => operation))
      const uncovered = outcomes.filter(({ operation }) => !covered.has(operation)).map(({ path }) => path)
      expect(uncovered).toEqual([])
    })
  })

  test('and while other worlds are created, used, reset and deleted', async () => {
    const alone = await served(startServer(...FLAGS), ownOutcome)
    await served(startServer(...FLAGS), async (server) => {
      const noise = async (name: string): Promise<void> => {
        for (let round = 0; round < 3; round++) {
          await makeAtNoon(server, name)
          const world = await TestWorld.open(server, name)
          await Promise.all([
            saveAda(world),
            saveAda(world),
            world.get('/api/v1/products'),
            world.get('/api/v1/nowhere'),
          ])
          await everything(server, name)
          await succeed(server, 'PUT', `/snapshots/${name}?world=${name}`)
          await succeed(server, 'POST', `/reset?world=${name}`)
          await succeed(server, 'DELETE', `/worlds/${name}`)
        }
      }
      const [crowded] = await Promise.all([ownOutcome(server), noise('noise-1'), noise('noise-2')])
      expect(crowded).toBe(alone)
    })
  })

  test('and after the world was reset, or deleted and created again', async () => {
    await served(startServer(...FLAGS), async (server) => {
      const first = await ownOutcome(server)
      await succeed(server, 'POST', `/reset?world=${NAME}`)
      expect(await ownOutcome(server)).toBe(first)
      await succeed(server, 'DELETE', `/worlds/${NAME}`)
      expect(await ownOutcome(server)).toBe(first)
    })
  })

  test('the default world is the same in every run: ids, tokens, request ids', async () => {
    const inDefault = async (server: Server): Promise<unknown> => {
      await succeed(server, 'POST', '/clock', { now: NOON, frozen: true })
      const login = await server.request('/auth/login', {
        method: 'POST',
        body: '{"username":"sandbox","password":"sandbox"}',
      })
      const { access_token } = (await login.json()) as { access_token: string }
      const responses: unknown[] = [access_token, login.headers.get('x-request-id')]
      for (const [path, body] of [
        ['/api/v1/beneficiaries', ADA],
        ['/api/v1/orders', { product_id: 2, denomination: 50, quantity: 1 }],
      ] as const) {
        const headers = { authorization: `Bearer ${access_token}` }
        const response = await server.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
        responses.push(response.status, response.headers.get('x-request-id'), await response.text())
      }
      responses.push(await (await server.request('/status')).text())
      return responses
    }
    const here = await served(elsewhere(...FLAGS), inDefault)
    expect(await served(elsewhere(...FLAGS), inDefault)).toEqual(here)
  })

  test('another seed gives other ids, codes and tokens in the same order', async () => {
    const [one, other] = [
      await served(startServer(...FLAGS), outcome),
      await served(startServer(...FLAGS, '--seed', '43'), outcome),
    ]
    expect(other).not.toBe(one)
    const order = (text: string) =>
      (JSON.parse(text) as { request: string }[]).map(({ request }) => request.replace(/_[0-9a-z]{25}/g, ''))
    expect(order(other)).toEqual(order(one))
  })
})
