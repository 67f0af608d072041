import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { processorUs, type Running } from '../program.ts'
import { PAYEE } from '../records.ts'
import { writeCatalogOf } from './catalog.ts'
import { COMMON, emailOf, fill, referenceOf, SANDBOX_CLIENT, usernameOf, type Written } from './crowd.ts'
import { type Exchange, fingerprintOf } from './load.ts'
import { folder, Load, start } from './programs.ts'
import { aligned, count, median, ratio } from './table.ts'
import { type Ask, CONNECTIONS, logIn, numbered, send, UNNUMBERED, wireBytes } from './works.ts'

/** What a request costs the server as the data grows: processor time, which does not depend on the machine's moods. */

export interface GrowthOptions {
  scrip: readonly string[]
  rounds: number
  seconds: number
  /** A part of the name of the requests that are measured. */
  only: string
}

/** A server that holds data of one size. */
interface Sized {
  size: number
  served: Running
  /** Of every client that asks, in turns. */
  tokens: readonly string[]
  written: Written
}

/** One request, as it is asked of each size. */
interface Question {
  name: string
  asks: (sized: Sized) => readonly Ask[]
  /** How many records it says there are in all. */
  total?: (size: number) => number
}

/** Something that grows, and what is asked of it. */
interface Subject {
  name: string
  sizes: readonly number[]
  /** Writes data of a size, and returns what the server is started with besides its folder. */
  prepare: (dataDir: string, size: number) => { flags?: string[]; written?: Written }
  /** Who asks. */
  usernames: (size: number) => readonly string[]
  questions: readonly Question[]
}

const READERS = 8
/** What takes longer than this is asked over one connection, so that its responses do not wait for one another. */
const SLOW_MS = 50
/** Every request has had its turn before it counts; so many of them are served in a second, on any machine. */
const WARMED_UP_PER_SECOND = 5_000
/** Of so many requests each is asked once beforehand, and its response is what has to come back. */
const FORESEEN_MAX = 64
/** What every size can fill, so that all responses are as long. */
const PAGE = 10
const BY_IDS = 50
const FUNDS = 1_000_000_000
const RUPEE_WALLET = 3

const get = (path: string) => (): Ask[] => [{ path }]

/** Asked with a parameter of its own each time that means nothing, so that no response is known yet. */
const firstTime = (path: string): Ask[] => [{ path: `${path}&unknown=${UNNUMBERED}` }]

const pages = (size: number): number => Math.ceil(size / PAGE)
const middle = (size: number): number => Math.ceil(pages(size) / 2)
const list = `limit=${PAGE}`
const sortedBy = (field: string, direction: string): string => encodeURIComponent(JSON.stringify({ field, direction }))
const all = (size: number): number => size

const order = (): Ask[] => [
  {
    path: '/api/v1/orders',
    body: JSON.stringify({ product_id: 1, denomination: 100, quantity: 1, client_reference: `bench-${UNNUMBERED}` }),
  },
]
const newBeneficiaries = (): Ask[] => [
  {
    path: '/api/v1/beneficiaries',
    body: JSON.stringify({ email: `ada.${UNNUMBERED}@example.com`, first_name: 'Ada', last_name: 'Lovelace' }),
  },
]
const payout = (): Ask[] => [
  {
    path: '/api/v1/payouts',
    body: JSON.stringify({
      reference_id: `bench-${UNNUMBERED}`,
      wallet_id: SANDBOX_CLIENT.walletId,
      amount: 1.25,
      currency: 'USD',
      ...PAYEE,
    }),
  },
]

const products = '/api/v1/products'
const beneficiaries = '/api/v1/beneficiaries'
const payouts = '/api/v1/payouts'

