import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import packageJson from '../../package.json' with { type: 'text' }
import type { Deps } from '../app.ts'
import { Catalog } from '../catalog/catalog.ts'
import { type RateSource, readRates } from '../charges/rates.ts'
import { storedRates } from '../charges/stored-rates.ts'
import type { Config } from '../config/config.ts'
import {
  DataFault,
  databasePath,
  hasDatabase,
  keep,
  keepDatabase,
  makeDataFolder,
  readKept,
  removeDatabase,
} from '../db/data-folder.ts'
import { Database } from '../db/database.ts'
import { lockForServing } from '../db/folder-lock.ts'
import { migrate } from '../db/migrate.ts'
import { keepMode, requireMode } from '../db/mode.ts'
import type { Clock, SteadyClock } from '../kernel/clock.ts'
import { freshSecret, freshSeed, secureRandomness } from '../kernel/ids.ts'
import type { Log } from '../observability/log.ts'
import { areKeysOf, liveSeals, markOf, openSeal, type SealSource } from '../orders/voucher-key.ts'
import type { Reference } from '../reference/reference.ts'
import { holdsForeignClients, seedSandboxAccounts, setAccountPasswords } from '../sandbox/seed/accounts.ts'
import { SNAPSHOT_KEY, sealInMemory } from '../sandbox/seed/vouchers.ts'
import { readSnapshot, SnapshotFault } from '../sandbox/worlds/snapshots.ts'
import { keepPace, keptClock, putClock, resumePace, type WorldState, worldFrom } from '../sandbox/worlds/state.ts'
import { SandboxWorlds } from '../sandbox/worlds/worlds.ts'
import { World } from '../worlds/world.ts'
import { DEFAULT_WORLD, onlyWorld, type Worlds } from '../worlds/worlds.ts'
import { seededImages } from './seeded-images.ts' with { type: 'macro' }
import {
  catalogVersion,
  endCatalogImport,
  importCatalog,
  makeSeededDatabase,
  readReference,
  SANDBOX_RATES,
  seedReferenceData,
  seedSandboxCatalog,
} from './seeds.ts'

/** The one place that the version stands in. */
export const VERSION = (JSON.parse(packageJson) as { version: string }).version

const SIGNING_KEY_FILE = 'signing.key'
const SIGNING_KEY_BYTES = 32

/** What is known only once the port is bound. */
export type Bound = Pick<Deps, 'publicUrl' | 'addressOf' | 'isClosing' | 'listeners'>

/** Everything below the wire, opened, migrated and seeded. */
export interface Platform {
  /** What the app is made of, once it is bound. */
  deps: (bound: Bound) => Deps
  worlds: Worlds
  close: () => void
}

/**
 * Opens the data, brings it up to date and seeds it.
 *
 * @throws CatalogFault, RatesFault, SnapshotFault, SchemaMismatch, DataFault, or what the file system says
 */
