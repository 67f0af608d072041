import { describe, expect, test } from 'bun:test'
import { forFile, type Server, startServer } from '../harness.ts'
import { folderTest, start } from '../program.ts'

const server = forFile(await startServer())
const closed = forFile(await startServer('--sandbox-token', 'open sesame'))

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const open = (from: Server, accept = BROWSER) => from.request('/', { headers: { accept } })

describe('GET / for a browser', () => {
  test('is a page with address, credentials and links', async () => {
    const response = await open(server)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('vary')).toBe('Accept')
    const page = await response.text()
    expect(page).toStartWith('<!doctype html>')
    expect(page).toContain(server.url)
    for (const path of ['/docs', '/openapi.json', '/_sandbox/console']) {
      expect(page).toContain(` href="${path}">`)
      expect((await server.request(path)).status).toBe(200)
    }
  })

  test('and the console are open without the token, which they do not name', async () => {
    for (const path of ['/', '/_sandbox/console']) {
      const response = await closed.request(path, { headers: { accept: BROWSER } })
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(await response.text()).not.toContain('sesame')
    }
  })
})

describe('GET / for other clients', () => {
  test.each(['*/*', 'application/json', 'application/json, text/html;q=0.5', 'text/html;q=0', 'text/*'])(
    'is JSON for %s',
    async (accept) => {
      const response = await open(server, accept)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(await response.json()).toMatchObject({
        url: server.url,
        credentials: { username: 'sandbox', password: 'sandbox' },
        links: { docs: `${server.url}/docs`, journal: `${server.url}/_sandbox/requests` },
      })
    },
  )

  test('is not in the request log, nor is the console', async () => {
    for (const path of ['/', '/?again', '/_sandbox/console']) await server.request(path)
    const requests = (await (await server.request('/_sandbox/requests')).json()) as { path: string }[]
    expect(requests.filter(({ path }) => /^\/(?:\?|$|_sandbox)/.test(path))).toEqual([])
  })
})

test('the session works: it lists, prices and orders', async () => {
  await using program = await start()
  const { session } = (await (await program.request('/')).json()) as { session: string[] }
  const shell = Bun.spawn(['sh', '-c', session.join('\n')], { stdout: 'pipe', stderr: 'inherit' })
  const [list, price, order] = (await shell.stdout.text()).trim().split('\n')
  expect(JSON.parse(list ?? '')).toHaveLength(2)
  expect(JSON.parse(price ?? '')).toMatchObject({ total_payable: 230.1 })
  expect(JSON.parse(order ?? '')).toMatchObject({ status: 'DELIVERED', amount: 230.1 })
})

folderTest('in live mode it is a page with links and without data', async (folder) => {
  await using program = await start(['--mode', 'live', '--data-dir', `${folder}/data`])
  const response = await program.request('/', { headers: { accept: BROWSER } })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const page = await response.text()
  for (const path of ['/docs/guides/running-live', '/openapi.json', '/docs/operations/createPayout'])
    expect(page).toContain(`<a href="${path}">`)
  expect(page).not.toMatch(/sandbox|sbx_/i)
  const guide = await (await program.request('/docs/guides/running-live.md')).text()
  expect(guide).toContain('[scrip.service](scrip.service)')
  expect(guide.replaceAll('\n', ' ')).toContain('. Commands and flags lists all commands') // that guide also belongs to the sandbox
  expect((await program.request('/docs/guides/scrip.service')).status).toBe(200)
  expect((await program.request('/docs/guides/fixtures/scrip_sandbox.py')).status).toBe(404)
})
