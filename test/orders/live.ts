import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Deps } from '../../src/app/services.ts'
import { importCatalog } from '../../src/catalog/import.ts'
import type { Database } from '../../src/db/database.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { importCodes } from '../../src/orders/stock.ts'
import { passwordDigest } from '../../src/sessions/credentials.ts'
import { addClient } from '../../src/sessions/queries.ts'
import { fund } from '../../src/wallets/ledger.ts'
import { openWallet } from '../../src/wallets/queries.ts'
import { catalogEntry } from '../catalog/entry.ts'
import { openProgram, type ProgramOptions, TestWorld } from '../harness.ts'
import type { Order } from '../records.ts'

/** Live mode in this process: one client with money, two products, and acts of an operator on the data. */

const USD = 139
export const CATALOG = {
  products: [
    catalogEntry({ id: 1, denominations: [{ min_value: 10, max_value: 10, discount: 0 }] }),
    catalogEntry({ id: 2, delivery_time: '24 hours', denominations: [{ min_value: 10, max_value: 10, discount: 0 }] }),
  ],
}

export interface Live extends AsyncDisposable {
  folder: string
  deps: Deps
  database: Database
  /** The messages that were logged as errors. */
  logged: string[]
  request: (path: string, init?: BunFetchRequestInit) => Promise<Response>
  /** Posts JSON. */
  post: (path: string, body: object, headers?: Record<string, string>) => Promise<Response>
  /** Imports codes of 10 USD, one a card number. */
  stock: (productId: number, ...cards: string[]) => Promise<void>
  order: (productId: number, quantity: number) => Promise<Order>
  read: (orderId: number) => Promise<Order>
  /** Refreshes what is kept in memory, as an act of an operator does. */
  refresh: () => void
  stop: () => Promise<void>
}

/** Opens a folder, or one of its own that goes when it is disposed of. */
export const openLive = async (existing?: string, outside?: ProgramOptions['outside']): Promise<Live> => {
  const folder = existing ?? mkdtempSync(join(tmpdir(), 'scrip-live-'))
  const logged: string[] = []
  const write = (line: string): void => void logged.push(line)
  const program = openProgram({ flags: ['--mode', 'live', '--data-dir', folder], write, ...(outside && { outside }) })
  const { deps, logIn, refresh, stop } = program
  const database = deps.worlds.default.db
  if (database.sqlite.query('SELECT 1 FROM clients').get() === null) await furnish(deps)
  const client = TestWorld.of(program, 'default', await logIn({ username: 'acme', password: 'a password' }))
  const post: Live['post'] = (path, body, headers) => client.post(`/api/v1${path}`, body, headers)
  const orderIn = async (response: Response): Promise<Order> => {
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    return (await response.json()) as Order
  }
  return {
    folder,
    deps,
    database,
    logged,
    request: (path, init) => client.request(`/api/v1${path}`, init as object),
    post,
    stock: (productId, ...cards) => stock(deps, productId, cards),
    order: async (product_id, quantity) => orderIn(await post('/orders', { product_id, denomination: 10, quantity })),
    read: async (orderId) => orderIn(await client.get(`/api/v1/orders/${orderId}`)),
    refresh,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop()
      if (existing === undefined) rmSync(folder, { recursive: true })
    },
  }
}

const furnish = ({ worlds, reference }: Deps): Promise<void> => {
  const { db } = worlds.default
  importCatalog(db, reference, JSON.stringify(CATALOG))
  return db.write((tx) => {
    const clientId = addClient(tx, 'acme', passwordDigest('a password'), 0)
    const wallet = { clientId, currencyId: USD, type: 'PREPAID', creditLimitMinor: 0 } as const
    fund(tx, undefined, openWallet(tx, wallet, 0), 1_000_000, { remarks: null, nowMs: 0 })
  })
}

const stock = async (
  { worlds, reference, ciphers }: Deps,
  product_id: number,
  cards: readonly string[],
): Promise<void> => {
  const { db } = worlds.default
  const lines = cards.map((card_number) => JSON.stringify({ product_id, denomination: 10, card_number, pin_code: '1' }))
  await importCodes(lines.join('\n'), {
    query: db.query,
    reference,
    cipher: ciphers(db.query),
    nowMs: systemClock.nowMs(),
    write: (unit) => db.write(unit),
    onProgress() {},
    onPublish() {},
  })
}
