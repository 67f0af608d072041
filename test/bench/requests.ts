import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Running, residentBytes, run } from '../program.ts'
import { PAYEE } from '../records.ts'
import { type Ask, ask, bytesOf } from '../rigs/connection.ts'
import { logIn } from '../rigs/server.ts'
import { UNNUMBERED } from './load.ts'
import { type Contender, folder, Load, medianOf, type Rounds, SANDBOX, start } from './programs.ts'
import { markdown, mebibytes } from './table.ts'

/** Processor time of a request, with 10,000 products: Scrip in both modes, and an earlier executable, by turns. */

/** A server as one column of the table. */
interface Subject {
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
  asks: readonly Ask[]
  status: number
  /** Live mode cannot serve it. */
  isSandbox?: true
}

const JSON_BODY = { 'Content-Type': 'application/json' }
const PRODUCTS = 10_000
/** More than Scrip holds prices of, so that none is held when its turn comes again. */
const PURCHASES = 20_000
const DIFFERENT = 1_000
const CONNECTIONS = 32
/** More than all rounds can spend. */
const FUNDS = '1000000000'
/** The wallets that pay in both modes: in USD and in INR. */
const WALLETS = [1, 3]
const SEED = resolve(import.meta.dir, '../../seed')

/** Prints the table, and the memory that live mode has at its end. */
export const requests = async (rounds: Rounds, before: string | undefined): Promise<void> => {
  const catalog = writeCatalog()
  const earlier = before === undefined ? [] : [before]
  const live = await startLive('live', SANDBOX, catalog)
  const subjects = [
    live,
    await startLive('live, logging', SANDBOX.slice(0, -2), catalog),
    await startSandbox('sandbox', SANDBOX, catalog),
    ...(await Promise.all(
      earlier.flatMap((executable) => {
        const command = [executable, ...SANDBOX.slice(1)]
        return [startLive('live, before', command, catalog), startSandbox('sandbox, before', command, catalog)]
      }),
    )),
  ]
  const load = new Load()
  const table = [['µs', ...subjects.map(({ name }) => name)]]
  for (const { name, asks, status, isSandbox } of await rowsFor(live)) {
    process.stderr.write(`${name} ...\n`)
    const contenders = new Map<Subject, Contender>()
    for (const subject of subjects.filter((each) => !(isSandbox && each.name.startsWith('live')))) {
      const headers = { Authorization: `Bearer ${subject.token}`, ...JSON_BODY }
      const exchanges = asks.map((each) => ({ request: bytesOf({ ...each, headers }), status }))
      contenders.set(subject, { server: subject.server, exchanges, measured: [] })
    }
    await load.compete([...contenders.values()], CONNECTIONS, rounds)
    const cost = (contender?: Contender): string => (contender ? medianOf(contender, 'cpuUs').toFixed(1) : '-')
    table.push([name, ...subjects.map((subject) => cost(contenders.get(subject)))])
  }
  console.log(`${markdown(table)}\n\nMemory of live mode after that: ${mebibytes(residentBytes(live.server.pid))}`)
  for (const { server } of subjects) await server.stop()
}

/** The shipped catalog, all of it on sale, repeated under other ids and names. */
const writeCatalog = (): string => {
  const path = join(folder, 'catalog.json')
  const { products } = JSON.parse(readFileSync(join(SEED, 'catalog.json'), 'utf8')) as { products: { name: string }[] }
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
  return { name, server, token: await logIn(server.port, 'sandbox') }
}

const startLive = async (name: string, command: readonly string[], catalog: string): Promise<Subject> => {
  const dataDir = join(folder, name)
  const act = async (...words: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await run([...words, '--data-dir', dataDir], { command: command.slice(0, 1) })
    if (exitCode !== 0) throw new Error(`scrip ${words.join(' ')}: ${stderr}`)
    return stdout
  }
  const client = JSON.parse(await act('client', 'add', 'bench', '--json')) as Client
  for (const currency of ['USD', 'EUR', 'INR']) await act('wallet', 'add', client.username, currency)
  for (const wallet of WALLETS) await act('wallet', 'fund', String(wallet), FUNDS)
  await act('catalog', 'import', catalog)
  await act('rates', 'set', '--file', join(SEED, 'rates.json'))
  const server = await start([...command, '--mode', 'live', '--data-dir', dataDir])
  return { name, server, token: await logIn(server.port, client.username, client.password) }
}

const rowsFor = async (subject: Subject): Promise<Row[]> => {
  const purchases = await differentPurchases(subject)
  const people = Array.from({ length: DIFFERENT }, (_, number) => beneficiaryOf(number))
  const countries = Array.from({ length: 249 }, (_, index) => ({ path: `/api/v1/countries/${index + 1}` }))
  const row = (name: string, asks: readonly Ask[], status = 200): Row => {
    return { name, asks, status }
  }
  const order = { product_id: 1, denomination: 100, quantity: 1, client_reference: `bench-${UNNUMBERED}` }
  const payout = { reference_id: `bench-${UNNUMBERED}`, wallet_id: 1, amount: 1.25, currency: 'USD', ...PAYEE }
  return [
    row('countries', [{ path: '/api/v1/countries' }]),
    row('countries/{id}', countries),
    row('products?limit=50', [{ path: '/api/v1/products?limit=50' }]),
    row('charges, the same', purchases.slice(0, 1)),
    row('charges, all different', purchases),
    row('beneficiaries', people, 201),
    // Live mode would need the voucher codes.
    { ...row('orders', [{ path: '/api/v1/orders', body: JSON.stringify(order) }]), isSandbox: true },
    row('payouts', [{ path: '/api/v1/payouts', body: JSON.stringify(payout) }], 201),
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
