import { mkdtempSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Running, residentBytes, run } from '../program.ts'
import { PAYEE } from '../records.ts'
import { type Ask, ask, bytesOf } from '../rigs/connection.ts'
import { fillWith, numberedId } from '../rigs/copies.ts'
import { logIn } from '../rigs/server.ts'
import { UNNUMBERED } from './load.ts'
import { type Data, readJson, startOrdinary } from './ordinary.ts'
import { type Contender, folder, Load, medianOf, type Rounds, SANDBOX, spreadOf, start } from './programs.ts'
import { count, markdown, mebibytes, ratio, share } from './table.ts'

/**
 * Processor time and latency of a request, with 10,000 products on disk and both rate limits: Scrip in both modes, two
 * ordinary programs, and an earlier executable, by turns.
 */

/** A server as one column of the table. */
interface Subject extends Client {
  name: string
  server: Running
  token: string
}

/** A server of Scrip, and how it is started again. */
interface Scrip extends Subject {
  dataDir: string
  serve: () => Promise<Running>
}

interface Client {
  username: string
  password: string
}

/** A row of the table: requests that are sent one after the other. */
interface Row {
  name: string
  asksOf: (subject: Subject) => readonly Ask[]
  status: number
}

const JSON_BODY = { 'Content-Type': 'application/json' }
const PRODUCTS = 10_000
/** More than the number of held prices, so that none is held when it is requested again. */
const PURCHASES = 20_000
const DIFFERENT = 1_000
const CONNECTIONS = 32
/** More than all rounds can spend. */
const FUNDS = '1000000000'
/** The wallets that pay in both modes: in USD and in INR. */
const WALLETS = [1, 3]
const SEED = resolve(import.meta.dir, '../../seed')
/** Limits that no round reaches: each response counts and reports them all the same. */
const COMMAND = SANDBOX.map((word) => (word === 'off' ? '9999999/h,9999999/m' : word))
/** Rounds that differ by more are measured again, and at last shown as they are. */
const SPREAD_MAX = 0.15
const MEASURED_MAX = 3
/** No server takes more orders in a second. */
const ORDERS_PER_SECOND = 5_000

/**
 * Prints the tables of docs/internals/performance.md, and the memory that live mode has at the end.
 * @param payoutCounts how many payouts a page is one of: the first number for all rows, the others for this row alone
 */
export const requests = async (
  rounds: Rounds,
  payoutCounts: readonly number[],
  before: string | undefined,
  only: readonly string[] | undefined,
): Promise<void> => {
  const [costs, times]: [string[][], string[][]] = [[], []]
  for (const [index, payoutCount] of payoutCounts.entries()) {
    const rows = index === 0 ? only : [pageOf(payoutCount)]
    const measured = await requestsBeside(rounds, payoutCount, before, rows)
    costs.push(...measured.costs.slice(Math.min(index, 1)))
    times.push(...measured.times.slice(Math.min(index, 1)))
  }
  console.log(`${markdown(costs)}\n\n${markdown(times)}`)
}

const pageOf = (payoutCount: number): string => `payouts, a page of ${count(payoutCount)}`

const requestsBeside = async (
  rounds: Rounds,
  payoutCount: number,
  before: string | undefined,
  only: readonly string[] | undefined,
) => {
  const catalog = writeCatalog()
  const seconds = MEASURED_MAX * (rounds.warmUpSeconds + rounds.rounds * rounds.seconds)
  const stock = { voucherCount: Math.ceil(seconds * ORDERS_PER_SECOND), payoutCount }
  const live = await startLive('live', COMMAND, catalog, stock.voucherCount)
  const sandbox = await startSandbox('sandbox', COMMAND, catalog)
  const earlier = before === undefined ? [] : [before, ...COMMAND.slice(1)]
  const previous = earlier.length === 0 ? [] : [await startLive('live, before', earlier, catalog, stock.voucherCount)]
  for (const subject of [live, sandbox, ...previous]) await payOut(subject, payoutCount)
  const ordinary = await startOrdinary({ ...(await dataOf(live, catalog)), ...stock })
  const { username, password } = live
  const others = ordinary.map(async ({ name, server }) => {
    return { name, server, username, password, token: await logIn(server.port, username, password) }
  })
  const subjects = [live, sandbox, ...(await Promise.all(others)), ...previous]

  const load = new Load()
  const names = subjects.map(({ name }) => name)
  const costs = [['µs', ...names, 'live is', 'sandbox is', 'spread']]
  const times = [['p50 / p99, ms', ...names]]
  for (const { name, asksOf, status } of (await rowsFor(live, payoutCount)).filter(
    (row) => only?.includes(row.name) ?? true,
  )) {
    const contenders = subjects.map((subject): Contender => {
      const headers = { Authorization: `Bearer ${subject.token}`, ...JSON_BODY }
      const exchanges = asksOf(subject).map((each) => {
        return { request: bytesOf({ ...each, headers: { ...headers, ...each.headers } }), status }
      })
      return { server: subject.server, exchanges, measured: [] }
    })
    const spread = await competeOften(load, name, contenders, rounds)
    const cost = contenders.map((contender) => medianOf(contender, 'cpuUs'))
    const [liveUs = 0, sandboxUs = 0, ...ordinaryUs] = cost
    const better = Math.min(...ordinaryUs.slice(0, ordinary.length))
    const timesAsFast = [liveUs, sandboxUs].map((us) => ratio(better / us))
    costs.push([name, ...cost.map((us) => us.toFixed(1)), ...timesAsFast, share(spread)])
    const timesOf = (contender: Contender): string =>
      `${medianOf(contender, 'p50Ms').toFixed(1)} / ${medianOf(contender, 'p99Ms').toFixed(1)}`
    times.push([name, ...contenders.map(timesOf)])
    process.stderr.write(`${costs.at(-1)?.join(' ')}\n`)
  }
  console.log(`Memory of live mode after that: ${mebibytes(residentBytes(live.server.pid))}\n`)
  for (const { server } of subjects) await server.stop()
  return { costs, times }
}

