import { describe, expect, test } from 'bun:test'
import { notFound, structured } from '../errors.ts'
import { forFile, startServer } from '../harness.ts'

const server = forFile(await startServer('--sandbox-token', 'open sesame'))

const NAVIGATION = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-mode': 'navigate' }
const opened = (path: string) => server.request(path, { headers: NAVIGATION })

describe('GET /_sandbox/console', () => {
  test('is a page without data, open to everyone without the token', async () => {
    const response = await opened('/_sandbox/console')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await response.text()).not.toContain('sesame')
  })

  test('is not in the request log', async () => {
    const headers = { 'x-sandbox-token': 'open sesame' }
    await opened('/_sandbox/console')
    expect(await (await server.request('/_sandbox/requests', { headers })).json()).toEqual([])
  })
})

describe('a person who opens', () => {
  test.each([
    '/_sandbox',
    '/_sandbox/worlds',
    '/_sandbox/requests/1?world=checkout',
    '/_sandbox/nothing',
    '/openapi.json',
  ])('%s gets the console', async (path) => {
    const response = await opened(path)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await response.text()).toContain('<title>Scrip console</title>')
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
  })

  test('an address that is none gets a page that leads home', async () => {
    const response = await opened('/nowhere')
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(response.headers.get('content-security-policy')).toStartWith("default-src 'none'; ")
    const page = await response.text()
    for (const path of ['/', '/_sandbox/console', '/docs']) expect(page).toContain(`<a href="${path}">`)
    const [entry] = (await (
      await server.request('/_sandbox/requests', { headers: { 'x-sandbox-token': 'open sesame' } })
    ).json()) as { path: string; response: { status: number; body: string } }[]
    expect(entry).toMatchObject({ path: '/nowhere', response: { status: 404 } })
  })
})

describe('a program that asks for', () => {
  const sent = { accept: 'application/json', 'sec-fetch-mode': 'cors' }
  test('/openapi.json gets JSON, as before', async () => {
    for (const headers of [sent, { accept: '*/*' }, { ...NAVIGATION, accept: 'application/json' }]) {
      const response = await server.request('/openapi.json', { headers })
      expect(response.headers.get('content-type')).toBe('application/json')
    }
  })

  test('the control API without the token gets the refusal, as before', async () => {
    const response = await server.request('/_sandbox/worlds', { headers: sent })
    expect([response.status, await response.json()]).toEqual([
      401,
      structured(
        'UnauthorizedError',
        'UNAUTHORIZED',
        'The sandbox needs the header X-Sandbox-Token with the token of --sandbox-token',
      ),
    ])
  })

  test('an address that is none gets a 404 in JSON, as before', async () => {
    const response = await server.request('/nowhere', { headers: sent })
    expect([response.status, await response.json()]).toEqual([404, notFound('Route not found')])
  })
})
