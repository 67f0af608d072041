import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { open, startBrowser } from '../test/browser.ts'
import { catalogEntry } from '../test/catalog/entry.ts'
import { temporaryFolder } from '../test/program.ts'
import { Company, type Customer } from '../test/rigs/year/company.ts'

/**
 * Walks through docs/operate/desk.md in Chromium, and takes the pictures of that guide: `USER=ada bun docs/desk.ts [FOLDER]`. The clock of
 * the company stands still. Every name that the guide prints in bold has to be pressed, filled in or seen.
 */

const GUIDE = join(import.meta.dir, 'operate/desk.md')
const FOLDER = process.argv[2] ?? join(import.meta.dir, 'pictures')
const [OCTOBER_MS, TODAY_MS] = [Date.UTC(2026, 9, 5, 8), Date.UTC(2026, 10, 26, 9)]
const HOUR_MS = 3_600_000
const MONTH = '2026-10'
const WIDTH = 1_280

const PRODUCTS = [
  catalogEntry({ name: 'Tea House', category: 'Food & Dining', sub_category: 'Cafes & Bakeries' }),
  catalogEntry({
    id: 2,
    name: 'Hamper',
    category: 'Food & Dining',
    sub_category: 'Cafes & Bakeries',
    delivery_time: '3 days',
  }),
]

const codesOf = (delivery: string, count: number): string =>
  PRODUCTS.flatMap(({ id }) =>
    Array.from({ length: count }, (_, index) =>
      JSON.stringify({ product_id: id, denomination: 10, card_number: `${delivery}-${id}-${index}`, pin_code: '1' }),
    ),
  ).join('\n')

const PEOPLE = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Edith Clarke', 'Emmy Noether']

