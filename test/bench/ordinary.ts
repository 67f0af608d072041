import { Database } from 'bun:sqlite'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Running } from '../program.ts'
import type { Exchange } from './load.ts'
import { compiled, folder, start } from './programs.ts'
import { BENEFICIARY_TABLE } from './raw.ts'
import { type Ask, logIn, type Row, send, wireBytes } from './works.ts'

/** The ordinary stacks: made here, given a copy of Scrip's data, and held to the responses that Scrip gives. */

/** One of them, running. */
export interface Ordinary {
  name: string
  served: Running
  token: string
}

/** What Fastify needs, outside of this project: its driver has an install script. */
const PINNED = { fastify: '5.12.8', 'better-sqlite3': '12.11.1', jsonwebtoken: '9.0.3' }
const NODE_MIN = 20
const INSTALL_MS_MAX = 300_000
const RATES = resolve(import.meta.dir, '../../seed/rates.json')
const RATE_ONE = 100_000_000

/** Starts those that this machine can run, and says why it goes without the others. */
export const startOrdinary = async (scripDatabase: string, publicUrl: string): Promise<Ordinary[]> => {
  const commands: [string, string[] | undefined][] = [
    ['fastify', fastify()],
    ['elysia', [compiled('ordinary/elysia')]],
  ]
  const started: Ordinary[] = []
  for (const [name, command] of commands) {
    if (!command) continue
    const path = join(folder, `${name}.json`)
    const databasePath = join(folder, `${name}.sqlite`)
    copyData(scripDatabase, databasePath)
    writeFileSync(path, JSON.stringify({ databasePath, publicUrl }))
    const served = await start([...command, path])
    started.push({ name, served, token: await logIn(served.url, 'sandbox', 'sandbox') })
  }
  return started
}

/** The command that runs Fastify, its packages installed; or undefined where that cannot be done. */
const fastify = (): string[] | undefined => {
  const node = Bun.which('node')
  const npm = Bun.which('npm')
  if (!node || !npm) return without('there is no node with npm')
  const { stdout: version } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  if (Number(/^v(\d+)/.exec(version)?.[1]) < NODE_MIN) return without(`node is ${version.trim()}`)
  const place = join(folder, 'fastify')
  mkdirSync(place)
  const allowScripts = { 'better-sqlite3': true }
  writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, dependencies: PINNED, allowScripts }))
  copyFileSync(`${import.meta.dir}/ordinary/fastify.mjs`, join(place, 'server.mjs'))
  process.stderr.write('installing Fastify ...\n')
  const install = ['install', '--no-audit', '--no-fund', '--no-package-lock']
  const { status, stderr } = spawnSync(npm, install, { cwd: place, encoding: 'utf8', timeout: INSTALL_MS_MAX })
  if (status !== 0) return without(stderr || 'installing takes too long')
  const driver = spawnSync(node, ['-e', "new (require('better-sqlite3'))(':memory:')"], {
    cwd: place,
    encoding: 'utf8',
  })
  if (driver.status !== 0) return without(driver.stderr)
  return [node, join(place, 'server.mjs')]
}

const without = (reason: string): undefined => {
  process.stderr.write(`Goes without Fastify, which cannot be had: ${reason}\n`)
}

/**
 * A copy of all that Scrip has. Beneficiaries are saved as raw saves them, into a table with one index instead of one
 * for each order; rates are what the sandbox has compiled in.
 */
const copyData = (from: string, to: string): void => {
  const source = new Database(from, { readonly: true })
  source.query('VACUUM INTO ?').run(to)
  source.close()
  const copy = new Database(to)
  copy.run('DROP TABLE beneficiaries')
  for (const statement of BENEFICIARY_TABLE) copy.run(statement)
  const { base, rates } = JSON.parse(readFileSync(RATES, 'utf8')) as { base: string; rates: Record<string, string> }
  const insert = copy.query('INSERT INTO exchange_rates VALUES (?, ?, ?)')
  copy.transaction(() => {
    for (const [currency, perBase] of Object.entries({ ...rates, [base]: '1' })) {
      insert.run(currency, Math.round(Number(perBase) * RATE_ONE), currency === base ? 1 : 0)
    }
  })()
  copy.close()
}

/** How many questions of a row are asked beforehand, to compare all that is in the responses. */
const COMPARED = 100
/** What a price in doubles may be beside one in whole minor units. */
const TOLERANCE = 0.010_001

/**
 * The row as an ordinary server is asked it, or undefined where it has no response. Where its response has to be the same
 * as Scrip's it is held to the bytes; a price, which it may round otherwise, to its fields beforehand.
 */
export const exchangesFor = async (
  { served, token }: Ordinary,
  scrip: { url: string; token: string },
  { asks, exchanges }: Row,
): Promise<readonly Exchange[] | undefined> => {
  if (!asks) return undefined
  const isPrice = asks[0]?.path.endsWith('/charges') === true
  if (isPrice) for (const ask of asks.slice(0, COMPARED)) await expectAlike(ask, { url: served.url, token }, scrip)
  return asks.map((ask, index) => {
    const { status, bodyLength = 0, fingerprint = '' } = exchanges[index] as Exchange
    return { request: wireBytes(ask, token), status, ...(!isPrice && { bodyLength, fingerprint }) }
  })
}

type Server = { url: string; token: string }

const expectAlike = async (ask: Ask, theirs: Server, ours: Server): Promise<void> => {
  const [a, b] = await Promise.all(
    [theirs, ours].map(async ({ url, token }): Promise<unknown> => (await send(url, token, ask)).json()),
  )
  if (!isAlike(a, b)) throw new Error(`${JSON.stringify(ask)}: ${JSON.stringify(a)} and not ${JSON.stringify(b)}`)
}

/** Whether two responses are the same but for the rounding of amounts. */
const isAlike = (a: unknown, b: unknown): boolean => {
  if (typeof a === 'number' && typeof b === 'number') return Math.abs(a - b) <= TOLERANCE
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))]
  return left.size === right.size && [...left].every(([name, value]) => isAlike(value, right.get(name)))
}
