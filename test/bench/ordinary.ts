import { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from '../program.ts'
import database from './ordinary/database.sql' with { type: 'text' }
import { folder, start } from './programs.ts'

/** The ordinary programs that Scrip is compared with: how they are built and started, and the data that they serve. */

const ROOT = resolve(import.meta.dir, '../..')
const NATIVE = join(ROOT, 'node_modules/better-sqlite3')

/** The initial data of both programs, in the terms of Scrip's API and files. */
export interface Data {
  username: string
  password: string
  countries: { id: number; alpha_3: string }[]
  currencies: { id: number; currency: string; precision: number }[]
  rates: Record<string, string>
  products: {
    [member: string]: unknown
    id: number
    country: string
    currency: string
    handling_fee: { fixed: number; percent: number }
    denominations: unknown[]
  }[]
  /** Codes of product 1 with the denomination 100. */
  voucherCount: number
  payoutCount: number
  /** Balance of each wallet, in minor units. */
  fundsMinor: number
}

/** Starts both programs, each on a copy of the same database. */
export const startOrdinary = async (data: Data) => {
  const elysia = ['bun', join(import.meta.dir, 'ordinary/elysia.ts')]
  const commands = { Fastify: ['node', await buildFastify()], Elysia: elysia }
  const dataDir = mkdtempSync(join(folder, 'ordinary-'))
  const made = join(dataDir, 'made.sqlite')
  makeDatabase(made, data)
  return Promise.all(
    Object.entries(commands).map(async ([name, command]) => {
      const copy = join(dataDir, `${name}.sqlite`)
      copyFileSync(made, copy)
      return { name, server: await start([...command, copy]) }
    }),
  )
}

/** The program as JavaScript, for Node, and its SQLite, which no installation of this project builds. */
const buildFastify = async (): Promise<string> => {
  if (!existsSync(join(NATIVE, 'build/Release/better_sqlite3.node'))) {
    process.stderr.write('building better-sqlite3, once ...\n')
    const { exitCode, stderr } = await run(['run', 'install'], { command: ['npm'], cwd: NATIVE })
    if (exitCode !== 0) throw new Error(`better-sqlite3 was not built: ${stderr}`)
  }
  const entrypoints = [join(import.meta.dir, 'ordinary/fastify.ts')]
  const outdir = join(ROOT, 'dist/bench')
  await Bun.build({ entrypoints, outdir, target: 'node', external: ['fastify', 'better-sqlite3'] })
  return join(outdir, 'fastify.js')
}

const makeDatabase = (path: string, data: Data): void => {
  using db = new Database(path, { create: true, strict: true })
  db.run(database)
  const insert = (table: string, row: Record<string, unknown>): void => {
    const names = Object.keys(row)
    db.query(`INSERT INTO ${table} (${names}) VALUES (${names.map((name) => `$${name}`)})`).run(row as never)
  }
  const countryIds = new Map(data.countries.map(({ id, alpha_3 }) => [alpha_3, id]))
  const currencyIds = new Map(data.currencies.map(({ id, currency }) => [currency, id]))
  const shown = ['name', 'category', 'sub_category', 'delivery_mode', 'delivery_time', 'validity', 'terms', 'details']
  const fill = (): void => {
    for (const country of data.countries) insert('countries', { ...country })
    for (const { id, currency: code, precision } of data.currencies)
      insert('currencies', { code, id, precision, per_usd: Number(data.rates[code]) || null })
    for (const product of data.products)
      insert('products', {
        id: product.id,
        ...Object.fromEntries([...shown, 'how_to_use'].map((name) => [name, product[name]])),
        ...{ country_code: product.country, currency_code: product.currency },
        image_url: `http://127.0.0.1:4747/cards/${product.id}`,
        available_denominations: JSON.stringify(product.denominations),
        ...{ gst_percent: product.gst_percent, max_quantity: product.max_quantity },
        ...{ fee_fixed: product.handling_fee.fixed, fee_percent: product.handling_fee.percent },
        country_id: countryIds.get(product.country),
        currency_id: currencyIds.get(product.currency),
      })
    const password_digest = createHash('sha256').update(data.password).digest('hex')
    insert('clients', { id: 1, username: data.username, password_digest })
    for (const [index, currency_code] of ['USD', 'EUR', 'INR'].entries())
      insert('wallets', { id: index + 1, client_id: 1, currency_code, balance_minor: data.fundsMinor })
    const numbers = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)'
    db.query(
      `INSERT INTO vouchers (product_id, denomination, card_number, pin_code) ${numbers}
       SELECT 1, 100, printf('CARD-%012d', i), '4711' FROM n`,
    ).run(data.voucherCount)
    const at = `strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', i || ' seconds')`
    db.query(
      `INSERT INTO entries (wallet_id, source, amount_minor, balance_minor, created_at) ${numbers}
       SELECT 1, 'payout', -127, 1000, ${at} FROM n`,
    ).run(data.payoutCount)
    db.query(
      `INSERT INTO payouts ${numbers} SELECT printf('pyt_%08d-0000-4000-8000-000000000000', i), 1, printf('before-%09d', i),
       1, i, 'created', 125, 2, 'USD', 'ada@example.com', 'Ada', 'Lovelace', ${at} FROM n`,
    ).run(data.payoutCount)
    db.run('ANALYZE')
  }
  db.transaction(fill)()
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
}

export const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T