/** Measures a row until its rounds agree, and returns the largest spread of a server. */
const competeOften = async (load: Load, name: string, contenders: Contender[], rounds: Rounds): Promise<number> => {
  for (let measured = 1; ; measured++) {
    process.stderr.write(`${name} ...\n`)
    for (const contender of contenders) contender.measured = []
    await load.compete(contenders, CONNECTIONS, rounds)
    const spread = Math.max(...contenders.map(spreadOf))
    if (spread <= SPREAD_MAX || measured === MEASURED_MAX) return spread
  }
}

/** The shipped catalog, all of it on sale, repeated under other ids and names. */
export const writeCatalog = (): string => {
  const path = join(folder, 'catalog.json')
  const { products } = readJson<{ products: { name: string }[] }>(join(SEED, 'catalog.json'))
  const copies = Array.from({ length: PRODUCTS }, (_, index) => {
    const product = products[index % products.length]
    const edition = Math.floor(index / products.length) + 1
    return { ...product, id: index + 1, name: `${product?.name} ${edition}`, active: true, stock: null }
  })
  writeFileSync(path, JSON.stringify({ products: copies }))
  return path
}

const startSandbox = async (name: string, command: readonly string[], catalog: string): Promise<Scrip> => {
  const dataDir = mkdtempSync(join(folder, 'sandbox-'))
  const serve = () => start([...command, '--catalog', catalog, '--data-dir', dataDir])
  const server = await serve()
  for (const wallet of WALLETS)
    await ask(server.port, { path: `/_sandbox/wallets/${wallet}/fund`, body: `{"amount":${FUNDS}}` })
  const client = { username: 'sandbox', password: 'sandbox' }
  return { name, dataDir, serve, server, ...client, token: await logIn(server.port, client.username) }
}

/** Runs a command of an operator, and returns what it prints. */
export const actIn = async (dataDir: string, command: readonly string[], words: string[]): Promise<string> => {
  const { exitCode, stdout, stderr } = await run([...words, '--data-dir', dataDir], { command })
  if (exitCode !== 0) throw new Error(`scrip ${words.join(' ')}: ${stderr}`)
  return stdout
}

const startLive = async (
  name: string,
  command: readonly string[],
  catalog: string,
  voucherCount: number,
): Promise<Scrip> => {
  const dataDir = mkdtempSync(join(folder, 'live-'))
  const act = (...words: string[]) => actIn(dataDir, command.slice(0, 1), words)
  const client = JSON.parse(await act('client', 'add', 'bench', '--json')) as Client
  for (const currency of ['USD', 'EUR', 'INR']) await act('wallet', 'add', client.username, currency)
  for (const wallet of WALLETS) await act('wallet', 'fund', String(wallet), FUNDS)
  await act('catalog', 'import', catalog)
  await act('rates', 'set', '--file', join(SEED, 'rates.json'))
  await act('vouchers', 'import', writeVouchers(voucherCount))
  const serve = () => start([...command, '--mode', 'live', '--data-dir', dataDir])
  const server = await serve()
  const token = await logIn(server.port, client.username, client.password)
  return { name, dataDir, serve, server, ...client, token }
}

const writeVouchers = (count: number): string => {
  const path = join(folder, 'vouchers.jsonl')
  const code = (_: unknown, index: number): string =>
    JSON.stringify({ product_id: 1, denomination: 100, card_number: `CARD-${index}`, pin_code: '4711' })
  writeFileSync(path, Array.from({ length: count }, code).join('\n'))
  return path
}

const payoutOf = (reference_id: string): Ask => ({
  path: '/api/v1/payouts',
  body: JSON.stringify({ reference_id, wallet_id: 1, amount: 1.25, currency: 'USD', ...PAYEE }),
})