const SUBJECTS: readonly Subject[] = [
  {
    name: 'products',
    sizes: [400, 10_000, 100_000],
    prepare: (dataDir, size) => {
      const path = `${dataDir}.json`
      writeCatalogOf(path, size)
      return { flags: ['--catalog', path] }
    },
    usernames: () => ['sandbox'],
    questions: [
      { name: 'products, first page', asks: get(`${products}?${list}`), total: all },
      { name: 'products, first page, first time', asks: () => firstTime(`${products}?${list}`), total: all },
      {
        name: 'products, middle page, first time',
        asks: ({ size }) => firstTime(`${products}?${list}&page=${middle(size)}`),
        total: all,
      },
      {
        name: 'products, last page, first time',
        asks: ({ size }) => firstTime(`${products}?${list}&page=${pages(size)}`),
        total: all,
      },
      { name: 'products of a country, first time', asks: () => firstTime(`${products}?${list}&country_id=105`) },
      {
        name: 'products of a category, first time',
        asks: () => firstTime(`${products}?${list}&category=${encodeURIComponent('Food & Dining')}`),
      },
      {
        name: 'products by name, first time',
        asks: () => firstTime(`${products}?${list}&sort=${sortedBy('name', 'ASC')}`),
        total: all,
      },
      {
        name: 'products by name, middle page, first time',
        asks: ({ size }) => firstTime(`${products}?${list}&sort=${sortedBy('name', 'DESC')}&page=${middle(size)}`),
        total: all,
      },
      { name: 'products, a search, first time', asks: () => firstTime(`${products}?${list}&search=kettle`) },
      {
        name: 'products, a search in vain, first time',
        asks: () => firstTime(`${products}?${list}&search=zzz`),
        total: () => 0,
      },
      {
        name: 'products/{id}',
        asks: ({ size }) =>
          Array.from({ length: BY_IDS }, (_, i) => ({ path: `${products}/${1 + Math.floor((i * size) / BY_IDS)}` })),
      },
      { name: 'POST orders', asks: order },
    ],
  },
  {
    name: 'beneficiaries and payouts',
    sizes: [10, 1_000, 1_000_000],
    prepare: (dataDir, size) => ({ written: fill(dataDir, { clients: 0, records: size }) }),
    usernames: () => ['sandbox'],
    questions: [
      { name: 'beneficiaries, first page', asks: get(`${beneficiaries}?${list}`), total: all },
      {
        name: 'beneficiaries, middle page',
        asks: ({ size }) => [{ path: `${beneficiaries}?${list}&page=${middle(size)}` }],
        total: all,
      },
      {
        name: 'beneficiaries, last page',
        asks: ({ size }) => [{ path: `${beneficiaries}?${list}&page=${pages(size)}` }],
        total: all,
      },
      {
        name: 'beneficiaries by e-mail',
        asks: get(`${beneficiaries}?${list}&sort_by=email&sort_order=ASC`),
        total: all,
      },
      {
        name: 'beneficiaries by last name, middle page',
        asks: ({ size }) => [{ path: `${beneficiaries}?${list}&sort_by=last_name&page=${middle(size)}` }],
        total: all,
      },
      { name: 'beneficiaries by country', asks: get(`${beneficiaries}?${list}&sort_by=country`), total: all },
      {
        name: 'beneficiaries, a search for one',
        asks: get(`${beneficiaries}?${list}&search=${emailOf(3)}`),
        total: () => 1,
      },
      { name: 'beneficiaries, a search for all', asks: get(`${beneficiaries}?${list}&search=lovelace`), total: all },
      {
        name: 'beneficiaries/{id}',
        asks: ({ written }) => written.beneficiaryIds.map((id) => ({ path: `${beneficiaries}/${id}` })),
      },
      { name: 'payouts, first page', asks: get(`${payouts}?${list}`), total: all },
      {
        name: 'payouts, middle page',
        asks: ({ size }) => [{ path: `${payouts}?${list}&page=${middle(size)}` }],
        total: all,
      },
      {
        name: 'payouts, last page',
        asks: ({ size }) => [{ path: `${payouts}?${list}&page=${pages(size)}` }],
        total: all,
      },
      {
        name: 'payouts that are completed',
        asks: get(`${payouts}?${list}&status=completed`),
        total: (size) => Math.round(size * COMMON),
      },
      {
        name: 'payouts in dollars',
        asks: get(`${payouts}?${list}&currency=USD`),
        total: (size) => Math.round(size * COMMON),
      },
      { name: 'payouts by amount', asks: get(`${payouts}?${list}&sort_by=amount`), total: all },
      { name: 'payouts, a search for one', asks: get(`${payouts}?${list}&search=${referenceOf(3)}`), total: () => 1 },
      { name: 'payouts/{id}', asks: ({ written }) => written.payoutIds.map((id) => ({ path: `${payouts}/${id}` })) },
      { name: 'transactions, first page', asks: get(`/api/v1/transactions?${list}`) },
      { name: 'POST beneficiaries', asks: newBeneficiaries },
      { name: 'POST payouts', asks: payout },
    ],
  },
  {
    name: 'clients, each asking in turn',
    sizes: [1, 100, 10_000],
    prepare: (dataDir, size) => ({ written: fill(dataDir, { clients: size, records: 10 }) }),
    usernames: (size) => Array.from({ length: size }, (_, index) => usernameOf(index)),
    questions: [
      { name: 'countries/{id}', asks: get('/api/v1/countries/105') },
      { name: 'products, first page', asks: get(`${products}?${list}`) },
      { name: 'wallets', asks: get('/api/v1/wallets'), total: () => 1 },
      { name: 'transactions', asks: get('/api/v1/transactions'), total: () => 1 },
      { name: 'beneficiaries', asks: get(beneficiaries), total: () => 10 },
      { name: 'payouts', asks: get(payouts), total: () => 10 },
      {
        name: 'POST charges',
        asks: () => [{ path: `${products}/1/charges`, body: '{"denomination":100,"quantity":2}' }],
      },
      { name: 'POST beneficiaries', asks: newBeneficiaries },
    ],
  },
]

