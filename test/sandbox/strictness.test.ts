import { afterAll, describe, expect, test } from 'bun:test'
import { operationsOf, readDocument } from '../docs/document.ts'
import { validation, worldNotFound } from '../errors.ts'
import { type Server, startServer } from '../harness.ts'

/** A mistyped name on the control API is refused: it would act on the default world, or on everything (contract C15). */

const server: Server = await startServer('--rate-limit', 'off')
afterAll(() => server.stop())
/** An inbox accepts any body. */
const RECEIVER = 'receiveInInbox'
const operations = operationsOf(await readDocument(server)).filter(
  ({ path, operationId }) => path.startsWith('/_sandbox') && operationId !== RECEIVER,
)

const ask = async (method: string, path: string, body?: string) => {
  const response = await server.request(path, { method, ...(body !== undefined && { body }) })
  return { status: response.status, body: await response.json() }
}

describe.each(operations.map(({ method, path, ...rest }) => [method, path, rest] as const))(
  '%s %s',
  (method, path, { parameters, requestBody }) => {
    const { example } = requestBody?.content['application/json'] ?? {}
    const target = path.replace(/\{\w+\}/, 'nowhere')
    const known = parameters.filter((each) => each.in === 'query').map(({ name }) => name)
    const problem = `is not a known parameter; known are ${known.join(', ') || 'none'}`

    test('400 refuses an unknown parameter, before a 404', async () => {
      expect(await ask(method, `${target}?wrld=x`)).toEqual({ status: 400, body: validation('wrld', 'enum', problem) })
    })

    // A partner's list has columns of its own.
    if (method !== 'GET' && path !== '/_sandbox/reconcile')
      test('400 refuses an unknown member, before a 404', async () => {
        const { status, body } = await ask(method, target, '{"wrld":"x"}')
        expect(status).toBe(400)
        expect(JSON.stringify(body)).toContain('The wrld field is not a known member; known are ')
        if (!requestBody) expect(JSON.stringify(body)).toContain('known are none.')
      })

    const takesAll = ['/_sandbox/requests', '/_sandbox/coverage', '/_sandbox/feed'].includes(path)
    test('takes a world, and 404 refuses one that does not exist', async () => {
      expect(known).toContain('world')
      const body = example === undefined ? undefined : JSON.stringify(example)
      const expected = { status: 404, body: worldNotFound('nowhere') }
      expect(await ask(method, `${target.replace('nowhere', '1')}?world=nowhere`, body)).toEqual(expected)
    })

    if (!takesAll)
      test('400 refuses all worlds', async () => {
        const expected = { status: 400, body: validation('world', 'format', 'must be one world here') }
        expect(await ask(method, `${target.replace('nowhere', '1')}?world=*`)).toEqual(expected)
      })
  },
)

test('no world was made of an unknown name', async () => {
  const names = (await ask('GET', '/_sandbox/worlds')).body as { name: string }[]
  expect(names.map(({ name }) => name)).not.toContain('nowhere')
})

describe('A world is accepted where it has no effect', () => {
  test.each([
    ['GET', ''],
    ['GET', '/worlds'],
    ['GET', '/errors'],
    ['GET', '/test-values'],
    ['GET', '/snapshots'],
    ['GET', '/snapshots/kept'],
    ['DELETE', '/snapshots/kept'],
    ['PUT', '/worlds/made'],
    ['DELETE', '/worlds/made'],
  ])('%s /_sandbox%s', async (method, path) => {
    const prepare = async (): Promise<void> => {
      await server.request('/_sandbox/snapshots/kept', { method: 'PUT' })
      await server.request('/_sandbox/worlds/made', { method: 'PUT', body: '{"from":"default"}' })
    }
    const responses = async (query: string) => {
      if (method !== 'GET') await prepare()
      const response = await server.request(`/_sandbox${path}${query}`, { method })
      return { status: response.status, body: (await response.text()).replace(/"now":"[^"]*"/g, '"now"') }
    }
    const { name } = await server.world()
    await prepare()
    const without = await responses('')
    expect(without.status).toBeLessThan(300)
    for (const query of ['?world=made', '?world=default', `?world=${name}`, `?world=sbx_${name}`]) {
      expect({ query, ...(await responses(query)) }).toEqual({ query, ...without })
    }
  })
})

test('PUT /_sandbox/worlds/{name} takes the name of the world that it makes, and of no other that is missing', async () => {
  const statusOf = async (method: string, world: string) =>
    (await server.request(`/_sandbox/worlds/fresh?world=${world}`, { method })).status
  expect(await statusOf('PUT', 'other')).toBe(404)
  for (const name of ['fresh', 'sbx_fresh']) {
    expect(await statusOf('PUT', name)).toBe(200)
    expect(await statusOf('DELETE', name)).toBe(204)
  }
  expect(await statusOf('DELETE', 'fresh')).toBe(404)
})

test('a mistyped world does not reset the default one', async () => {
  const { access_token: token } = (await (
    await server.request('/auth/login', { method: 'POST', body: '{"username":"sandbox","password":"sandbox"}' })
  ).json()) as { access_token: string }
  const headers = { authorization: `Bearer ${token}` }
  expect((await ask('POST', '/_sandbox/reset?wordl=mine')).status).toBe(400)
  expect((await ask('POST', '/_sandbox/reset', '{"world":"mine"}')).status).toBe(400)
  expect((await server.request('/api/v1/countries/1', { headers })).status).toBe(200)
})

test('the front page takes any parameter', async () => {
  expect((await server.request('/?utm_source=docs')).status).toBe(200)
})