/** Makes the payouts that the list is one page of: one, whose last step the clock of a sandbox has taken, and copies of it. */
const payOut = async (subject: Scrip, payoutCount: number): Promise<void> => {
  const { dataDir, server, token } = subject
  const headers = { Authorization: `Bearer ${token}`, ...JSON_BODY }
  const { status, body } = await ask(server.port, { ...payoutOf('before'), headers })
  if (status !== 201) throw new Error(`a payout: ${status} ${body}`)
  await ask(server.port, { path: '/_sandbox/clock', body: '{"advance":"PT1M"}' })
  await server.stop()
  fillWith(join(dataDir, 'scrip.sqlite'), (copy) => {
    const changes = {
      id: numberedId('pyt'),
      reference_id: "'before-' || n",
      search_folded: "'before-' || n || 'A' || 'ada@example.com'",
      created_at_ms: 'created_at_ms + n',
    }
    copy('payouts', { changes, count: payoutCount - 1 })
  })
  subject.server = await subject.serve()
}

/** The initial data of the ordinary programs. */
const dataOf = async ({ server, token, username, password }: Subject, catalog: string) => {
  const list = async (path: string) =>
    JSON.parse((await ask(server.port, { path, headers: { Authorization: `Bearer ${token}` } })).body.toString())
  return {
    ...{ username, password, fundsMinor: Number(FUNDS) * 100 },
    countries: (await list('/api/v1/countries')) as Data['countries'],
    currencies: (await list('/api/v1/currencies')) as Data['currencies'],
    rates: readJson<{ rates: Data['rates'] }>(join(SEED, 'rates.json')).rates,
    products: readJson<{ products: Data['products'] }>(catalog).products,
  }
}

const rowsFor = async (live: Subject, payoutCount: number): Promise<Row[]> => {
  const purchases = await differentPurchases(live)
  const people = Array.from({ length: DIFFERENT }, (_, number) => beneficiaryOf(number))
  const countries = Array.from({ length: 249 }, (_, index) => ({ path: `/api/v1/countries/${index + 1}` }))
  const row = (name: string, asks: readonly Ask[], status = 200): Row => ({ name, asksOf: () => asks, status })
  const order = { product_id: 1, denomination: 100, quantity: 1, client_reference: `bench-${UNNUMBERED}` }
  const keyed = { ...payoutOf(`keyed-${UNNUMBERED}`), headers: { 'Idempotency-Key': `bench-${UNNUMBERED}` } }
  const logInOf = ({ username, password }: Client): Ask[] => [
    { path: '/auth/login', body: JSON.stringify({ username, password }) },
  ]
  return [
    row('countries', [{ path: '/api/v1/countries' }]),
    row('countries/{id}', countries),
    row('products?limit=50', [{ path: '/api/v1/products?limit=50' }]),
    row(pageOf(payoutCount), [{ path: '/api/v1/payouts' }]),
    row('charges, the same', purchases.slice(0, 1)),
    row('charges, all different', purchases),
    row('beneficiaries', people, 201),
    row('orders', [{ path: '/api/v1/orders', body: JSON.stringify(order) }]),
    row('payouts', [payoutOf(`bench-${UNNUMBERED}`)], 201),
    row('payouts with a key', [keyed], 201),
    // The oldest logins of a client make room, also the one that the other rows use.
    { name: 'login', asksOf: logInOf, status: 200 },
  ]
}

const beneficiaryOf = (number: number): Ask => ({
  path: '/api/v1/beneficiaries',
  body: JSON.stringify({
    email: `ada.${number}@example.com`,
    first_name: 'Ada',
    last_name: `Lovelace ${number}`,
    country: 'GB',
    phone: '+442079460958',
    metadata: { employee: `E-${number}` },
  }),
})

interface Product {
  id: number
  available_denominations: { min_value: number; max_value: number }[]
}

/** One card of each product with a range that the client can pay, at its lowest denomination, at one more, and so on. */
const differentPurchases = async ({ server, token }: Subject): Promise<Ask[]> => {
  const headers = { Authorization: `Bearer ${token}` }
  const purchase = (id: number, denomination: number): Ask => ({
    path: `/api/v1/products/${id}/charges`,
    body: JSON.stringify({ denomination, quantity: 1 }),
  })
  const page = await ask(server.port, { path: `/api/v1/products?limit=${PRODUCTS}`, headers })
  const ranges = (JSON.parse(page.body.toString()) as Product[]).flatMap(({ id, available_denominations }) => {
    const range = available_denominations.find(({ min_value, max_value }) => min_value < max_value)
    return range ? [{ id, from: Math.ceil(range.min_value), to: Math.floor(range.max_value) }] : []
  })
  const payable: typeof ranges = []
  for (const range of ranges) {
    const { status } = await ask(server.port, { ...purchase(range.id, range.from), headers })
    if (status === 200) payable.push(range)
  }
  const purchases: Ask[] = []
  for (let step = 0; purchases.length < PURCHASES; step++) {
    const offering = payable.filter(({ from, to }) => from + step <= to)
    if (offering.length === 0) throw new Error(`the catalog has only ${purchases.length} different purchases`)
    purchases.push(...offering.map(({ id, from }) => purchase(id, from + step)))
  }
  return purchases.slice(0, PURCHASES)
}
