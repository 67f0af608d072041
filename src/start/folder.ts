import { fixedRates, storedRates } from '../charges/stored-rates.ts'
import { PAGE_BYTES } from '../db/connections.ts'
import { copyWithoutPostgres, findPosition } from '../db/copy-position.ts'
import { Database } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import {
  databasePath,
  findPrivateFile,
  hasDatabase,
  makeDataFolder,
  requirePrivateFiles,
  writeDatabase,
  writePrivateFile,
} from '../folder/files.ts'
import { lockForLife } from '../folder/lock.ts'
import { requireMode, requireModeOf, storeMode } from '../folder/mode.ts'
import type { Clock } from '../kernel/clock.ts'
import { DataFault } from '../kernel/exit.ts'
import { freshSecret } from '../kernel/ids.ts'
import { liveCiphers, openCipher } from '../orders/voucher-key.ts'
import { holdsForeignClients, seedSandboxAccounts, setAccountPasswords } from '../sandbox/seed/accounts.ts'
import { SNAPSHOT_KEY } from '../sandbox/seed/vouchers.ts'
import { worldFoldersIn } from '../sandbox/worlds/database-folder.ts'
import { preparedImage } from '../sandbox/worlds/snapshots.ts'
import { keepRandomness, keptState, worldFrom } from '../sandbox/worlds/state.ts'
import { requireSoundPages } from '../sandbox/worlds/world-folder.ts'
import { SandboxWorlds } from '../sandbox/worlds/worlds.ts'
import type { World } from '../work/world.ts'
import { DEFAULT_WORLD, onlyWorld } from '../work/worlds.ts'
import { seedReferenceData } from './seed.ts'
import { ServedFolder } from './served-folder.ts'
import { type Data, initialRatesOf, type Sources, seedCatalog } from './sources.ts'

const SIGNING_KEY_FILE = 'signing.key'
const SIGNING_KEY_BYTES = 32

/** @throws DataFault */
export const startLive = (dataDir: string, sources: Sources): Data => {
  const { config, clock, rates } = sources
  requirePrivateFiles(dataDir)
  makeDataFolder(dataDir)
  if (hasDatabase(dataDir)) requireModeOf(databasePath(dataDir), 'live')
  const bringUpToDate = (database: Database) => {
    fillDatabase(database, sources)
    return openCipher(database, dataDir, config.voucherKey)
  }
  const folder = new ServedFolder({
    dataDir,
    clock,
    prepare: () => {
      if (!hasDatabase(dataDir)) createDatabase(dataDir, 'live', clock)
      const database = Database.openFile(databasePath(dataDir))
      if (!config.postgres) requireNoCopy(database, dataDir)
      bringUpToDate(database)
      return database
    },
    bringUpToDate,
    isLocked: config.postgres !== undefined,
  })
  if (!config.postgres) folder.take()
  const { world } = folder
  return {
    worlds: onlyWorld(world),
    sandboxWorlds: undefined,
    catalogDatabase: () => world.db,
    signingKey: config.signingKey ?? getSigningKey(dataDir),
    ciphers: liveCiphers(dataDir, config.voucherKey),
    rates: rates ? fixedRates(rates) : storedRates(),
    initialRates: () => undefined,
    folder,
    release: () => folder.release(),
  }
}

