import { readFileSync } from 'node:fs'
import { readRates } from '../charges/rates.ts'
import type { Config } from '../config/config.ts'
import { Database } from '../db/database.ts'
import { migrate, schemaFaults } from '../db/migrate.ts'
import { isDamage } from '../db/storage.ts'
import type { Clock, SteadyClock } from '../kernel/clock.ts'
import { DataFault } from '../kernel/exit.ts'
import { freshSeed } from '../kernel/ids.ts'
import { sha256Of } from '../kernel/sha256.ts'
import type { Log } from '../observability/log.ts'
import { markOf } from '../orders/stock-queries.ts'
import { areKeysOf } from '../orders/voucher-key.ts'
import type { Reference } from '../reference/reference.ts'
import type { Settings } from '../sandbox/scenario/make.ts'
import { forgetPasswords, holdsForeignClients } from '../sandbox/seed/accounts.ts'
import { readSnapshot } from '../sandbox/worlds/snapshot-file.ts'
import { requireSoundPages } from '../sandbox/worlds/world-folder.ts'
import { startLive, startSandboxFolder } from './folder.ts'
import { seededImage, startInMemory } from './memory.ts'
import { readReference, seedReferenceData } from './seed.ts'
import { type Beginning, type Data, inFile, type Sources } from './sources.ts'

/** The first layer of a start: folder, keys and data are open, and nothing is served. */
export interface Opened extends Omit<Data, 'release'> {
  config: Config
  clock: SteadyClock
  log: Log
  reference: Reference
  seed: string
  /** The settings of a new world besides its data. */
  settings: Settings | undefined
  /** Makes an identifier for a request that belongs to no world. */
  nextRequestId: () => string
  close: () => void
}

/** @throws DataFault, another Error with the path of its file, or an error of the file system */
export const open = (config: Config, clock: SteadyClock, log: Log, beginning?: Beginning): Opened => {
  const sources = readSources(config, clock, beginning)
  const { seed, reference } = sources
  const { release, ...data } = dataFrom(sources)
  const close = (): void => {
    data.worlds.close()
    release()
  }
  const settings = beginning?.settings
  return { ...data, config, clock, log, reference, seed, settings, nextRequestId: requestIds(seed), close }
}

/** Reads all files before anything is written. @throws as {@link open} */
const readSources = (config: Config, clock: SteadyClock, beginning: Beginning | undefined): Sources => {
  const { catalogFile, ratesFile, snapshotFile } = config
  const seed = beginning?.seed ?? config.seed ?? freshSeed()
  const reference = readReference()
  const read = <T>(file: string | undefined, from: (bytes: Buffer) => T): T | undefined =>
    file === undefined ? undefined : inFile(file, () => from(readFileSync(file)))
  const snapshot = read(snapshotFile, (bytes) => imageIn(bytes, config, clock))
  const startImage = snapshot ?? beginning?.image
  return {
    config,
    clock,
    seed,
    reference,
    packedCatalog: read(catalogFile, (bytes) => Bun.zstdCompressSync(bytes as Uint8Array<ArrayBuffer>)),
    rates: read(ratesFile, (bytes) => readRates(bytes.toString(), reference)),
    snapshot,
    beginning,
    startImage,
    initial: () => startImage ?? seededImage(),
  }
}

const imageIn = (bytes: Buffer, config: Config, clock: Clock): Uint8Array => {
  try {
    return upToDate(readSnapshot(bytes.toString()), config, clock)
  } catch (error) {
    throw isDamage(error) ? new DataFault(`not a snapshot: /database: ${(error as Error).message}`) : error
  }
}

/**
 * The image after migration, with current seed data and without passwords. Its schema is exactly that of the migrations.
 * @throws Error that says what is wrong with it
 */
const upToDate = (image: Uint8Array, { dataDir, voucherKey }: Config, clock: Clock): Uint8Array => {
  const database = Database.inMemory(image)
  // Before anything is written: a foreign trigger would run.
  const [fault] = schemaFaults(database.sqlite)
  if (fault !== undefined) throw new DataFault(`not a snapshot: /database: ${fault}`)
  requireSoundPages(database)
  migrate(database.sqlite, clock)
  if (!holdsForeignClients(database, 'live')) throw new DataFault('not a snapshot: /database: is not a sandbox')
  if (markOf(database.query) !== undefined && !areKeysOf(database.query, dataDir, voucherKey)) {
    throw new DataFault(SEALED_ELSEWHERE)
  }
  seedReferenceData(database)
  forgetPasswords(database)
  return database.closeToImage()
}

const SEALED_ELSEWHERE =
  '/database: its voucher codes are encrypted with the key of a data folder\nSet that key with --voucher-key.'

const dataFrom = (sources: Sources): Data => {
  const { dataDir, mode } = sources.config
  if (dataDir !== undefined) return mode === 'live' ? startLive(dataDir, sources) : startSandboxFolder(dataDir, sources)
  const data = startInMemory(sources)
  // Live mode without records has nothing but its document (scrip openapi).
  return mode === 'live' ? { ...data, sandboxWorlds: undefined } : data
}

const requestIds = (seed: string): (() => string) => {
  const prefix = sha256Of(`requests ${seed}`).slice(0, 8)
  let count = 0
  return () => `req_${prefix}_${++count}`
}
