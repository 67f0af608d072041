import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'text' }
import type { Deps } from './app.ts'
import { Catalog } from './catalog/catalog.ts'
import { readRates } from './charges/rates.ts'
import type { Config } from './config.ts'
import { Database } from './db/database.ts'
import { migrate } from './db/migrate.ts'
import { type Clock, MovableClock } from './kernel/clock.ts'
import { freshSecret, freshSeed, type Randomness, SeededRandomness, secureRandomness } from './kernel/ids.ts'
import type { Log } from './log.ts'
import { SEAL_KEY_BYTES, Seal } from './orders/seal.ts'
import { Reference } from './reference/reference.ts'
import { holdsForeignClients, seedSandboxAccounts } from './sandbox/accounts.ts'
import { SANDBOX_RATES, seedCatalog, seedReferenceData } from './seeds.ts'
import { World } from './worlds/world.ts'
import { DEFAULT_WORLD, Worlds } from './worlds/worlds.ts'

/** The one place that the version stands in. */
export const VERSION = (JSON.parse(packageJson) as { version: string }).version

const DATABASE_FILE = 'scrip.sqlite'
const SIGNING_KEY_BYTES = 32
const PRIVATE_FILE_MODE = 0o600
const PRIVATE_FOLDER_MODE = 0o700

/** A data folder that cannot be what it is asked to be. */
class ForeignData extends Error {
  override readonly name = 'ForeignData'
}

/** What is known only once the port is bound. */
export type Bound = Pick<Deps, 'publicUrl' | 'addressOf' | 'isReady'>

/** Everything below the wire, opened, migrated and seeded. */
export interface Platform {
  /** What the app is made of, once it is bound. */
  deps: (bound: Bound) => Deps
  close: () => void
}

/**
 * Opens the data, brings it up to date and seeds it.
 *
 * @throws CatalogFault, RatesFault, SchemaMismatch, ForeignData, or what the file system says
 */
export const assemble = (config: Config, clock: Clock, log: Log): Platform => {
  const seed = config.seed ?? freshSeed()
  const rates = readRates(config.ratesFile === undefined ? SANDBOX_RATES : readFileSync(config.ratesFile, 'utf8'))
  const catalogText = config.catalogFile === undefined ? undefined : readFileSync(config.catalogFile, 'utf8')

  const openDefault = (): World => {
    const database = openDatabase(config.dataDir)
    migrate(database.sqlite, clock)
    refuseOtherMode(database, config)
    seedReferenceData(database)
    const reference = new Reference(database)
    if (config.mode === 'sandbox' || catalogText !== undefined) seedCatalog(database, reference, catalogText)
    if (config.mode === 'live') return new World(DEFAULT_WORLD, database, clock, secureRandomness)
    const worldClock = new MovableClock(clock)
    seedSandboxAccounts(database, reference, worldClock.nowMs())
    return new World(DEFAULT_WORLD, database, worldClock, sandboxRandomness(config, seed))
  }
  const worlds = new Worlds({
    clock,
    seed,
    openDefault,
    wipeDefault: () => config.dataDir !== undefined && wipeDatabase(config.dataDir),
    freshImage: () => freshImage(clock),
  })

  const key = keptKey(config, seed, 'signing.key', SIGNING_KEY_BYTES)
  const seal = new Seal(keptKey(config, seed, 'voucher.key', SEAL_KEY_BYTES))
  const { db } = worlds.default
  const reference = new Reference(db)
  const requestIds = { prefix: createHash('sha256').update(`requests ${seed}`).digest('hex').slice(0, 8), count: 0 }
  return {
    deps: (bound) => ({
      ...bound,
      config,
      version: VERSION,
      log,
      worlds,
      reference,
      catalog: new Catalog(db, reference, bound.publicUrl),
      rates,
      signingKey: key,
      seal,
      nextRequestId: () => `req_${requestIds.prefix}_${++requestIds.count}`,
    }),
    close: () => worlds.close(),
  }
}

const openDatabase = (dataDir: string | undefined): Database => {
  if (dataDir === undefined) return Database.inMemory()
  mkdirSync(dataDir, { recursive: true, mode: PRIVATE_FOLDER_MODE })
  return Database.openFile(join(dataDir, DATABASE_FILE))
}

/** The sandbox opens what it holds to everyone on the machine: real records never, and its own are no real ones. */
const refuseOtherMode = (database: Database, { mode }: Config): void => {
  if (holdsForeignClients(database, mode)) {
    throw new ForeignData(`The data is not of --mode ${mode}: each mode keeps a folder of its own.`)
  }
}

const wipeDatabase = (dataDir: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataDir, DATABASE_FILE + suffix), { force: true })
}

/** Kept data outlives its process, so that what was drawn once must not be drawn again. */
const sandboxRandomness = (config: Config, seed: string): Randomness =>
  config.dataDir === undefined ? new SeededRandomness(seed) : secureRandomness

/** A named world shares the catalog of the process, so that its own database starts without one. */
const freshImage = (clock: Clock): Uint8Array => {
  const database = Database.inMemory()
  migrate(database.sqlite, clock)
  seedReferenceData(database)
  seedSandboxAccounts(database, new Reference(database), clock.nowMs())
  const image = database.image()
  database.close()
  return image
}

/** A secret kept beside the data, so that what it signs or seals outlives the process; in memory it follows from the seed. */
const keptKey = ({ dataDir }: Config, seed: string, file: string, byteCount: number): Uint8Array => {
  if (dataDir === undefined) return createHash('sha256').update(`${file} ${seed}`).digest().subarray(0, byteCount)
  const path = join(dataDir, file)
  if (!existsSync(path)) {
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, freshSecret(byteCount), { mode: PRIVATE_FILE_MODE, flush: true })
    renameSync(draft, path)
  }
  const key = readFileSync(path)
  if (key.length !== byteCount) throw new ForeignData(`${file} is no key of ${byteCount} bytes.`)
  return key
}
