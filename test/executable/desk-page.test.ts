import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { currentIsShown, faultsOf, hasBrowser, startBrowser, VIEWS, watch } from '../browser.ts'
import { temporaryFolder } from '../program.ts'
import { Desk } from './desk.ts'
import { type Customer, Operator } from './live.ts'

/** The desk in a real browser (contract C20). Skipped where Chromium is not installed. */

setDefaultTimeout(60_000)

const MONTH = new Date().toISOString().slice(0, 7)
const shown = (amount: number): string => amount.toLocaleString('en', { minimumFractionDigits: 2 })
/** In pixels, between the margins of a browser. */
const A4_WIDTH = 718
const PAGES = [
  ...['#today', '#payouts', '#orders/1', '#clients', '#clients/acme', '#wallets/1', '#stock', '#products/1', '#audit'],
  ...['#search?search=bonus', '#search?search=nothing-of-this'],
  ...['#statement', `#statement?client=acme&month=${MONTH}`, '#reconcile/acme'],
]

describe.skipIf(!hasBrowser)('the desk, in Chromium', () => {
  const folder = temporaryFolder()
  const operator = new Operator(folder.path)
  const wrong: string[] = []
  let browser: Browser
  let stop: () => Promise<unknown>
  let desk: Desk
  let customer: Customer
  let page: Page

  beforeAll(async () => {
    browser = await startBrowser()
    const { server, ...trading } = await operator.trading()
    stop = () => server.stop()
    customer = trading.customer
    await operator.json('wallet', 'fund', '1', '5000')
    desk = await Desk.of(operator)
    page = await browser.newPage()
    page.setDefaultTimeout(15_000)
    watch(page, desk.url, wrong)
    await page.goto(desk.address)
    await page.getByRole('heading', { name: 'Payouts that wait' }).waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await desk?.running.stop()
    await stop?.()
    folder[Symbol.dispose]()
  })

  /** The menu leads to Today, which is read again. */
  const today = async (): Promise<void> => {
    await page.goto(`${desk.url}/#today`)
    await page.reload()
    await page.getByRole('heading', { name: 'Payouts that wait' }).waitFor()
  }
  const card = (name: string) => page.getByRole('region', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  /** Confirms the announced effect of an act, and returns the announcement. */
  const confirm = async (): Promise<string> => {
    await dialog().getByRole('button', { name: 'Show what it does' }).click()
    await dialog().getByText('Nothing has been done yet. Do it?').waitFor()
    const said = (await dialog().textContent()) ?? ''
    await dialog().getByRole('button', { name: 'Do it' }).click()
    await dialog().getByRole('button', { name: 'Close' }).click()
    await dialog().waitFor({ state: 'detached' })
    return said
  }

  test('has no token in its address once it is open, and refuses other browsers', async () => {
    expect(page.url()).toBe(`${desk.url}/`)
    const stranger = await browser.newPage()
    expect((await stranger.goto(desk.address))?.status()).toBe(403)
    expect((await stranger.goto(`${desk.url}/#today`))?.status()).toBe(403)
    await stranger.close()
  })

  test('finds bonus-1 and shows its history', async () => {
    const { id } = await customer.payout('bonus-1')
    await operator.json('payouts', 'advance', id, '--to', 'processing')
    await operator.json('payouts', 'fail', id, '--reason', 'The account is closed')
    await page.keyboard.press('/')
    await page.keyboard.type('bonus-1')
    await page.keyboard.press('Enter')
    await card('Payouts').getByRole('link', { name: id }).click()
    const happened = await card('History').textContent()
    for (const said of ['created', 'by acme', 'processing', 'failed', 'The account is closed'])
      expect(happened).toContain(said)
    expect(await card('Ledger').textContent()).toContain('✓')
    await card('Events and deliveries').getByText('payout.failed').waitFor()
    expect(await card('Audit').textContent()).toContain('payouts fail')
  })

  test('has one button for an act, and another word for the way out', async () => {
    const { id } = await customer.payout('kept')
    await page.goto(`${desk.url}/#payouts/${id}`)
    await page.getByRole('button', { name: /^Cancel payout/ }).click()
    await dialog().getByRole('heading', { name: 'Cancel payout' }).waitFor()
    expect(await dialog().locator('.buttons').getByRole('button').allInnerTexts()).toEqual([
      'Show what it does',
      'Close',
    ])
    await dialog().getByRole('button', { name: 'Show what it does' }).click()
    await dialog().getByRole('button', { name: 'Do it' }).waitFor()
    expect(await dialog().locator('.buttons').getByRole('button').allInnerTexts()).toEqual(['Do it', 'Back', 'Close'])
    await dialog().getByRole('button', { name: 'Close' }).click()
    expect(await operator.json('payouts', 'show', id)).toMatchObject({ status: 'created' })
    await operator.json('payouts', 'cancel', id)
  })

  test('completes ten payouts at once, after it has listed them', async () => {
    for (let number = 1; number <= 10; number += 1) await customer.payout(`p-${number}`)
    await today()
    const waiting = card('Payouts that wait')
    await waiting.getByRole('button', { name: 'Choose all 10' }).click()
    await waiting.getByRole('button', { name: 'Mark as paid 10 records' }).click()
    const said = await confirm()
    expect(said).toContain('Would be done: 10 of 10')
    for (let number = 1; number <= 10; number += 1) expect(said).toContain(`p-${number} · ada@example.com · 100.00 USD`)
    expect(said).toContain('1acme101,000.00 USD1,015.00 USD')
    await waiting.getByText('No payout waits.').waitFor()
    const completed = await operator.json<object[]>('payouts', 'list', '--status', 'completed')
    expect(completed).toHaveLength(10)
  })

  test('counts several as they are done, keeps the buttons in sight, and lists last those that are refused', async () => {
    for (let number = 1; number <= 12; number += 1) await customer.payout(`many-${number}`)
    await today()
    const waiting = card('Payouts that wait')
    await waiting.getByRole('button', { name: 'Choose all 12' }).click()
    await waiting.getByRole('button', { name: 'Mark as paid 12 records' }).click()
    const [other] = await operator.json<{ id: string; reference_id: string }[]>('payouts', 'list', '--limit', '1')
    await operator.json('payouts', 'cancel', other?.id ?? '')
    await dialog().getByRole('button', { name: 'Show what it does' }).click()
    await dialog().getByText('Would be done: 11 of 12, refused: 1.').waitFor()
    const shown = (await dialog().textContent()) ?? ''
    expect(shown.indexOf(other?.reference_id ?? '')).toBeGreaterThan(shown.indexOf('Refused'))
    expect(await dialog().locator('details').getAttribute('open')).toBeNull()
    await dialog().locator('summary').click()
    await dialog().locator('.ended > li').first().scrollIntoViewIfNeeded()
    expect(await dialog().getByRole('button', { name: 'Do it' }).isVisible()).toBe(true)
    expect(await faultsOf(page)).toEqual([])
    await page.evaluate(`globalThis.reached = []
      new MutationObserver(() => {
        const bar = document.querySelector('dialog progress')
        if (bar) reached.push(bar.parentElement.textContent.trim())
      }).observe(document.querySelector('dialog'), { childList: true, subtree: true, characterData: true })`)
    await dialog().getByRole('button', { name: 'Do it' }).click()
    await dialog().getByText('Done: 11 of 12, refused: 1.').waitFor()
    const reached = await page.evaluate<string[]>('reached')
    expect(reached.every((text) => /^\d+ of 12$/.test(text))).toBe(true)
    expect(reached[0]).toBe('0 of 12')
    await dialog().getByRole('button', { name: 'Close' }).click()
    await waiting.getByText('No payout waits.').waitFor()
  })

  test("pays those of the bank's list", async () => {
    for (const name of ['b-1', 'b-2', 'b-3']) await customer.payout(name)
    await today()
    const waiting = card('Payouts that wait')
    await waiting.getByText('Choose from a list').click()
    const list = waiting.getByLabel('Ids or references, one on each line, or a bank')
    await list.fill('b-9')
    await waiting.getByRole('button', { name: 'Choose them' }).click()
    await waiting.getByText('line 1: b-9: no payout').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await list.fill(Array.from({ length: 30 }, (_, index) => `foreign-${index}\u202e`).join('\n'))
    await waiting.getByRole('button', { name: 'Choose them' }).click()
    await waiting.getByText('and 10 more lines').waitFor()
    expect(await waiting.getByText('no payout').allTextContents()).toHaveLength(20)
    expect(await waiting.textContent()).not.toContain('\u202e')
    await waiting
      .getByLabel('Or a file of them')
      .setInputFiles(operator.file('paid.csv', 'Date,Text,Sum\n2026-11-02,b-1,100\n2026-11-02,b-2,90\n,b-3,100\n'))
    await waiting.getByLabel('Column of the amount').fill('Sum')
    await waiting.getByRole('button', { name: 'Choose them' }).click()
    await waiting.getByText('2 payouts chosen by Text.').waitFor()
    await waiting.getByText('line 3: b-2 is a payout of 100.00 USD, and the list says 90').waitFor()
    await waiting.getByRole('button', { name: 'Mark as paid 2 records' }).click()
    expect(await confirm()).toContain('Would be done: 2 of 2')
    const open = await operator.json<object[]>('payouts', 'list', '--status', 'created')
    expect(open).toMatchObject([{ reference_id: 'b-2' }])
    await operator.json('payouts', 'cancel', (open as { id: string }[])[0]?.id ?? '')
  })

  test("compares a client's own list with the ledger: counts first, 100 findings at a time, all of them as CSV", async () => {
    await page.goto(`${desk.url}/#clients/acme`)
    await page.getByRole('link', { name: 'Reconcile with its own list' }).click()
    await page.getByLabel(/^Month/).fill(MONTH)
    const lines = Array.from({ length: 1_101 }, (_, index) => `mine-${index},order,1,USD`)
    const list = operator.file('list.csv', `reference,type,amount,currency\nb-1,payout,90,USD\n${lines.join('\n')}\n`)
    await page.getByLabel("The client's list").setInputFiles(list)
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('0 match.').waitFor()
    const figures = await page.locator('.figures > div').allTextContents()
    expect(figures.slice(0, 3)).toEqual(['Differs1', 'Counted twice0', 'Only the client has1,101'])
    expect(await card('Differs').locator('tbody tr').count()).toBe(1)
    const theirs = card('Only the client has')
    expect(await theirs.locator('tbody tr').count()).toBe(100)
    await theirs.getByRole('button', { name: 'Last page' }).click()
    await theirs.getByText('1,101 to 1,101 of 1,101').waitFor()
    expect(await theirs.locator('tbody tr').allTextContents()).toEqual([expect.stringContaining('mine-1100')])
    expect(await faultsOf(page)).toEqual([])
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV of all findings' }).click()
    const command = ['reconcile', 'acme', list, '--month', MONTH, '--csv']
    expect(await Bun.file(await (await saved).path()).text()).toBe((await operator.run(command)).stdout)
  })

  test('refunds one voucher of an order, and shows the new balance of the wallet', async () => {
    const { id } = await customer.order(1, 2)
    await page.goto(`${desk.url}/#orders/${id}`)
    await page.getByRole('button', { name: /^Refund vouchers/ }).click()
    await dialog()
      .getByLabel(/^Vouchers/)
      .fill(`${id}-1`)
    const said = await confirm()
    const [balance] = await customer.wallet()
    expect(said).toContain(`Wallet 1 of acme receives 9.75 USD. Its balance is then ${shown(balance)} USD.`)
    await page.getByText('9.75 USD').first().waitFor()
    expect(await operator.json('orders', 'show', String(id))).toMatchObject({
      refunded_amount: 9.75,
      refunded_vouchers: [`${id}-1`],
    })
  })

  test('funds a wallet that runs low', async () => {
    await operator.json('wallet', 'threshold', '1', '10000')
    const [before] = await customer.wallet()
    await today()
    const low = card('Wallets below their threshold')
    await low.getByRole('button', { name: 'Add money wallet 1 · acme · ' }).click()
    await dialog()
      .getByLabel(/^Amount/)
      .fill('7000')
    expect(await confirm()).toContain(`receives 7,000.00 USD. Its balance is then ${shown(before + 7_000)} USD.`)
    await low.getByText('No wallet is below its threshold.').waitFor()
    expect((await customer.wallet())[0]).toBe(before + 7_000)
  })

  test('shows the changes of a catalog, removed products first, and imports nothing before somebody says so', async () => {
    const { products } = JSON.parse((await operator.run(['catalog', 'export'])).stdout) as { products: object[] }
    const [tea] = products
    const next = {
      products: [
        { ...tea, max_quantity: 3 },
        { ...tea, id: 9, name: 'Cocoa' },
      ],
    }
    await page.goto(`${desk.url}/#products`)
    await page.getByRole('button', { name: 'Import catalog' }).click()
    await dialog().getByLabel('File').setInputFiles(operator.file('next.json', next))
    await dialog().getByRole('button', { name: 'Show what it does' }).click()
    await dialog().getByText('Nothing has been done yet. Do it?').waitFor()
    const figures = await dialog().locator('.figures > div').allTextContents()
    expect(figures).toEqual(['Removed1', 'Changed1', 'Added1', 'Orders that wait for removed products0'])
    expect(await dialog().locator('.card h2').allTextContents()).toEqual(['Removed', 'Changed', 'Added'])
    expect(await faultsOf(page)).toEqual([])
    await dialog().getByRole('button', { name: 'Close' }).click()
    expect(JSON.parse((await operator.run(['catalog', 'export'])).stdout)).toMatchObject({ products })
  })

  test('switches one product off, in a form that has its present values', async () => {
    await page.goto(`${desk.url}/#products/2`)
    await page.getByRole('button', { name: /^Edit product/ }).click()
    expect(
      await dialog()
        .getByLabel(/^Denominations/)
        .inputValue(),
    ).toBe('10-50=2.5')
    await dialog()
      .getByLabel(/^On sale/)
      .selectOption('off')
    expect(await faultsOf(page)).toEqual([])
    await confirm()
    await card('Product 2').getByText('activeno').waitFor()
    const [{ after } = { after: {} }] = await operator.json<{ after: object }[]>('audit', 'list', '--limit', '1')
    expect(after).toEqual({ active: false })
    await operator.json('catalog', 'edit', '2', '--active', 'on')
  })

  test('prints the statement of a month without a cut line, and saves it as CSV', async () => {
    await page.getByRole('link', { name: 'Clients' }).click()
    await page.getByRole('link', { name: 'Statement' }).click()
    await page.getByLabel('Client', { exact: true }).fill('acme')
    await page.getByLabel('Month, in UTC').fill(MONTH)
    await page.getByRole('button', { name: 'Show' }).click()
    const statement = card(`Statement of acme, ${MONTH}`)
    const [sums, lines] = [statement.locator('table').nth(0), statement.locator('table').nth(1)]
    await sums.getByText('closing balance').waitFor()
    const movements = Number(await sums.locator('[data-name="movements"]').textContent())
    expect(await lines.locator('tbody tr').count()).toBe(Math.min(100, movements))
    await page.emulateMedia({ media: 'print' })
    await page.setViewportSize({ width: A4_WIDTH, height: 900 })
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
    const printed = await page.evaluate<{ text: string }>(`new Promise((resolve) => {
      window.print = () => {
        const rows = [...document.querySelectorAll('tbody tr')]
        resolve({
          count: rows.length,
          broken: rows.filter((row) => getComputedStyle(row).breakInside !== 'avoid').length,
          isTooWide: document.documentElement.scrollWidth > innerWidth,
          text: document.body.textContent,
        })
      }
      for (const button of document.querySelectorAll('button')) if (button.textContent === 'Print') button.click()
    })`)
    expect(printed).toMatchObject({ count: 1 + movements, broken: 0, isTooWide: false })
    expect(printed.text).toContain(`Statement of acme, ${MONTH}`)
    // A browser keeps only the rules that it knows.
    const rules = await page.evaluate<string>(
      '[...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).map(({ cssText }) => cssText).join(" ")',
    )
    expect(rules).toContain('"Page " counter(page) " of " counter(pages)')
    expect(await page.title()).toBe(`Statement of acme, ${MONTH} · Scrip desk`)
    expect(await page.getByLabel('Search', { exact: true }).count()).toBe(0)
    await page.emulateMedia({ media: 'screen' })
    await page.setViewportSize({ width: 1280, height: 900 })
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save statement as CSV' }).click()
    const path = await (await saved).path()
    expect(await Bun.file(path).text()).toBe(
      (await operator.run(['statement', 'acme', '--month', MONTH, '--csv'])).stdout,
    )
  })

  test('prints the name and address of --issuer above a statement, as text and on paper alone', async () => {
    const issuer = 'Rewards <b>GmbH</b>\u202e\nGasse 1, 1010 Wien'
    const place = `#statement?client=acme&month=${MONTH}`
    await page.goto(`${desk.url}/${place}`)
    await card(`Statement of acme, ${MONTH}`).getByText('closing balance').waitFor()
    expect(await page.locator('address').count()).toBe(0)
    await using own = await Desk.of(operator, { SCRIP_ISSUER: issuer })
    const other = await browser.newPage()
    await other.goto(own.address)
    await other.goto(`${own.url}/${place}`)
    const title = other.getByRole('heading', { name: `Statement of acme, ${MONTH}`, level: 2 })
    await title.waitFor()
    const address = other.locator('address')
    expect(await address.isVisible()).toBe(false)
    await other.emulateMedia({ media: 'print' })
    expect(await address.textContent()).toBe('Rewards <b>GmbH</b>\\u{202e}\nGasse 1, 1010 Wien')
    const [above, below] = [await address.boundingBox(), await title.boundingBox()]
    expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0)
    await other.goto(`${own.url}/#payouts`)
    await other.getByRole('heading', { name: 'Payouts', level: 2 }).waitFor()
    expect(await address.count()).toBe(0)
    await other.close()
  })

  test('explains why an act is refused and what to do, and offers another try', async () => {
    await page.goto(`${desk.url}/#wallets/1`)
    await page.getByRole('button', { name: /^Correct balance/ }).click()
    await dialog()
      .getByLabel(/^Amount/)
      .fill('-1000000')
    await dialog().getByRole('button', { name: 'Show what it does' }).click()
    await dialog().getByRole('alert').getByText('See scrip wallet list').waitFor()
    expect(await dialog().getByRole('button', { name: 'Do it' }).count()).toBe(0)
    await dialog().getByRole('button', { name: 'Back' }).click()
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  test('begins with the figures of the day, each a link to the records behind it', async () => {
    await customer.payout('waits')
    await today()
    const waits = card('Today').locator('.figures > div').filter({ hasText: 'Payouts that wait' })
    expect(await waits.textContent()).toMatch(/^Payouts that wait1100\.00 USDoldest \d{4}-\d\d-\d\d \d\d:\d\d$/)
    await waits.getByRole('link').click()
    await page.getByRole('button', { name: 'Save payouts as CSV' }).waitFor()
    expect(page.url()).toBe(`${desk.url}/#payouts?status=waiting`)
    expect(await card('Payouts').getByRole('group', { name: 'Payouts', exact: true }).locator('tbody').count()).toBe(1)
    expect(await card('Today').count()).toBe(0)
  })

  test('keeps a filter under a name in the browser, shows what it left again, and forgets it', async () => {
    await page.goto(`${desk.url}/#payouts?status=completed&search=p-1`)
    const kept = page.getByRole('group', { name: 'Kept filters of payouts' })
    await kept.getByLabel('Name of this filter').fill('Paid')
    await page.keyboard.press('Enter')
    await kept.getByRole('button', { name: 'Paid', exact: true, pressed: true }).waitFor()
    await page.goto(`${desk.url}/#payouts`)
    await page.reload()
    await kept.getByRole('button', { name: 'Paid', exact: true, pressed: false }).click()
    await kept.getByRole('button', { name: 'Paid', exact: true, pressed: true }).waitFor()
    expect(page.url()).toBe(`${desk.url}/#payouts?status=completed&search=p-1`)
    expect(await faultsOf(page)).toEqual([])
    await kept.getByRole('button', { name: 'Forget the filter Paid' }).click()
    await kept.getByLabel('Name of this filter').waitFor()
    expect(await kept.getByRole('button', { name: 'Paid' }).count()).toBe(0)
  })

  test('shows the balance of a wallet as a picture, and in words', async () => {
    await page.goto(`${desk.url}/#wallets/1`)
    await card('Balance').getByRole('img', { name: 'Balance' }).waitFor()
    const [balance] = await customer.wallet()
    expect(await card('Balance').textContent()).toContain(`now ${shown(balance)} USD`)
  })

  test('verifies the books', async () => {
    await today()
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('checks found nothing wrong').waitFor()
  })

  test('shows texts of clients as they are', async () => {
    const hostile = '<img src=x onerror=alert(1)>\u202e'
    await customer.post('/payouts', {
      ...{ reference_id: hostile, wallet_id: 1, amount: 1, currency: 'USD', beneficiary_email: 'eve@example.com' },
      ...{ beneficiary_first_name: hostile, beneficiary_last_name: 'Eve', description: hostile },
    })
    await today()
    await page.getByText('<img src=x onerror=alert(1)>\\u{202e}').first().waitFor()
  })

  test('shows the first ten that wait, and the others on demand', async () => {
    for (let number = 1; number <= 11; number += 1) await customer.payout(`q-${number}`)
    await today()
    const waiting = card('Payouts that wait')
    expect(await waiting.locator('tbody').count()).toBe(10)
    await waiting.getByRole('button', { name: '3 more of Payouts that wait' }).click()
    await waiting.getByText('q-11').waitFor()
    expect(await waiting.locator('tbody').count()).toBe(13)
  })

  test.each(PAGES)('%s is accessible in both themes, wide and narrow', async (place) => {
    for (const { colorScheme, width } of VIEWS) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      await page.goto(`${desk.url}/${place}`)
      await page.waitForLoadState('networkidle')
      await page.locator('.card').first().waitFor()
      expect({ place, colorScheme, width, faults: await faultsOf(page) }).toEqual({
        place,
        colorScheme,
        width,
        faults: [],
      })
    }
  })

  test('scrolls the menu of a narrow window to the current page', async () => {
    await page.setViewportSize({ width: 390, height: 900 })
    for (const name of ['Audit', 'Today', 'Stock']) {
      await page.goto(`${desk.url}/#${name.toLowerCase()}`)
      while (!(await page.evaluate(currentIsShown(name)))) await Bun.sleep(10)
    }
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('stays logged in when its page is closed, until it logs out', async () => {
    await using own = await Desk.of(operator)
    const context = await browser.newContext()
    await (await context.newPage()).goto(own.address)
    for (const opened of context.pages()) await opened.close()
    const again = await context.newPage()
    await again.goto(`${own.url}/`)
    await again.getByRole('heading', { name: 'Payouts that wait' }).waitFor()
    const [cookie] = await context.cookies()
    expect(cookie?.expires).toBeGreaterThan(0) // a cookie of one session of the browser has -1
    await again.getByRole('button', { name: 'Log out' }).click()
    await again.getByText('Press Enter in the terminal that runs scrip desk').waitFor()
    expect(await context.cookies()).toEqual([])
    await context.close()
  })

  test('asks no other host, and has no error of its own', () => expect(wrong).toEqual([]))
})
