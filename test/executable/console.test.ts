import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { againstBinary, type StartedServer, startServer } from '../harness.ts'
import { ConsoleBrowser, DELAYED_ORDER, hasChromium, PAYOUT, TOKEN, violationsIn } from '../sandbox/chromium.ts'

/** The console of the executable in a real browser. Skipped where Chromium is not installed. */

let server: StartedServer
let consoles: ConsoleBrowser

const row = (page: Page, text: string) => page.locator('.row', { hasText: text }).first()

describe.if(hasChromium && againstBinary)('The console in Chromium', () => {
  let world: string
  beforeAll(async () => {
    server = await startServer('--sandbox-token', TOKEN, '--rate-limit', 'off')
    consoles = await ConsoleBrowser.launch(server.url)
    world = await consoles.filledWorld()
  })
  afterAll(async () => {
    await consoles.close()
    await server.stop()
  })

  test('asks for the token once', async () => {
    const context = await consoles.browser.newContext()
    const page = await context.newPage()
    await page.goto(`${server.url}/_sandbox/requests?world=${world}`)
    await page.getByLabel('Token').fill(TOKEN)
    await page.keyboard.press('Enter')
    await row(page, '/api/v1/orders').waitFor()
    await page.reload()
    await row(page, '/api/v1/orders').waitFor()
    expect(page.url()).toEndWith(`/_sandbox/console#requests?world=${world}`)
    await context.close()
  })

  test('leads from a failing test to its cause by keyboard alone', async () => {
    const page = await consoles.open('')
    await row(page, '/api/v1/orders').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('rate_limited')
    await page.getByRole('listbox').focus()
    await page.keyboard.press('ArrowDown')
    const request = page.getByRole('region', { name: /^Request \d+ of/ })
    await request.getByText('fault: rate_limited').waitFor()
    expect(await page.getByRole('region', { name: 'Body of the response' }).textContent()).toContain(
      'TOO_MANY_REQUESTS',
    )
    await page.keyboard.press('Escape')
    await request.waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('shows what an order changed, posted and caused, and sends it again with a fault', async () => {
    const page = await consoles.open(`#requests?world=${world}`)
    await page.getByLabel('Search requests').fill('post /api/v1/orders')
    await page.locator('.row').last().click()
    const posted = page.getByRole('region', { name: 'Ledger', exact: true })
    await posted.getByText('✓').first().waitFor()
    expect(await posted.textContent()).toContain('-230.10 INR')
    expect(await page.getByRole('region', { name: 'Rows changed' }).textContent()).toContain('orders')
    const caused = page.getByRole('region', { name: 'Events and deliveries' })
    await caused.getByRole('strong').filter({ hasText: 'order.delivered' }).waitFor()
    expect(await caused.textContent()).toContain('delivered 200')
    await page.getByLabel('Fault').selectOption('orders.product_not_found')
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.getByText('Sent again: 404').waitFor()
    await page.getByText('fault: orders.product_not_found').waitFor()
    await page.context().close()
  })

  test('shows the rows of a request before and after it, and says when it can not', async () => {
    const page = await consoles.open(`#requests?world=${world}&id=3&of=${world}`)
    const rows = page.getByRole('region', { name: 'Rows changed' })
    await rows.getByText('This request is not among them').waitFor()
    const looked = await consoles.world()
    await page.evaluate(`location.hash = 'requests?world=${looked.name}'`)
    await looked.post('/api/v1/payouts', PAYOUT)
    await row(page, '/api/v1/payouts').click()
    const wallet = rows.getByRole('listitem').filter({ hasText: 'wallets' })
    await wallet.getByText('amount_minor').waitFor()
    expect(await wallet.locator('tbody tr').filter({ hasText: 'amount_minor' }).allInnerTexts()).toEqual([
      'amount_minor\t10000000\t9998985',
    ])
    expect(await rows.getByText('This request is not among them').count()).toBe(0)
    await page.context().close()
  })

  test('shows what falls due next, also deliveries, and goes there', async () => {
    const waiting = await consoles.world()
    await consoles.control('POST', `/clock?world=${waiting.name}`, { frozen: true })
    await consoles.control('PUT', `/inbox/shop?world=${waiting.name}`, { status: 500 })
    const url = `${server.url}/_sandbox/inbox/shop?world=${waiting.name}`
    await waiting.post('/api/v1/webhooks', { name: 'Shop', url, events: ['order.*'] })
    await waiting.post('/api/v1/orders', DELAYED_ORDER)
    await consoles.control('POST', `/webhooks/settle?world=${waiting.name}`)
    const page = await consoles.open(`#worlds?world=${waiting.name}`)
    const clock = page.getByRole('region', { name: 'Clock of', exact: false })
    await clock.getByText('attempt 2 for Shop').waitFor()
    await page.getByRole('button', { name: 'To the next' }).click()
    await clock.getByText('Happened by the last move').waitFor()
    expect(await clock.getByRole('listitem').allInnerTexts()).toContainEqual(
      expect.stringContaining('order.processing'),
    )
    await page.context().close()
  })

  test('shows new requests while it is open, and keeps them back while it is paused', async () => {
    const page = await consoles.open('')
    const first = page.locator('.row').first()
    await first.waitFor()
    await page.keyboard.press('p')
    await server.request('/status?while=paused')
    await page.getByRole('button', { name: 'Resume · 1' }).click()
    await row(page, '/status?while=paused').waitFor()
    await page.context().close()
  })

  test('moves the clock, delivers orders and pays: with buttons', async () => {
    const byHand = await consoles.world()
    await consoles.control('PUT', `/pace?world=${byHand.name}`, { payouts: 'manual', orders: 'manual' })
    await byHand.post('/api/v1/orders', DELAYED_ORDER)
    await byHand.post('/api/v1/payouts', PAYOUT)
    const page = await consoles.open(`#money?world=${byHand.name}`)
    await page.getByRole('button', { name: 'Deliver', exact: true }).click()
    await page.getByText('Delivered order 1', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Advance', exact: true }).click()
    await page.getByText('Payout one: advance').waitFor()
    await page.getByLabel('Amount for wallet 1').fill('12.5')
    await page.getByRole('button', { name: 'Fund' }).first().click()
    await page.getByText('Funded wallet 1').waitFor()
    await page.getByRole('link', { name: 'Worlds' }).click()
    // Until the list of worlds is there, the buttons below it move.
    await page.getByRole('button', { name: `Drop ${byHand.name}` }).waitFor()
    await page.getByRole('button', { name: 'Advance the clock by 1 day' }).click()
    await page.getByText('Happened by the last move').waitFor()
    await page.context().close()
  })

  test('shows what requests and receivers hold as text', async () => {
    for (const place of [`requests?world=${world}&id=5&of=${world}`, `money?world=${world}`, `events?world=${world}`]) {
      const page = await consoles.open(`#${place}`)
      await page.getByText('<img src=x onerror=alert(1)>', { exact: false }).first().waitFor({ state: 'attached' })
      expect(await page.locator('img').count()).toBe(0)
      expect(await page.locator('main').textContent()).not.toMatch(/(?!\s)[\p{Cc}\p{Bidi_Control}]/u)
      await page.context().close()
    }
  })

  test('shows names as they are written: with joiners, which are no control characters', async () => {
    const written = await consoles.world()
    const name = { beneficiary_first_name: '👩\u200d💻', beneficiary_last_name: 'نمی\u200cدانم\u202e' }
    await written.post('/api/v1/payouts', { ...PAYOUT, ...name })
    const page = await consoles.open(`#money?world=${written.name}`)
    await page.getByText('👩\u200d💻 نمی\u200cدانم\\u202e').first().waitFor()
    await page.context().close()
  })

  test('has no violation of axe on a request', async () => {
    const page = await consoles.open(`#requests?world=${world}&id=3&of=${world}`)
    await page.locator('.ledger').waitFor()
    expect(await violationsIn(page)).toEqual([])
    await page.context().close()
  })

  test('no page has logged an error, or asked another host', () => {
    expect(consoles.problems).toEqual([])
  })
})
