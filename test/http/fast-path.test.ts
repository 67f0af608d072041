import { afterAll, describe, expect, test } from 'bun:test'
import { Command } from 'commander'
import { type AnyElysia, Elysia } from 'elysia'
import { createApp } from '../../src/app.ts'
import { configOf } from '../../src/config/config.ts'
import type { ServeOptions } from '../../src/config/option-table.ts'
import { withServeOptions } from '../../src/config/options.ts'
import type { Edge } from '../../src/http/edge.ts'
import { fastPath } from '../../src/http/fast-path.ts'
import { documented, OPERATION, type Operation } from '../../src/http/operation.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { createLog } from '../../src/observability/log.ts'
import { assemble } from '../../src/start/assemble.ts'

const URL_BEFORE = 'http://localhost:4747'
const command = withServeOptions(new Command('serve')).parse(['--rate-limit', 'off'], { from: 'user' })
const log = createLog({ level: 'error', format: 'json', color: false, clock: systemClock, write: console.error })
const platform = assemble(configOf(command.opts<ServeOptions>()), systemClock, log)
const { app, handle } = createApp(
  platform.deps({ publicUrl: URL_BEFORE, addressOf: () => '127.0.0.1', isClosing: () => false }),
)
afterAll(() => platform.close())

const login = await handle(
  new Request(`${URL_BEFORE}/auth/login`, { method: 'POST', body: '{"username":"sandbox","password":"sandbox"}' }),
)
const { access_token: token } = (await login.json()) as { access_token: string }

interface Asked {
  path: string
  method?: string
  body?: string
  headers?: Record<string, string>
}

const answered = async (answer: (request: Request) => Response | Promise<Response>, asked: Asked): Promise<object> => {
  const { path, method = 'GET', body, headers = {} } = asked
  const response = await answer(
    new Request(URL_BEFORE + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'x-request-id': 'one-and-the-same', ...headers },
      ...(body !== undefined && { body }),
    }),
  )
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
}

const CHARGES = '/api/v1/products/1/charges'
const PRICED = '{"denomination":100,"quantity":2}'
const ASKED: Record<string, Asked> = {
  'a list': { path: '/api/v1/countries' },
  'a record': { path: '/api/v1/countries/105' },
  'a page': { path: '/api/v1/products?limit=3&search=a' },
  'a compressed page': { path: '/api/v1/products', headers: { 'accept-encoding': 'gzip' } },
  'what the client has already': { path: '/api/v1/currencies', headers: { 'if-none-match': '*' } },
  'what something was bought for': { path: CHARGES, method: 'POST', body: PRICED },
  'an id that is none': { path: '/api/v1/countries/x' },
  'an id in other writing': { path: '/api/v1/countries/%31' },
  'an id that nothing has': { path: '/api/v1/products/2147483647' },
  'a query that is refused': { path: '/api/v1/products?limit=0' },
  'a body that is refused': { path: CHARGES, method: 'POST', body: '{"denomination":0,"quantity":1}' },
  'a body that is none': { path: CHARGES, method: 'POST', body: '{' },
  'a token that is none': { path: '/api/v1/countries', headers: { authorization: 'Bearer x.y.z' } },
  'a fault that is asked for': { path: '/api/v1/countries', headers: { 'x-sandbox-fault': 'unauthorized' } },
  'a fault that is asked for where no token is': { path: '/status', headers: { 'x-sandbox-fault': 'internal' } },
  'a fault that there is not': { path: '/api/v1/countries', headers: { 'x-sandbox-fault': 'nothing' } },
  'a slash at the end': { path: '/api/v1/countries/' },
  'a method that is not served': { path: '/api/v1/countries', method: 'DELETE' },
  'a path that is not served': { path: '/api/v1/countries/105/more' },
}

describe('a fast operation answers as it does through the framework', () => {
  test.each(Object.entries(ASKED))('%s', async (_, asked) => {
    await answered(handle, asked) // prices are MISS the first time
    expect(await answered(handle, asked)).toEqual(await answered(app.handle, asked))
  })

  test('the status, at a time that stands still', async () => {
    const frozen = await answered(handle, { path: '/_sandbox/clock', method: 'POST', body: '{"frozen":true}' })
    expect(frozen).toMatchObject({ status: 200 })
    const viaFast = await answered(handle, { path: '/status', headers: { authorization: '' } })
    expect(viaFast).toMatchObject({ status: 200 })
    expect(viaFast).toEqual(await answered(app.handle, { path: '/status', headers: { authorization: '' } }))
  })

  test('an identifier in its world where none was sent, as the framework goes on counting', async () => {
    const numberOf = async (answer: (request: Request) => Response | Promise<Response>): Promise<number> => {
      const response = await answer(
        new Request(`${URL_BEFORE}/api/v1/countries`, { headers: { authorization: `Bearer ${token}` } }),
      )
      return Number(response.headers.get('x-request-id')?.replace('req_default_', ''))
    }
    const first = await numberOf(handle)
    expect(first).toBeGreaterThan(0)
    expect(await numberOf(app.handle)).toBe(first + 1)
  })
})

describe('an operation that says it is fast', () => {
  const served = (of: Partial<Operation>): AnyElysia => {
    const operation = { id: 'ofTheTest', refusals: {}, fast: true, ...of } as Operation
    return new Elysia().get('/of-the-test', () => '', documented(operation))
  }
  const start = (of: Partial<Operation>) => () =>
    fastPath(served(of), { edge: undefined as unknown as Edge, admit: () => undefined, enter: undefined })

  test('needs no feature: only the framework asks for one', () => {
    const refusals = { 'of_the_test.feature_disabled': { code: 'feature_disabled' } } as const
    expect(start({ refusals })).toThrow('ofTheTest needs')
  })

  test('is one of those that are asked most', () => {
    const fast = app.routes.flatMap(({ hooks }) => {
      const operation = (hooks?.detail as { [OPERATION]?: Operation } | undefined)?.[OPERATION]
      return operation?.fast ? [operation.id] : []
    })
    expect(fast).toEqual([
      'listProducts',
      'getProduct',
      'calculateCharges',
      'listCountries',
      'getCountry',
      'listCurrencies',
      'getCurrency',
      'getStatus',
    ])
  })
})
