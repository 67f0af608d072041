import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { hasBrowser, open, startBrowser } from '../browser.ts'
import { startReady, temporaryFolder } from '../program.ts'
import { bytesOf, Connection } from './connection.ts'
import { LiveFolder } from './live-folder.ts'
import { look, SCREENS, type State } from './pages.ts'
import type { Rig } from './report.ts'
import { logIn } from './server.ts'

/**
 * The day of an operator on the desk, in Chromium: lists, records, statement and reconciliation, and payouts of a bank's list,
 * beside the command that does the same. Every place in light and dark, on a desktop and a phone. A browser is needed: without
 * one the rig says so and finds nothing.
 */

interface Size {
  payouts: number
  orders: number
  /** The payouts of the bank's list. */
  paid: number
}

const WHOLE: Size = { payouts: 5_000, orders: 300, paid: 500 }
const SHORT: Size = { payouts: 40, orders: 3, paid: 5 }
/** From a response to the screen (contract C20), in milliseconds. */
const SHOWN_MS_MAX = 1_000
/** The time of the desk for many payouts, in that of the command. */
const TIMES_MAX = 2
const WRITERS = 8
const AMOUNT = 12.5
const CLIENT = 'payer'
/** The time that an act on many payouts may take. */
const PATIENCE_MS = 60_000
const MONTH = new Date().toISOString().slice(0, 7)

const referenceOf = (index: number): string => `bonus-${index}`