/** Orders and payouts of a client, within the hour of its token. */
const trade = async (
  company: Company,
  customer: Customer,
  from: number,
  payouts: number,
  orders: readonly object[],
) => {
  const token = await company.logIn(customer)
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await company.ask(path, token, body)
    if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response)}`)
    return response.body
  }
  for (const order of orders) await post('/api/v1/orders', { denomination: 10, ...order })
  for (let number = from; number < from + payouts; number++) {
    const [first = '', last = ''] = (PEOPLE[number % PEOPLE.length] ?? '').split(' ')
    await post('/api/v1/payouts', {
      ...{ reference_id: `bonus-${number}`, wallet_id: customer.walletId, currency: customer.currency },
      ...{ amount: 40 + number, beneficiary_email: `${first}@example.com`.toLowerCase() },
      ...{ beneficiary_first_name: first, beneficiary_last_name: last },
    })
    company.nowMs += HOUR_MS / 100
  }
}

const GIFTS = [1, 2, 3].map((number) => ({ product_id: 1, quantity: 2, ref: `gift-${number}` }))

/** The company on the morning of the walk: a month that is paid, and a day that waits. */
const companyIn = async (folder: string): Promise<Company> => {
  const company = new Company(folder, join(folder, 'data'), OCTOBER_MS)
  const added = async (name: string, currency: string, funds: string): Promise<Customer> => {
    const { password } = await company.act<{ password: string }>('client', 'add', name)
    const { id: walletId } = await company.act<{ id: number }>('wallet', 'add', name, currency)
    await company.act('wallet', 'fund', String(walletId), funds, '--remarks', 'Invoice 2026-10')
    return { name, password, walletId, currency, movements: [] }
  }
  await company.act('catalog', 'import', company.file('catalog.json', JSON.stringify({ products: PRODUCTS })))
  await company.act('rates', 'set', 'USD/EUR=0.92')
  await company.act('vouchers', 'import', company.file('codes.jsonl', codesOf('oct', 12)))
  const acme = await added('acme', 'USD', '9000')
  const bolt = await added('bolt', 'EUR', '5000')
  await company.act('wallet', 'threshold', '1', '4000')
  await trade(company, acme, 1, 60, GIFTS)
  company.nowMs += 12 * HOUR_MS
  const paid = Array.from({ length: 60 }, (_, index) => `bonus-${index + 1}`).join('\n')
  await company.act('payouts', 'advance', '--to', 'completed', '--file', company.file('october.txt', paid))
  company.nowMs = TODAY_MS - 20 * HOUR_MS
  await trade(company, bolt, 101, 4, [])
  await trade(company, acme, 61, 9, [
    { product_id: 1, quantity: 5, ref: 'gift-4' },
    { product_id: 2, quantity: 1, ref: 'hamper-1' },
    { product_id: 2, quantity: 3, ref: 'hamper-2' },
  ])
  company.nowMs = TODAY_MS
  return company
}

/** A person who reads the guide. */
class Reader {
  /** The names that were pressed, filled in or seen. */
  readonly met = new Set<string>()

  constructor(
    readonly page: Page,
    private readonly company: Company,
  ) {}

  async press(name: string, within: Locator = this.page.locator('body')): Promise<void> {
    const exact = new RegExp(`^${RegExp.escape(name)}$`)
    await within.locator('button, a, summary').filter({ hasText: exact, visible: true }).first().click()
    this.met.add(name)
  }

  async fill(name: string, text: string): Promise<void> {
    await this.#field(name).fill(text)
    this.met.add(name)
  }

  async choose(name: string, option: string): Promise<void> {
    await this.#field(name).selectOption(option)
    this.met.add(name)
  }

  async give(name: string, file: string, content: string): Promise<void> {
    await this.#field(name).setInputFiles(this.company.file(file, content))
    this.met.add(name)
  }

  /** The field whose label begins with a name: a hint may follow. */
  #field(name: string): Locator {
    return this.page.getByLabel(new RegExp(`^${RegExp.escape(name)}`)).last()
  }

  /** The part of the page with a heading. */
  async part(name: string): Promise<Locator> {
    const part = this.page.getByRole('region', { name, exact: true })
    await part.waitFor()
    this.met.add(name)
    return part
  }

  /** Shows what an act would do, and does it. */
  async act(picture?: string): Promise<void> {
    await this.press('Show what it does')
    await this.page.getByText('Nothing has been done yet. Do it?').waitFor()
    if (picture) await this.take(picture, 700)
    await this.press('Do it')
    await this.press('Close', this.page.getByRole('dialog'))
  }

  /** Takes a picture of the window, when it no longer says what was done last. */
  async take(name: string, height: number): Promise<void> {
    await this.page.setViewportSize({ width: WIDTH, height })
    await this.page.locator('.notice.none').waitFor({ state: 'attached' })
    const session = await this.page.context().newCDPSession(this.page)
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 60 })
    writeFileSync(join(FOLDER, `${name}.webp`), Buffer.from(data, 'base64'))
  }
}

/** Everything that the guide does, in its order. */
const read = async (reader: Reader): Promise<void> => {
  const { page } = reader
  await reader.part('Today')
  await reader.part('Payouts that wait')
  await reader.part('Stock that runs low')
  await reader.part('Wallets below their threshold')
  await reader.take('desk-today', 760)

  await page.keyboard.press('/')
  await page.keyboard.type('bonus-7')
  await page.keyboard.press('Enter')
  await (await reader.part('Payouts')).getByRole('link', { name: /^pyt_/ }).first().click()
  await reader.part('History')
  await reader.part('Ledger')
  await reader.part('Events and deliveries')
  await reader.part('Audit')
  await reader.take('desk-payout', 760)

  await reader.press('Today')
  await reader.press('Deliver vouchers', await reader.part('Orders that wait'))
  await reader.act()

  await reader.press('Orders')
  await (await reader.part('Orders')).getByRole('link', { name: '2', exact: true }).first().click()
  await reader.press('Refund vouchers')
  await reader.fill('Vouchers', '2-1')
  await reader.act()

  await reader.press('Wallets')
  await (await reader.part('Wallets')).getByRole('link', { name: '1', exact: true }).click()
  await reader.press('Add money')
  await reader.fill('Amount', '4000')
  await reader.act()
  await reader.part('Balance')

  await reader.press('Stock')
  await reader.press('Import codes')
  await reader.give('File', 'november.jsonl', codesOf('nov', 50))
  await reader.press('Import codes', page.getByRole('dialog'))
  await reader.press('Close', page.getByRole('dialog'))

  await reader.press('Clients')
  await reader.press('Statement')
  await reader.fill('Client', 'acme')
  await reader.fill('Month, in UTC', MONTH)
  await reader.press('Show')
  await reader.part(`Statement of acme, ${MONTH}`)
  await reader.press('CSV')
  await reader.take('desk-statement', 700)

  await reader.press('Today')
  await reader.press('Verify')
  await page.getByText('checks found nothing wrong').waitFor()

  await reader.press('Choose from a list', await reader.part('Payouts that wait'))
  await reader.give('Or a file of them', 'bank.csv', BANK)
  await reader.fill('Column of the amount', 'Amount')
  await reader.press('Choose them')
  await page.getByText('Rent').waitFor()
  await reader.press('Mark as paid', page.locator('.line').filter({ hasText: 'Choose all' }))
  await reader.act('desk-paid')

  await reader.press('Stock')
  await reader.press('Products')
  await (await reader.part('Products')).getByRole('link', { name: '1', exact: true }).click()
  await reader.press('Edit product')
  await reader.choose('On sale', 'off')
  await reader.act()
  await reader.press('Edit product')
  await reader.fill('Denominations', '10-100=7.5')
  await reader.act()

  await reader.press('Clients')
  await (await reader.part('Clients')).getByRole('link', { name: 'acme', exact: true }).click()
  await reader.press('Reconcile with its own list')
  await reader.fill('Month, in UTC; every month without it', MONTH)
  await reader.give("The client's list", 'acme.csv', theirList())
  await reader.press('Compare')
  await reader.part('Differs')
  await reader.part('Only the client has')
  await reader.part('Only Scrip has')
  await reader.take('desk-reconcile', 900)

  await reader.press('Audit')
  await reader.fill('Person', 'ada')
  await reader.fill('Since', '2026-11-23')
  await reader.press('Show')
  await (await reader.part('Audit'))
    .locator('header')
    .getByText(/^1?\d$/)
    .waitFor()
  await reader.take('desk-audit', 560)
}

/** The list of the bank: another amount, and a payment of others. */
const BANK = `Date;Text;Amount
2026-11-25;bonus-61;-101,00
2026-11-25;bonus-62;-102,00
2026-11-25;Rent;-900,00
2026-11-25;bonus-63;-99,00
`

/** The list of the client: one amount differs, one payout is missing, and one is unknown. */
const theirList = (): string => {
  const payouts = Array.from({ length: 59 }, (_, index) => [`bonus-${index + 1}`, index === 9 ? 500 : 41 + index])
  const lines = [...payouts, ['bonus-99', 139]].map(([reference, amount]) => `${reference},payout,${amount},USD`)
  return ['reference,type,amount,currency', ...lines, ...GIFTS.map(({ ref }) => `${ref},order,19,USD`)].join('\n')
}

if (import.meta.main) {
  // Without the number of its user, the program takes the name of the operator from the environment that it was started with.
  Reflect.set(process, 'getuid', undefined)
  mkdirSync(FOLDER, { recursive: true })
  using temporary = temporaryFolder()
  const company = await companyIn(temporary.path)
  const address = await company.desk()
  const browser = await startBrowser()
  const { page, wrong } = await open(browser, new URL(address).origin)
  await page.goto(address)
  const reader = new Reader(page, company)
  await read(reader)
  await browser.close()
  const named = [...readFileSync(GUIDE, 'utf8').matchAll(/\*\*([^*]+)\*\*/g)].map(([, name = '']) =>
    name.replace(/\s+/, ' '),
  )
  const unmet = named.filter((name) => !reader.met.has(name))
  if (unmet.length > 0 || wrong.length > 0)
    throw new Error(`not on the pages: ${unmet.join(', ')}; wrong: ${wrong.join(', ')}`)
  process.exit(0)
}
