import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Running, residentBytes, run } from '../program.ts'
import { PAYEE } from '../records.ts'
import { type Ask, ask, bytesOf, Connection } from '../rigs/connection.ts'
import { logIn } from '../rigs/server.ts'
import { UNNUMBERED } from './load.ts'
import { type Data, readJson, startOrdinary } from './ordinary.ts'
import { type Contender, folder, Load, medianOf, type Rounds, SANDBOX, spreadOf, start } from './programs.ts'
import { markdown, mebibytes, ratio, share } from './table.ts'

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
const ORDERS_PER_SECOND = 3_000

/** Prints the tables of docs/internals/performance.md, and the memory that live mode has at the end. */
export const requests = async (
  rounds: Rounds,
  payoutCount: number,
  before: string | undefined,
  only: readonly string[] | undefined,
): Promise<void> => {
  const catalog = writeCatalog()
  const seconds = MEASURED_MAX * (rounds.warmUpSeconds + rounds.rounds * rounds.seconds)
  const stock = { voucherCount: Math.ceil(seconds * ORDERS_PER_SECOND), payoutCount }
  const live = await startLive('live', COMMAND, catalog, stock.voucherCount)
  const sandbox = await startSandbox('sandbox', COMMAND, catalog)
  const earlier = before === undefined ? [] : [before, ...COMMAND.slice(1)]
  const previous = earlier.length === 0 ? [] : [await startLive('live, before', earlier, catalog, stock.voucherCount)]
  await Promise.all([live, sandbox, ...previous].map((subject) => payOut(subject, payoutCount)))
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
  for (const { name, asksOf, status } of (await rowsFor(live)).filter((row) => only?.includes(row.name) ?? true)) {
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
  console.log(`${markdown(costs)}\n\n${markdown(times)}`)
  console.log(`\nMemory of live mode after that: ${mebibytes(residentBytes(live.server.pid))}`)
  for (const { server } of subjects) await server.stop()
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

const startSandbox = async (name: string, command: readonly string[], catalog: string): Promise<Subject> => {
  const server = await start([...command, '--catalog', catalog, '--data-dir', join(folder, name)])
  for (const wallet of WALLETS)
    await ask(server.port, { path: `/_sandbox/wallets/${wallet}/fund`, body: `{"amount":${FUNDS}}` })
  const client = { username: 'sandbox', password: 'sandbox' }
  return { name, server, ...client, token: await logIn(server.port, client.username) }
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
): Promise<Subject> => {
  const dataDir = join(folder, name)
  const act = (...words: string[]) => actIn(dataDir, command.slice(0, 1), words)
  const client = JSON.parse(await act('client', 'add', 'bench', '--json')) as Client
  for (const currency of ['USD', 'EUR', 'INR']) await act('wallet', 'add', client.username, currency)
  for (const wallet of WALLETS) await act('wallet', 'fund', String(wallet), FUNDS)
  await act('catalog', 'import', catalog)
  await act('rates', 'set', '--file', join(SEED, 'rates.json'))
  await act('vouchers', 'import', writeVouchers(voucherCount))
  const server = await start([...command, '--mode', 'live', '--data-dir', dataDir])
  return { name, server, ...client, token: await logIn(server.port, client.username, client.password) }
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

/** Makes the payouts that the list is one page of. */
const payOut = async ({ server, token }: Subject, count: number): Promise<void> => {
  const headers = { Authorization: `Bearer ${token}`, ...JSON_BODY }
  let made = 0
  const converse = async (): Promise<void> => {
    const connection = await Connection.open(server.port)
    while (made < count) {
      const { status, body } = await connection.send(bytesOf({ ...payoutOf(`before-${++made}`), headers }))
      if (status !== 201) throw new Error(`a payout: ${status} ${body}`)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, converse))
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

const rowsFor = async (live: Subject): Promise<Row[]> => {
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
    row('payouts, a page', [{ path: '/api/v1/payouts' }]),
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