export const assemble = (config: Config, clock: SteadyClock, log: Log): Platform => {
  const seed = config.seed ?? freshSeed()
  const ratesText = config.ratesFile === undefined ? undefined : readFileSync(config.ratesFile, 'utf8')
  const prepared = config.snapshotFile === undefined ? undefined : openSnapshot(config.snapshotFile, config, clock)
  // For each reset, and packed: as text it would weigh as much as all else together.
  const packedCatalog =
    config.catalogFile === undefined ? undefined : Bun.zstdCompressSync(readFileSync(config.catalogFile))

  const unlock = config.dataDir === undefined ? undefined : lockFolder(config.dataDir)

  const reference = readReference()
  const plantCatalog = (database: Database): void => {
    if (packedCatalog) importCatalog(database, reference, Bun.zstdDecompressSync(packedCatalog).toString())
    else if (config.mode === 'sandbox') seedSandboxCatalog(database, reference)
  }
  const fresh = () => prepared ?? freshState(seed)

  const openInMemory = (state: WorldState): World => {
    const world = worldFrom(DEFAULT_WORLD, state, clock)
    setAccountPasswords(world.db)
    return world
  }
  const openInFolder = (dataDir: string, wanted: WorldState | undefined = prepared): World => {
    // What is in the folder already goes on as it was left.
    const state = hasDatabase(dataDir) ? undefined : wanted
    if (state) keepDatabase(dataDir, state.image)
    else if (!hasDatabase(dataDir)) makeSeededDatabase(dataDir, config.mode, clock)
    const database = Database.openFile(databasePath(dataDir))
    requireMode(database.sqlite, config.mode)
    migrate(database.sqlite, clock)
    refuseOtherMode(database, config)
    keepMode(database.sqlite, config.mode)
    seedReferenceData(database)
    endCatalogImport(dataDir, database, reference)
    plantCatalog(database)
    if (config.mode === 'live') return new World(DEFAULT_WORLD, database, clock, secureRandomness)
    seedSandboxAccounts(database, reference)
    if (state) {
      setAccountPasswords(database)
      database.fill((tx) => {
        putClock(tx, state.clock)
        keepPace(tx, state.pace)
      })
    }
    const world = new World(DEFAULT_WORLD, database, keptClock(database, clock), secureRandomness, state?.ids)
    resumePace(world)
    return world
  }
  const { dataDir } = config
  let isServing = false
  const openDefault = (state?: WorldState): World => {
    if (dataDir === undefined) return openInMemory(state ?? fresh())
    const world = openInFolder(dataDir, state)
    if (isServing) world.db.serve()
    return world
  }
  const sandboxWorlds =
    config.mode === 'live'
      ? undefined
      : new SandboxWorlds({
          clock,
          seed,
          openDefault,
          memoryBytesMax: config.memoryBytesMax,
          wipeDefault: () => dataDir !== undefined && removeDatabase(databasePath(dataDir)),
          fresh,
        })
  const worlds: Worlds = sandboxWorlds ?? onlyWorld(openDefault())
  const catalogDatabase = dataDir === undefined ? ownCatalog(config, prepared, plantCatalog) : () => worlds.default.db

  const key = signingKey(config, seed)
  const seals = sealsOf(config, worlds.default.db)
  const rates = ratesOf(config, worlds.default, reference, ratesText)
  // Until here it may wait for a command that writes.
  isServing = true
  worlds.default.db.serve()
  const requestIds = { prefix: createHash('sha256').update(`requests ${seed}`).digest('hex').slice(0, 8), count: 0 }
  return {
    deps: (bound) => ({
      ...bound,
      config,
      version: VERSION,
      log,
      worlds,
      sandboxWorlds,
      reference,
      catalog: new Catalog({
        database: catalogDatabase,
        version: catalogVersion,
        reference,
        publicUrl: bound.publicUrl,
      }),
      rates,
      signingKey: key,
      seals,
      nextRequestId: () => `req_${requestIds.prefix}_${++requestIds.count}`,
    }),
    worlds,
    close: () => {
      worlds.close()
      unlock?.()
    },
  }
}

/**
 * The state that worlds begin with, brought up to date.
 *
 * @throws SnapshotFault
 */
const openSnapshot = (file: string, { dataDir, voucherKey }: Config, clock: Clock): WorldState => {
  try {
    const state = readSnapshot(readFileSync(file, 'utf8'))
    const database = Database.inMemory(state.image)
    migrate(database.sqlite, clock)
    if (!holdsForeignClients(database, 'live')) throw new SnapshotFault('not a snapshot: /database: is no sandbox')
    if (markOf(database.query) !== undefined && !areKeysOf(database.query, dataDir, voucherKey))
      throw new SnapshotFault(SEALED_ELSEWHERE)
    seedReferenceData(database)
    const image = database.image()
    database.close()
    return { ...state, image }
  } catch (error) {
    throw new SnapshotFault(`${file}: ${error instanceof Error ? error.message : String(error)}`, file)
  }
}

