import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Server, startServer } from '../harness.ts'

let server: Server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const page = async (): Promise<string> => (await server.request('/docs')).text()
const assets = async (): Promise<string[]> =>
  [...(await page()).matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address)

describe('GET /docs', () => {
  test('is an HTML page', async () => {
    const response = await server.request('/docs')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await response.text()).toStartWith('<!doctype html>')
  })

  test('omits the column of links', async () => {
    expect(await page()).toMatch(/\.response-col_links \{ display: none \}/)
    const { paths } = (await (await server.request('/openapi.json')).json()) as {
      paths: Record<string, Record<string, { responses: Record<string, object> }>>
    }
    for (const operations of Object.values(paths)) {
      for (const { responses } of Object.values(operations)) {
        for (const response of Object.values(responses)) expect(response).not.toHaveProperty('links')
      }
    }
  })

  test('contains no external address', async () => {
    expect(await page()).not.toMatch(/(?:https?:)?\/\/[\w.-]/)
    for (const address of await assets()) expect(address).toMatch(/^(?:\/docs\/[\w.-]+|data:,)$/)
  })

  test('forbids the browser to load anything external', async () => {
    const policy = (await server.request('/docs')).headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('http')
  })

  test('cannot be framed, and has a fixed content type', async () => {
    for (const path of ['/', '/docs', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/openapi.json']) {
      const { headers } = await server.request(path, { headers: { accept: 'text/html' } })
      expect({ path, sniffed: headers.get('x-content-type-options') }).toEqual({ path, sniffed: 'nosniff' })
      if (!headers.get('content-type')?.startsWith('text/html')) continue
      const policy = headers.get('content-security-policy') ?? ''
      for (const part of ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]) {
        expect(policy.split('; ')).toContain(part)
      }
    }
  })

  test('keeps tokens only in memory', async () => {
    expect(await page()).toContain('persistAuthorization: false')
    expect(await page()).not.toMatch(/localStorage|sessionStorage/)
  })

  test('loads all files from the program, compressed', async () => {
    for (const address of (await assets()).filter((asset) => asset.startsWith('/'))) {
      const response = await server.request(address, { headers: { 'accept-encoding': 'gzip' } })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toMatch(/^text\/(?:css|javascript); charset=utf-8$/)
      expect(response.headers.get('vary')).toBe('Accept-Encoding')
      expect((await response.bytes()).length).toBeGreaterThan(10_000)
    }
  })

  test('sends uncompressed files to clients without gzip', async () => {
    const response = await server.request('/docs/swagger-ui.css', { headers: { 'accept-encoding': 'identity' } })
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(await response.text()).toContain('.swagger-ui')
  })
})
