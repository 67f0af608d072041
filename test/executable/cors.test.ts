import { describe, expect, test } from 'bun:test'
import { hasBrowser, startBrowser } from '../browser.ts'
import { run, start } from '../program.ts'

/** `--cors` in a real browser: a page of its own fetches, one of another origin cannot. Skipped where Chromium is not installed. */

const servePage = () =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response('<!doctype html><title>Shop</title>', { headers: { 'content-type': 'text/html' } }),
  })

/** Runs in the page: logs in, buys a card with a key, and reads what a page needs of the responses. */
const shopping = async (url: string) => {
  const logIn = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'sbx_browser', password: 'x' }),
  })
  const { access_token } = (await logIn.json()) as { access_token: string }
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${access_token}`, ...init.headers } })
  const order = await ask('/api/v1/orders', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'of the page' },
    body: JSON.stringify({ product_id: 1, denomination: 100, quantity: 1 }),
  })
  const orders = await ask('/api/v1/orders')
  return {
    ordered: order.status,
    remaining: order.headers.get('x-ratelimit-remaining'),
    total: orders.headers.get('x-total-count'),
  }
}

describe.if(hasBrowser)('A page in Chromium', () => {
  test('calls the API from an origin of --cors, and from no other', async () => {
    const [shop, other] = [servePage(), servePage()]
    await using server = await start(['--cors', shop.url.origin])
    const browser = await startBrowser()
    try {
      const page = await browser.newPage()
      await page.goto(shop.url.href)
      expect(await page.evaluate(shopping, server.url)).toEqual({ ordered: 200, remaining: '99', total: '1' })
      await page.goto(other.url.href)
      expect(await page.evaluate(shopping, server.url).catch(String)).toContain('Failed to fetch')
    } finally {
      await browser.close()
      await Promise.all([shop.stop(true), other.stop(true)])
    }
  })
})

test('is a usage error in live mode', async () => {
  const { exitCode, stderr } = await run([
    'serve',
    '--mode',
    'live',
    '--data-dir',
    '/none',
    '--cors',
    'http://localhost:1',
  ])
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: 'scrip: --cors is not available in live mode\nLeave it out.\n',
  })
})