/** Makes orders and payouts as a client does. */
const trade = async (port: number, token: string, { payouts, orders }: Size): Promise<void> => {
  const bodies = [
    ...Array.from({ length: orders }, (_, index) => ({
      path: '/api/v1/orders',
      body: { product_id: 1, denomination: 10, quantity: 1, ref: `gift-${index}` },
    })),
    ...Array.from({ length: payouts }, (_, index) => ({
      path: '/api/v1/payouts',
      body: {
        ...{ reference_id: referenceOf(index), wallet_id: 1, amount: AMOUNT, currency: 'USD' },
        ...{ beneficiary_email: `payee-${index % 500}@example.com`, beneficiary_first_name: 'Ada' },
        beneficiary_last_name: `Lovelace ${index % 500}`,
      },
    })),
  ].values()
  const headers = { Authorization: `Bearer ${token}` }
  const write = async (): Promise<void> => {
    const connection = await Connection.open(port)
    for (const { path, body } of bodies) {
      const { status, body: said } = await connection.send(bytesOf({ path, headers, body: JSON.stringify(body) }))
      if (status >= 300) throw new Error(`${path}: ${status} ${said}`)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
}

/** The client's own list: one amount differs, one payout is missing, and one is unknown to Scrip. */
const theirList = ({ payouts, orders }: Size): string => {
  const amountOf = (index: number): number => (index === 1 ? AMOUNT + 1 : AMOUNT)
  return [
    'reference,type,amount,currency',
    ...Array.from({ length: orders }, (_, index) => `gift-${index},order,9.75,USD`),
    ...Array.from({ length: payouts - 1 }, (_, index) => `${referenceOf(index)},payout,${amountOf(index)},USD`),
    `theirs,payout,${AMOUNT},USD`,
  ].join('\n')
}

const recordsOf = (rows: string): string => `${rows} tbody`
const card = (title: string): string => `section[aria-label=${JSON.stringify(title)}]`

const PLACES: Record<string, State> = {
  today: { place: 'today', shows: card('Payouts that wait') },
  payouts: { place: 'payouts', shows: recordsOf(card('Payouts')) },
  'payouts by search': { place: 'payouts?search=bonus-1', shows: recordsOf(card('Payouts')) },
  'payouts, the last page': { place: 'payouts?offset=4950', shows: card('Payouts') },
  orders: { place: 'orders', shows: recordsOf(card('Orders')) },
  'an order': { place: 'orders/1', shows: card('History') },
  clients: { place: 'clients', shows: recordsOf(card('Clients')) },
  'a client': { place: `clients/${CLIENT}`, shows: recordsOf(card('Payouts')) },
  wallets: { place: 'wallets', shows: recordsOf(card('Wallets')) },
  'a wallet': { place: 'wallets/1', shows: recordsOf(card('Transactions')) },
  transactions: { place: 'transactions', shows: recordsOf(card('Transactions')) },
  beneficiaries: { place: 'beneficiaries', shows: card('Beneficiaries') },
  stock: { place: 'stock', shows: card('Stock') },
  products: { place: 'products', shows: recordsOf(card('Products')) },
  rates: { place: 'rates', shows: recordsOf(card('Rates')) },
  webhooks: { place: 'webhooks', shows: card('Webhooks') },
  events: { place: 'events', shows: recordsOf(card('Events')) },
  audit: { place: 'audit', shows: recordsOf(card('Audit')) },
  search: { place: 'search?search=bonus-17', shows: recordsOf(card('Payouts')) },
  statement: {
    place: `statement?client=${CLIENT}&month=${MONTH}`,
    shows: recordsOf(card(`Statement of ${CLIENT}, ${MONTH}`)),
  },
}

interface Seen {
  receivedMs: number
  shownMs: number
  elements: number
}

/** Does something in the page, and waits for a response and for what it then shows. */
const seen = (page: Page, act: string, shows: string): Promise<Seen> =>
  page.evaluate<Seen>(`(async () => {
    const askedMs = performance.now()
    const frame = () => new Promise((resolve, reject) => {
      if (performance.now() - askedMs > ${PATIENCE_MS}) reject(new Error(${JSON.stringify(`no ${shows}`)}))
      requestAnimationFrame(() => setTimeout(resolve))
    })
    performance.clearResourceTimings()
    ${act}
    const received = () => performance.getEntriesByType('resource').map(({ responseEnd }) => responseEnd)
    while (!document.querySelector(${JSON.stringify(shows)}) || received().length === 0) await frame()
    await frame()
    const [nowMs, receivedAtMs] = [performance.now(), Math.max(...received())]
    const elements = document.querySelectorAll('*').length
    return { receivedMs: receivedAtMs - askedMs, shownMs: nowMs - receivedAtMs, elements }
  })()`)

const go = (page: Page, place: string, shows: string): Promise<Seen> =>
  seen(page, `location.hash = ${JSON.stringify(place)}`, shows)

/** An empty place, so that what another one shows is not there yet. */
const leave = async (page: Page): Promise<void> => {
  await page.evaluate(`location.hash = 'search?search=nothing-of-this'`)
  await page.locator(card('Nothing found')).waitFor()
}

const rowOf = (name: string, { receivedMs, shownMs, elements }: Seen): string[] => [
  name,
  receivedMs.toFixed(0),
  shownMs.toFixed(0),
  String(elements),
]

/** Compares the client's list, and returns the number of findings of each kind. */
const reconcile = async (page: Page, file: string): Promise<[Seen, string[]]> => {
  await page.evaluate(`location.hash = 'reconcile/${CLIENT}'`)
  const form = page.getByRole('region', { name: `Reconcile ${CLIENT}` })
  await form.getByLabel(/^Month/).fill(MONTH)
  await form.getByLabel("The client's list").setInputFiles(file)
  const [shown] = await Promise.all([seen(page, '', '.figures'), form.getByRole('button', { name: 'Compare' }).click()])
  return [shown, await form.locator('.figures dd').allTextContents()]
}

/** Pays what the bank's list names. Returns how long the desk takes to show and to do it, in milliseconds. */
const pay = async (page: Page, file: string, count: number): Promise<[number, number]> => {
  await page.evaluate(`location.hash = 'today'`)
  const waiting = page.getByRole('region', { name: 'Payouts that wait' })
  await waiting.getByText('Choose from a list').click()
  await waiting.locator('input[type=file]').setInputFiles(file)
  await waiting.getByRole('button', { name: 'Choose them' }).click()
  await waiting.getByRole('button', { name: `${count} records` }).click()
  const dialog = page.getByRole('dialog')
  const startedMs = performance.now()
  await dialog.getByRole('button', { name: 'Show what it does' }).click()
  await dialog.getByText('Nothing has been done yet.').waitFor({ timeout: PATIENCE_MS })
  const shownMs = performance.now()
  await dialog.getByRole('button', { name: 'Do it' }).click()
  await dialog.getByText(new RegExp(`^Done: ${count} of ${count}`)).waitFor({ timeout: PATIENCE_MS })
  const doneMs = performance.now()
  await dialog.getByRole('button', { name: 'Close' }).click()
  return [shownMs - startedMs, doneMs - shownMs]
}

export const deskPages: Rig = async ({ isShort, progress }) => {
  if (!hasBrowser) return { tables: [[['no browser: nothing was looked at']]], findings: [] }
  using temporary = temporaryFolder()
  const folder = temporary.path
  const size = isShort ? SHORT : WHOLE
  const findings: string[] = []
  const live = await LiveFolder.make(folder, size.orders)
  const server = await live.serve()
  await trade(server.port, await logIn(server.port, live.payer.username, live.payer.password), size)
  progress('the records are made')
  const desk = await startReady(['desk', '--desk-port', '0', '--data-dir', live.dataDir], {})
  const browser = await startBrowser()
  const { page, wrong } = await open(browser, new URL(desk.ready).origin)
  await page.goto(desk.ready)
  await page.locator(card('Today')).waitFor()
  const places = [['place', 'received, ms', 'on the screen after, ms', 'elements']]
  const note = (name: string, one: Seen): void => {
    places.push(rowOf(name, one))
    // The short form, which runs beside tests, judges no speed.
    if (one.shownMs > SHOWN_MS_MAX && !isShort)
      findings.push(`${name}: ${one.shownMs.toFixed(0)} ms after its response`)
  }
  for (const [name, { place, shows }] of Object.entries(PLACES)) {
    await leave(page)
    note(name, await go(page, place, shows))
  }
  const fileOf = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const [reconciled, counts] = await reconcile(page, fileOf('theirs.csv', theirList(size)))
  note('reconcile', reconciled)
  if (counts.join() !== '1,0,1,1') findings.push(`reconcile: ${counts.join()} differ, double, theirs, ours`)
  progress('the places are timed')
  const listOf = (from: number): string =>
    Array.from({ length: size.paid }, (_, index) => referenceOf(from + index)).join('\n')
  const [previewMs, deskMs] = await pay(page, fileOf('desk.txt', listOf(0)), size.paid)
  const startedMs = performance.now()
  const words = ['payouts', 'advance', '--to', 'completed', '--file', fileOf('command.txt', listOf(size.paid))]
  const { exitCode, stderr } = await live.command(...words)
  const commandMs = performance.now() - startedMs
  if (exitCode !== 0) findings.push(`scrip ${words.join(' ')}: ${exitCode} ${stderr}`)
  if (deskMs > TIMES_MAX * commandMs && !isShort)
    findings.push(`${size.paid} payouts: ${deskMs.toFixed(0)} ms on the desk`)
  progress('the payouts are paid')
  const screens = [['screen', 'findings']]
  for (const screen of isShort ? SCREENS.slice(-1) : SCREENS) {
    const name = `${screen.colorScheme} ${screen.viewport.width}`
    progress(name)
    await page.emulateMedia({ colorScheme: screen.colorScheme })
    await page.setViewportSize(screen.viewport)
    const all = await look(page, PLACES, screen.colorScheme === 'dark')
    // The desk is one page: axe takes the links of its menu for skip links once that is scrolled.
    const found = all.filter((finding) => !finding.includes(': skip-link '))
    screens.push([name, String(found.length)])
    findings.push(...found.map((finding) => `${name}: ${finding}`))
  }
  findings.push(...wrong)
  await browser.close()
  await desk.stop()
  await server.stop()
  const paid = [
    [`${size.paid} payouts`, 's'],
    ['desk: what it does', (previewMs / 1_000).toFixed(1)],
    ['desk: it is done', (deskMs / 1_000).toFixed(1)],
    ['scrip payouts advance --file', (commandMs / 1_000).toFixed(1)],
  ]
  return { tables: [places, paid, screens], findings }
}