const SEALED_ELSEWHERE =
  '/database: its voucher codes are sealed with the key of a data folder: give that key with --voucher-key'

/**
 * The catalog of a sandbox in memory is in a database of its own, which no reset reaches. The catalog that the program
 * carries is opened when first asked for, so that starting does not wait for it.
 */
const ownCatalog = (
  { catalogFile }: Config,
  prepared: WorldState | undefined,
  plant: (database: Database) => void,
): (() => Database) => {
  if (catalogFile === undefined && !prepared) return whenAsked(() => Database.inMemory(decoded(SEEDED.catalog)))
  const database = Database.inMemory(prepared?.image ?? decoded(SEEDED.world))
  plant(database)
  return () => database
}

const lockFolder = (dataDir: string): (() => void) => {
  makeDataFolder(dataDir)
  return lockForServing(dataDir)
}

/** The sandbox opens what it holds to everyone on the machine: real records never, and its own are no real ones. */
const refuseOtherMode = (database: Database, { mode }: Config): void => {
  if (holdsForeignClients(database, mode)) {
    throw new DataFault(`The data is not of --mode ${mode}: each mode keeps a folder of its own.`)
  }
}

/** The databases that a sandbox starts with, seeded while the program was bundled. */
const SEEDED = seededImages()

const decoded = (image: string): Uint8Array => Bun.zstdDecompressSync(Buffer.from(image, 'base64'))

/** A world shares the catalog of the process, so that its own database starts without one. */
const freshState = (seed: string): WorldState => ({
  image: decoded(SEEDED.world),
  clock: { offsetMs: 0, frozenAtMs: null },
  randomness: { seed, position: 0 },
  ids: { lastMs: -1, sequence: 0 },
  pace: { payouts: 'auto', orders: 'auto' },
})

/** Those of a file; without one the sandbox carries its rates, and in live mode an operator sets them. */
const ratesOf = ({ mode }: Config, world: World, reference: Reference, fileText: string | undefined): RateSource =>
  fileText !== undefined
    ? readRates(fileText, reference)
    : mode === 'live'
      ? storedRates(world)
      : carriedRates(reference)

const carriedRates = (reference: Reference): RateSource => {
  const source = whenAsked(() => readRates(SANDBOX_RATES, reference))
  return (from, to) => source()(from, to)
}

/** What is made when it is first asked for, so that starting does not wait for it. */
const whenAsked = <Made extends object>(make: () => Made): (() => Made) => {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** What signs tokens, kept beside the data, so that they outlive the process; in memory it follows from the seed. */
const signingKey = ({ dataDir }: Config, seed: string): Uint8Array => {
  if (dataDir === undefined) return secretOf(seed, SIGNING_KEY_FILE, SIGNING_KEY_BYTES)
  if (!readKept(dataDir, SIGNING_KEY_FILE)) keep(dataDir, SIGNING_KEY_FILE, freshSecret(SIGNING_KEY_BYTES))
  const key = readKept(dataDir, SIGNING_KEY_FILE)
  if (key?.length !== SIGNING_KEY_BYTES) {
    throw new DataFault(`${SIGNING_KEY_FILE} is no key of ${SIGNING_KEY_BYTES} bytes.`)
  }
  return key
}

const sealsOf = ({ dataDir, voucherKey, mode }: Config, database: Database): SealSource => {
  if (mode === 'live' && dataDir !== undefined) return liveSeals(database, dataDir, voucherKey)
  const seal =
    dataDir === undefined ? sealInMemory(voucherKey) : openSeal(database, dataDir, voucherKey, [SNAPSHOT_KEY])
  return () => seal
}

const secretOf = (seed: string, name: string, byteCount: number): Uint8Array =>
  createHash('sha256').update(`${name} ${seed}`).digest().subarray(0, byteCount)