/** Prints the table. */
export const growth = async (options: GrowthOptions): Promise<void> => {
  const load = new Load()
  const lines: string[][] = []
  for (const subject of SUBJECTS) {
    const questions = subject.questions.filter(({ name }) => name.includes(options.only))
    if (questions.length === 0) continue
    const sizes = []
    for (const size of subject.sizes) sizes.push(await grown(subject, size, options.scrip))
    lines.push([`of ${subject.name}`, ...subject.sizes.map(count), 'growth'])
    for (const question of questions) {
      process.stderr.write(`${question.name} ...\n`)
      const costs = await costsOf(load, question, sizes, options)
      const [least = Number.NaN, most = Number.NaN] = [costs[0], costs.at(-1)]
      lines.push([`  ${question.name}`, ...costs.map((cpuUs) => cpuUs.toFixed(1)), ratio(most / least)])
    }
    for (const { served } of sizes) await served.stop()
    for (const size of subject.sizes) rmSync(folderOf(subject, size), { recursive: true })
  }
  const { rounds, seconds } = options
  console.log(`Processor time of the server for a request, in µs: the median of ${rounds} rounds of ${seconds} s\n`)
  console.log(aligned(lines).join('\n'))
}

const folderOf = ({ name }: Subject, size: number): string => join(folder, `${name.split(' ')[0]}-${size}`)

/** A server with data of one size. */
const grown = async (subject: Subject, size: number, scrip: readonly string[]): Promise<Sized> => {
  process.stderr.write(`${count(size)} ${subject.name} ...\n`)
  const dataDir = folderOf(subject, size)
  const empty = await start([...scrip, '--data-dir', dataDir])
  await empty.stop()
  const { flags = [], written = { beneficiaryIds: [], payoutIds: [] } } = subject.prepare(dataDir, size)
  const served = await start([...scrip, '--data-dir', dataDir, ...flags])
  const tokens: string[] = []
  for (const username of subject.usernames(size)) tokens.push(await logIn(served.url, username, username))
  for (const wallet of [SANDBOX_CLIENT.walletId, RUPEE_WALLET]) {
    const response = await fetch(`${served.url}/_sandbox/wallets/${wallet}/fund`, {
      method: 'POST',
      body: JSON.stringify({ amount: FUNDS }),
    })
    if (!response.ok) throw new Error(`funding wallet ${wallet}: ${response.status} ${await response.text()}`)
  }
  return { size, served, tokens, written }
}

/** What the request costs at each size, in turns. */
const costsOf = async (
  load: Load,
  question: Question,
  sizes: readonly Sized[],
  { rounds, seconds }: GrowthOptions,
): Promise<number[]> => {
  const entries = []
  for (const sized of sizes) {
    const { exchanges, quickestMs } = await foreseen(question, sized)
    const connections = quickestMs > SLOW_MS ? 1 : isWrite(question, sized) ? CONNECTIONS : READERS
    entries.push({ sized, exchanges, connections, costs: [] as number[] })
  }
  for (let round = -1; round < rounds; round++) {
    for (const { sized, exchanges, connections, costs } of round % 2 === 0 ? entries : entries.toReversed()) {
      const { served } = sized
      load.take(exchanges)
      const before = processorUs(served.pid)
      const isWarmUp = round < 0
      const forSeconds = isWarmUp ? Math.max(seconds, exchanges.length / WARMED_UP_PER_SECOND) : seconds
      const { responseCount } = await load.measure(served.port, connections, forSeconds)
      if (!isWarmUp) costs.push((processorUs(served.pid) - before) / responseCount)
    }
  }
  return entries.map(({ costs }) => median(costs))
}

const isWrite = ({ asks }: Question, sized: Sized): boolean => asks(sized)[0]?.body !== undefined

/** The requests, with what has to come back, and how long that took at least: the first may have had to wait. */
const foreseen = async (
  { name, asks, total }: Question,
  sized: Sized,
): Promise<{ exchanges: Exchange[]; quickestMs: number }> => {
  const { size, served, tokens } = sized
  const asked = tokens.flatMap((token) => asks(sized).map((ask) => ({ token, ask })))
  const exchanges: Exchange[] = []
  let status = 200
  let quickestMs = Number.POSITIVE_INFINITY
  const [first] = asked
  if (first && first.ask.body === undefined) await (await send(served.url, first.token, first.ask)).text()
  for (const [index, { token, ask }] of asked.entries()) {
    const exchange = numbered({ request: wireBytes(ask, token), status })
    if (index >= FORESEEN_MAX) {
      exchanges.push(exchange)
      continue
    }
    const askedAtMs = performance.now()
    const response = await send(served.url, token, ask)
    const body = await response.text()
    quickestMs = Math.min(quickestMs, performance.now() - askedAtMs)
    const said = response.headers.get('x-total-count')
    const isRight = response.ok && (total === undefined || said === String(total(size)))
    if (!isRight) throw new Error(`${name} of ${size}: ${response.status}, ${said} in all: ${body.slice(0, 500)}`)
    status = response.status
    const isLasting = ask.body === undefined && asked.length <= FORESEEN_MAX
    const foretold = isLasting && { bodyLength: Buffer.byteLength(body), fingerprint: fingerprintOf(body) }
    exchanges.push({ ...exchange, status, ...foretold })
  }
  return { exchanges, quickestMs }
}