/** @throws DataFault */
export const startSandboxFolder = (dataDir: string, sources: Sources): Data => {
  const { config, clock, seed, initial, startImage } = sources
  const initialRates = initialRatesOf(sources)
  makeDataFolder(dataDir)
  const lock = lockForLife(dataDir)
  if (!hasDatabase(dataDir)) writeSandbox(dataDir, sources, startImage)
  const world = openSandbox(dataDir, sources)
  const signingKey = getSigningKey(dataDir)
  const cipher = openCipher(world.db, dataDir, config.voucherKey, [SNAPSHOT_KEY])
  world.db.serve()
  const { worlds: folder, snapshots: snapshotFolder } = worldFoldersIn(dataDir)
  const prepare = (database: Database): void => {
    requireSound(database)
    migrate(database.sqlite, clock)
    storeMode(database.sqlite, 'sandbox')
    seedReferenceData(database)
  }
  let prepared: Uint8Array | undefined
  const worlds = new SandboxWorlds({
    clock,
    seed,
    default: world,
    reopenDefault: (old, image = startImage) => {
      writeSandbox(dataDir, sources, image, () => old.close())
      const next = openSandbox(dataDir, sources)
      next.db.serve()
      return next
    },
    folder,
    isLasting: true,
    snapshotFolder,
    initial: () => {
      prepared ??= preparedImage(initial(), prepare)
      return prepared
    },
    prepare,
  })
  return {
    worlds,
    sandboxWorlds: worlds,
    catalogDatabase: () => worlds.default.db,
    signingKey,
    ciphers: () => cipher,
    rates: storedRates(initialRates),
    initialRates,
    folder: undefined,
    release: () => lock[Symbol.dispose](),
  }
}

/** Writes an image, whose accounts get their documented passwords, or a new database. */
const writeSandbox = (dataDir: string, { clock }: Sources, image?: Uint8Array, release?: () => void): void => {
  const content = image ? preparedImage(image, setAccountPasswords) : newImage('sandbox', clock)
  writeDatabase(databasePath(dataDir), content, release)
}

const openSandbox = (dataDir: string, sources: Sources): World => {
  const database = Database.openFile(databasePath(dataDir))
  fillDatabase(database, sources)
  seedSandboxAccounts(database, sources.reference)
  const world = worldFrom(DEFAULT_WORLD, database, keptState(database.query, sources.seed), sources.clock)
  keepRandomness(world)
  return world
}

/** @throws Error that says what is wrong with a database of an earlier process, or of somebody who replaced it */
const requireSound = (database: Database): void => {
  requireSoundPages(database)
  keptState(database.query, '') // the database of another program has no such tables
  requireMode(database.sqlite, 'sandbox')
}

/** Requires a folder lock. */
export const createDatabase = (dataDir: string, mode: 'sandbox' | 'live', clock: Clock): void =>
  writeDatabase(databasePath(dataDir), newImage(mode, clock))

const newImage = (mode: 'sandbox' | 'live', clock: Clock): Uint8Array => {
  const database = Database.inMemory()
  database.sqlite.run(`PRAGMA page_size = ${PAGE_BYTES}`)
  migrate(database.sqlite, clock)
  storeMode(database.sqlite, mode)
  seedReferenceData(database)
  return database.closeToImage()
}

/** @throws DataFault */
const requireNoCopy = ({ sqlite }: Database, dataDir: string): void => {
  const position = findPosition(sqlite)
  if (position) throw new DataFault(copyWithoutPostgres(position, dataDir))
}

/** Checks the mode, migrates and seeds. @throws DataFault */
const fillDatabase = (database: Database, sources: Sources): void => {
  const { clock } = sources
  const { mode } = sources.config
  requireMode(database.sqlite, mode)
  migrate(database.sqlite, clock)
  // A database of an early release has no mode. The sandbox opens its records to everyone on the machine.
  if (holdsForeignClients(database, mode)) {
    throw new DataFault(`the data does not belong to --mode ${mode}\nUse another folder for each mode.`)
  }
  storeMode(database.sqlite, mode)
  seedReferenceData(database)
  seedCatalog(database, sources)
}

/** Kept beside the data, so that tokens outlive the process. @throws DataFault */
const getSigningKey = (dataDir: string): Uint8Array => {
  if (!findPrivateFile(dataDir, SIGNING_KEY_FILE))
    writePrivateFile(dataDir, SIGNING_KEY_FILE, freshSecret(SIGNING_KEY_BYTES))
  const key = findPrivateFile(dataDir, SIGNING_KEY_FILE)
  if (key?.length !== SIGNING_KEY_BYTES) {
    throw new DataFault(
      `${SIGNING_KEY_FILE} is not a key of ${SIGNING_KEY_BYTES} bytes\nDelete the file to get a new key: all clients must log in again then.`,
    )
  }
  return key
}
