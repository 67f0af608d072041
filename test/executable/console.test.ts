import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { currentIsShown, hasBrowser } from '../browser.ts'
import { againstBinary, type StartedServer, startServer } from '../harness.ts'
import { ConsoleBrowser, DELAYED_ORDER, PAYOUT, TOKEN } from '../sandbox/chromium.ts'

/** The console of the executable in a real browser. Skipped where Chromium is not installed. */

setDefaultTimeout(60_000)

let server: StartedServer
let consoles: ConsoleBrowser

const row = (page: Page, text: string) => page.locator('.row', { hasText: text }).first()

describe.if(hasBrowser && againstBinary)('The console in Chromium', () => {
  let world: string
  beforeAll(async () => {
    server = await startServer('--sandbox-token', TOKEN, '--rate-limit', 'off')
    consoles = await ConsoleBrowser.launch(server.url)
    world = await consoles.filledWorld()
  })
  afterEach(async () => {
    await Promise.all(consoles.browser.contexts().map((context) => context.close()))
  })
  afterAll(async () => {
    await consoles.close()
    await server.stop()
  })

  test('asks for the token once', async () => {
    const context = await consoles.browser.newContext()
    const page = await context.newPage()
    await page.goto(`${server.url}/_sandbox/console#requests?world=${world}`)
    await page.getByLabel('Token').fill(TOKEN)
    await page.keyboard.press('Enter')
    await row(page, '/api/v1/orders').waitFor()
    await page.reload()
    await row(page, '/api/v1/orders').waitFor()
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
  })

  test('opens at an address that was cut inside an escape', async () => {
    const page = await consoles.open('#requests/%zz')
    await page.getByLabel('Search requests').waitFor()
  })

  test('shows the row changes, ledger entries and events of an order, and sends it again with a fault', async () => {
    const page = await consoles.open(`#requests?world=${world}`)
    await page.getByLabel('Search requests').fill('method:post path:/api/v1/orders')
    await page.locator('.row').last().click()
    const changed = page.getByRole('region', { name: 'Changes of the request' })
    await changed.getByText('Order 1: 2 vouchers of Kettle & Crumb India, delivered').waitFor()
    await changed.getByText('Wallet 3 pays 230.10 INR').waitFor()
    const posted = page.getByRole('region', { name: 'Ledger', exact: true })
    await posted.getByText('✓').first().waitFor()
    expect(await posted.textContent()).toContain('-230.10 INR')
    expect(await page.getByRole('region', { name: 'Rows changed' }).textContent()).toContain('orders')
    const caused = page.getByRole('region', { name: 'Events and deliveries' })
    await caused.getByRole('strong').filter({ hasText: 'order.delivered' }).waitFor()
    expect(await caused.textContent()).toContain('delivered 200 signature verifies')
    await page.getByRole('link', { name: 'Edit and send' }).click()
    await page.getByLabel('X-Sandbox-Fault').fill('orders.product_not_found')
    await page.getByRole('button', { name: /^Send in / }).click()
    await page.getByRole('button', { name: 'Open the request' }).click()
    await page
      .getByRole('region', { name: /^Request \d+ of/ })
      .getByText('fault: orders.product_not_found')
      .waitFor()
  })

  test('shows the rows of a request before and after it', async () => {
    const looked = await consoles.world()
    await looked.post('/api/v1/payouts', PAYOUT)
    const page = await consoles.open(`#requests?world=${looked.name}`)
    const rows = page.getByRole('region', { name: 'Rows changed' })
    await row(page, '/api/v1/payouts').click()
    const wallet = rows.getByRole('listitem').filter({ hasText: 'Wallet 1' })
    await wallet.locator('summary').click()
    await wallet.getByText('amount_minor').waitFor()
    expect(await wallet.locator('tbody tr').filter({ hasText: 'amount_minor' }).allInnerTexts()).toEqual([
      'amount_minor\t10000000\t9998985',
    ])
  })

  test('shows amounts of each currency with the decimals that it has', async () => {
    const rich = await consoles.world()
    const currencies = await rich.read<{ currency: string; precision: number }[]>('/api/v1/currencies')
    expect(currencies).toHaveLength(155)
    const wallets = currencies.map(({ currency, precision }, index) => {
      const digits = precision === 0 ? '1' : `1.${'4'.repeat(precision)}`
      return { id: index + 6, currency, funded: 9_000 + Number(digits), words: `9,00${digits} ${currency}` }
    })
    const steps = wallets.flatMap(({ id, currency, funded }) => [
      { method: 'POST', path: '/_sandbox/wallets', body: { currency } },
      { method: 'POST', path: `/_sandbox/wallets/${id}/fund`, body: { amount: funded } },
    ])
    await consoles.control('PUT', `/scenario?world=${rich.name}`, { steps })
    const page = await consoles.open(`#money?world=${rich.name}`)
    const list = page.getByRole('region', { name: `Wallets of ${rich.name}`, exact: true })
    const shown: string[] = []
    for (const first of [1, 51, 101, 151]) {
      await list.getByText(`${first} to ${Math.min(first + 49, 160)} of 160`).waitFor()
      shown.push(...(await list.locator('[data-name="amount"]').allInnerTexts()))
      if (first < 151) await list.getByRole('button', { name: 'Next page of wallets' }).click()
    }
    expect(shown.filter((text) => text.startsWith('9,001'))).toEqual(wallets.map(({ words }) => words))
    const ledger = page.getByRole('region', { name: 'Ledger entries' })
    const booked = await ledger.locator('tbody td.mono').allInnerTexts()
    expect(booked.filter((text) => text.startsWith('9,001')).sort()).toEqual(wallets.map(({ words }) => words).sort())
    expect(booked.filter((text) => text.startsWith('-9,001')).sort()).toEqual(
      wallets.map(({ words }) => `-${words}`).sort(),
    )
  })

  test('shows the next due work, also deliveries, and opens it', async () => {
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
    await page.getByRole('button', { name: 'Skip to next' }).click()
    await clock.getByText('What the last move did').waitFor()
    expect(await clock.getByRole('listitem').allInnerTexts()).toContainEqual(
      expect.stringContaining('order.processing'),
    )
  })

  test('shows new requests while it is open, and keeps them back while it is paused', async () => {
    const page = await consoles.open('')
    const first = page.locator('.row').first()
    await first.waitFor()
    await page.keyboard.press('p')
    await server.request('/status?while=paused')
    await page.getByRole('button', { name: 'Resume · 1' }).click()
    await row(page, '/status?while=paused').waitFor()
  })

  test('draws the newest requests, more on demand, and finds all', async () => {
    const busy = await consoles.world()
    await Promise.all(Array.from({ length: 510 }, () => busy.get('/api/v1/countries/1')))
    const page = await consoles.open(`#requests?world=${busy.name}`)
    await page.getByText('511 requests').waitFor()
    expect(await page.locator('.row').count()).toBe(500)
    await page.getByRole('button', { name: 'Show more of 511' }).click()
    await row(page, '/auth/login').waitFor()
    await page.getByLabel('Search requests').fill('/auth/login')
    await page.getByText('1 of 511 requests').waitFor()
  })

  test('moves the clock, delivers orders and completes payouts with buttons', async () => {
    const byHand = await consoles.world()
    await consoles.control('PUT', `/pace?world=${byHand.name}`, { payouts: 'manual', orders: 'manual' })
    await byHand.post('/api/v1/orders', DELAYED_ORDER)
    await byHand.post('/api/v1/payouts', PAYOUT)
    const page = await consoles.open(`#money?world=${byHand.name}`)
    await page.getByRole('button', { name: 'Deliver', exact: true }).click()
    await page.getByText('Order 1: Deliver', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Advance', exact: true }).click()
    await page.getByText('Payout one: Advance').waitFor()
    await page.getByLabel('Amount for wallet 1').fill('12.5')
    await page.getByRole('button', { name: 'Fund' }).first().click()
    await page.getByText('Funded wallet 1').waitFor()
    await page.getByRole('link', { name: 'Worlds' }).click()
    // The buttons move until the list of worlds above them is loaded.
    await page.getByRole('button', { name: `Drop ${byHand.name}` }).waitFor()
    await page.getByRole('button', { name: 'Advance the clock by 1 day' }).click()
    await page.getByText('What the last move did').waitFor()
  })

  test('refunds an order, before its delivery and after it, in the currency of the wallet', async () => {
    const buyer = await consoles.world()
    await consoles.control('PUT', `/pace?world=${buyer.name}`, { orders: 'manual' })
    await buyer.post('/api/v1/orders', DELAYED_ORDER)
    await buyer.post('/api/v1/orders', { product_id: 1, denomination: 100, quantity: 2, wallet_id: 1 })
    const page = await consoles.open(`#money?world=${buyer.name}`)
    const delivered = page.locator('#order-2')
    await delivered.getByText(/^[\d.]+ USD$/).waitFor()
    await delivered.getByRole('button', { name: 'Refund', exact: true }).click()
    await delivered.getByText('refunded', { exact: true }).waitFor()
    expect(await delivered.getByRole('button').count()).toBe(0)
    const undelivered = page.locator('#order-1')
    await undelivered.getByRole('button', { name: 'Fail and refund' }).click()
    await undelivered.getByText('refunded', { exact: true }).waitFor()
    await undelivered.getByText('FAILED', { exact: true }).waitFor()
    await page.getByText('100,000.00 USD').first().waitFor()
  })

  test('narrows the records of a world and sums what is left, as the desk does', async () => {
    const narrowed = await consoles.world()
    await consoles.control('PUT', `/pace?world=${narrowed.name}`, { payouts: 'manual' })
    for (const reference_id of ['rent-1', 'rent-2', 'food-1'])
      await narrowed.make('/api/v1/payouts', { ...PAYOUT, reference_id })
    const page = await consoles.open(`#money?world=${narrowed.name}`)
    const payouts = page.getByRole('region', { name: 'Payouts', exact: true })
    const sums = payouts.getByRole('group', { name: 'Sums: Payouts' })
    await sums.getByText('30.00 USD').waitFor()
    await payouts.getByLabel('Search').fill('rent')
    await page.keyboard.press('Enter')
    await sums.getByText('20.00 USD').waitFor()
    await payouts.getByLabel('Search').fill('nothing-of-this')
    await page.keyboard.press('Enter')
    await payouts.getByText('Nothing matches.').waitFor()
    expect(await payouts.getByLabel('Status').locator('option').allInnerTexts()).toEqual(['all', 'created'])
    expect(await payouts.locator('tbody').count()).toBe(0)
  })

  test('narrows webhooks, messages and events in the same way, and opens their contents below them', async () => {
    const page = await consoles.open(`#events?world=${world}`)
    const list = (name: string) => page.getByRole('region', { name, exact: true })
    const events = list(`Events of ${world}`)
    for (const [found, search] of [
      [list('Webhooks'), 'sbx_'],
      [list('Inbox'), 'payout.created'],
      [events, 'payout.created'],
    ] as const) {
      await found.getByLabel('Search').fill(search)
      await page.keyboard.press('Enter')
      await found.locator('header').getByText('1', { exact: true }).waitFor()
    }
    await events.getByText('Data', { exact: true }).click()
    await events.getByRole('region', { name: /^Data of evt_/ }).waitFor()
    await list('Webhooks').getByText('delivered 200').first().waitFor()
  })

  test('shows the content of requests and receivers as text', async () => {
    for (const place of [`requests?world=${world}&id=5&of=${world}`, `money?world=${world}`, `events?world=${world}`]) {
      const page = await consoles.open(`#${place}`)
      await page.getByText('<img src=x onerror=alert(1)>', { exact: false }).first().waitFor({ state: 'attached' })
      expect(await page.locator('img').count()).toBe(0)
      expect(await page.locator('main').textContent()).not.toMatch(/(?!\s)[\p{Cc}\p{Bidi_Control}]/u)
    }
  })

  test('loses a response by a click, and shows the double purchase', async () => {
    const buyer = await consoles.world()
    const page = await consoles.open(`#faults?world=${buyer.name}`)
    await page.getByRole('combobox', { name: /^Requests/ }).selectOption('POST /api/v1/orders')
    await page.getByRole('button', { name: /^Inject into .*: Lose the response$/ }).click()
    await page.getByRole('link', { name: '1 fault active' }).waitFor()
    const order = { product_id: 1, denomination: 100, quantity: 1 }
    expect(await buyer.post('/api/v1/orders', order).then(String, () => 'lost')).toBe('lost')
    expect((await buyer.post('/api/v1/orders', order)).status).toBe(200)
    await page.getByRole('link', { name: 'Money' }).click()
    await page.locator('#order-2').waitFor()
    await page
      .locator('#order-1')
      .getByRole('link', { name: /^request / })
      .click()
    await page.getByText('fault: response lost').first().waitFor()
  })

  test('registers an inbox as a webhook by a request, and sees it delivered', async () => {
    const hooked = await consoles.world()
    const page = await consoles.open(`#events?world=${hooked.name}`)
    await page.getByText('No client of this world has a webhook').waitFor()
    await page.getByRole('link', { name: 'Register a webhook' }).click()
    await page.getByLabel('Test value').selectOption('webhook: an inbox of this world')
    await page.getByRole('button', { name: /^Send in / }).click()
    await page
      .getByRole('region', { name: 'Body of the response' })
      .getByText(/"whsec_/)
      .waitFor()
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('button', { name: 'Ping' }).click()
    await page.getByText('delivered 200').waitFor()
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No client of this world has a webhook').waitFor()
  })

  test('sends a request of the log with another body', async () => {
    const edited = await consoles.world()
    await edited.post('/api/v1/products/1/charges', { denomination: 100, quantity: 2 })
    const page = await consoles.open(`#requests?world=${edited.name}&id=2&of=${edited.name}`)
    await page.getByRole('link', { name: 'Edit and send' }).click()
    await page.getByRole('textbox', { name: 'Body' }).fill('{"denomination":100,"quantity":0}')
    await page.getByRole('button', { name: /^Send in / }).click()
    const response = page.getByRole('region', { name: 'Body of the response' })
    await response.getByText('quantity must be at least 1').waitFor()
    await page.getByRole('button', { name: 'Open the request' }).click()
    const refused = page.getByRole('region', { name: 'Request 3 of' })
    await refused.getByText('correct the fields in the message').waitFor()
    expect(await refused.getByRole('link', { name: 'What to do' }).getAttribute('href')).toBe(
      '/docs/guides/errors#validation',
    )
    await refused.getByRole('link', { name: 'Show product 1' }).click()
    await row(page, '/api/v1/products/1/charges').first().waitFor()
  })

  test('finds a place with Ctrl+K, and names its keys', async () => {
    const page = await consoles.open('')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('cancel a payout')
    await page.getByRole('option', { name: 'Cancel a payout' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('combobox', { name: 'Operation' }).waitFor()
    expect(page.url()).toMatch(/#send\?world=[\w-]+&operation=cancelPayout$/)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Next request').waitFor()
  })

  test('saves what is filtered as a scenario of one world', async () => {
    const page = await consoles.open(`#requests?world=${world}&q=method:post path:/api/v1/webhooks`)
    await row(page, '/api/v1/webhooks').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as scenario' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`${world}.json`)
    expect(await Bun.file(await download.path()).json()).toEqual({
      steps: [{ method: 'POST', path: '/api/v1/webhooks', body: expect.objectContaining({ events: ['*'] }) }],
    })
    await page.getByText('Saved as a scenario').waitFor()
  })

  test('keeps the filter in the address, and goes from the search to the results', async () => {
    const page = await consoles.open(`#requests?world=${world}&q=status%3A4xx`)
    await page.locator('.row').first().waitFor()
    expect(await page.locator('.row .status').allInnerTexts()).toContain('429')
    expect(await page.locator('.list').textContent()).toContain('Rate limit exceeded')
    await page.getByLabel('Search requests').fill('path:/payouts')
    await page.getByLabel('Search requests').press('Enter')
    await page.getByRole('heading', { name: 'POST /api/v1/payouts' }).waitFor()
    expect(page.url()).toContain('q=path%3A%2Fpayouts')
  })

  test('marks dry runs, in the list and in a request, and finds them', async () => {
    const dryRun = await consoles.world()
    const order = { product_id: 1, denomination: 100, quantity: 1 }
    await dryRun.post('/api/v1/orders', order, { 'x-dry-run': 'true' })
    await dryRun.post('/api/v1/payouts', PAYOUT)
    const page = await consoles.open(`#requests?world=${dryRun.name}&q=dry_run%3Atrue`)
    await row(page, '/api/v1/orders').getByText('dry run').click()
    expect(await row(page, '/api/v1/payouts').count()).toBe(0)
    const request = page.getByRole('region', { name: /^Request \d+ of/ })
    await request.getByText('dry run', { exact: true }).waitFor()
    await page.getByLabel('Search requests').fill('dry_run:false')
    await row(page, '/api/v1/payouts').waitFor()
    expect(await row(page, '/api/v1/orders').count()).toBe(0)
  })

  test('shows the whole error of a row beside an open request, 1280 pixels wide', async () => {
    const page = await consoles.open(`#requests?world=${world}&q=status%3A4xx`)
    const refused = row(page, 'charges')
    await refused.click()
    await page.getByRole('region', { name: /^Request \d+ of/ }).waitFor()
    const outcome = refused.locator('.outcome')
    expect(await outcome.textContent()).toContain('rate_limited Rate limit exceeded. Retry after')
    expect(await outcome.evaluate((span) => span.scrollWidth <= span.clientWidth)).toBe(true)
  })

  test('acts on the world of the open request, then on the one that was looked at or used last, and names it', async () => {
    const other = await consoles.world()
    await other.get('/api/v1/countries/1')
    const page = await consoles.open('')
    await row(page, '/api/v1/countries/1').waitFor()
    await page.getByRole('link', { name: 'Worlds' }).click()
    await page.getByRole('heading', { name: `Clock of ${other.name}` }).waitFor()
    await page.goBack()
    await row(page, '/api/v1/countries/1').click()
    await page.getByRole('region', { name: `Request 2 of ${other.name}` }).waitFor()
    await page.getByRole('link', { name: 'Faults' }).click()
    const lose = page.getByRole('button', { name: `Inject into ${other.name}: Lose the response` })
    expect(await lose.textContent()).toBe(`Inject into ${other.name}`)
    await lose.click()
    await page.getByRole('link', { name: `1 fault active in ${other.name}` }).waitFor()
    await page.getByRole('combobox', { name: 'World' }).selectOption({ label: other.name })
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.getByRole('combobox', { name: 'World' }).selectOption({ label: 'All worlds' })
    await page.getByRole('link', { name: 'Send' }).click()
    await page.getByRole('button', { name: `Send in ${other.name}` }).waitFor()
    await page.getByRole('link', { name: 'Worlds' }).click()
    await page.getByRole('heading', { name: `Clock of ${other.name}` }).waitFor()
    await page.getByRole('link', { name: 'Orders & money' }).click()
    await page.getByRole('heading', { name: `Wallets of ${other.name}` }).waitFor()
    await consoles.control('DELETE', `/worlds/${other.name}`)
    await page.evaluate("location.hash = 'requests'")
    await page.locator(`nav a[href*=send]:not([href$=${other.name}])`).click()
    await page.getByRole('button', { name: /^Send in / }).waitFor()
  })

  test('scrolls the menu of a narrow window to the current page', async () => {
    const page = await consoles.open('', { viewport: { width: 390, height: 800 } })
    for (const [place, title] of [
      ['worlds', 'Worlds'],
      ['requests', 'Requests'],
      ['money', 'Orders & money'],
    ] as const) {
      await page.evaluate(`location.hash = '${place}?world=${world}'`)
      while (!(await page.evaluate(currentIsShown(title)))) await Bun.sleep(10)
    }
  })

  test('finds a fault with Ctrl+K by what it does', async () => {
    const page = await consoles.open(`#requests?world=${world}`)
    await page.keyboard.press('Control+k')
    await page.getByRole('searchbox', { name: 'Find' }).fill('lose')
    await page.getByRole('option', { name: /^Lose the response/ }).click()
    await page.getByRole('button', { name: `Inject into ${world}: Lose the response` }).waitFor()
  })

  test('says of a write that was sent again that it was, and whether it was done twice', async () => {
    const resending = await consoles.world()
    await consoles.control('POST', `/faults?world=${resending.name}`, { drop: true, when: 'after', times: 1 })
    const order = { product_id: 1, denomination: 100, quantity: 1 }
    await resending.post('/api/v1/orders', order).catch(() => undefined)
    await resending.post('/api/v1/orders', order)
    const page = await consoles.open(`#requests?world=${resending.name}`)
    await page.locator('.row', { hasText: 'sent again' }).click()
    const request = page.getByRole('region', { name: /^Request 3 of/ })
    await request.getByText(/^The same request again \d+ ms later.* It was done twice\./).waitFor()
    await request.getByRole('link', { name: 'What your client does on its own' }).waitFor()
    await request.getByRole('link', { name: 'Show request 2' }).click()
    await page.getByRole('region', { name: /^Request 2 of/ }).waitFor()
  })

  test('says that a world does not exist without requesting it, and shows nothing from before a reset', async () => {
    const page = await consoles.open('#money?world=nope')
    await page.getByRole('heading', { name: 'There is no world nope' }).waitFor()
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/_sandbox/worlds')),
      page.getByRole('button', { name: 'Check again' }).click(),
    ])
    expect(urls.filter((url) => url.includes('nope'))).toEqual([])
    const reset = await consoles.world()
    await reset.get('/api/v1/wallets')
    await page.evaluate(`location.hash = 'requests?world=${reset.name}'`)
    await row(page, '/api/v1/wallets').waitFor()
    await consoles.control('POST', `/reset?world=${reset.name}`)
    await consoles.control('POST', `/requests?world=${reset.name}`, { method: 'GET', path: '/api/v1/countries/1' })
    await row(page, '/api/v1/countries/1').waitFor()
    expect(await row(page, '/api/v1/wallets').count()).toBe(0)
  })

  test('no page has logged an error, or asked another host', () => {
    expect(consoles.problems).toEqual([])
  })
})
