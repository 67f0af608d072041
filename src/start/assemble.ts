import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Deps } from '../app/services.ts'
import { Catalog } from '../catalog/catalog.ts'
import { catalogVersion } from '../catalog/import.ts'
import { readRates } from '../charges/rates.ts'
import type { Config } from '../config/config.ts'
import { Database } from '../db/database.ts'
import { migrate, schemaFaults } from '../db/migrate.ts'
import { isDamage } from '../db/storage.ts'
import type { Clock, SteadyClock } from '../kernel/clock.ts'
import { DataFault } from '../kernel/exit.ts'
import { freshSeed } from '../kernel/ids.ts'
import type { Log } from '../observability/log.ts'
import { markOf } from '../orders/stock-queries.ts'
import { areKeysOf } from '../orders/voucher-key.ts'
import { changesOf } from '../sandbox/editing/products.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import { forgetPasswords, holdsForeignClients } from '../sandbox/seed/accounts.ts'
import { readSnapshot } from '../sandbox/worlds/snapshot-file.ts'
import { requireSoundPages } from '../sandbox/worlds/world-folder.ts'
import { startLive, startSandboxFolder } from './folder.ts'
import { seededImage, startInMemory } from './memory.ts'
import { type Beginning, inFile, type Origin, type Sources } from './origin.ts'
import { readReference, seedReferenceData } from './seed.ts'
import { stageAround } from './stage.ts'
import { VERSION } from './version.ts'

/**
 * @throws DataFault, another Error with the path of its file, or an error of
 * the file system
 */
export const assemble = (config: Config, clock: SteadyClock, log: Log, beginning?: Beginning) => {
  const sources = readSources(config, clock, beginning)
  const { catalog: database, sandboxWorlds, initialRates, folder, release, ...origin } = startFrom(sources)
  const { reference, seed } = sources
  const nextRequestId = requestIds(seed)
  return {
    /** Takes the values that are known once the port is bound. */
    deps: (bound: Pick<Deps, 'publicUrl' | 'addressOf' | 'isClosing' | 'isServing' | 'listeners'>) => {
      const { publicUrl } = bound
      const catalog = new Catalog({
        database,
        version: catalogVersion,
        reference,
        publicUrl,
        onBroken: (error) => log.error('the catalog cannot be read', { cause: String(error) }),
        changesOf: sandboxWorlds && changesOf,
      })
      const { host, sandboxToken: token, strict, corsOrigins } = config
      const options = {
        log,
        initialRates,
        catalog,
        reference,
        version: VERSION,
        publicUrl,
        host,
        token,
        strict,
        corsOrigins,
      }
      const common = { ...bound, ...origin, config, version: VERSION, log, reference, catalog, nextRequestId }
      const stage = stageAround({ sources, deps: common, options })
      const sandbox =
        sandboxWorlds && new Sandbox({ ...options, worlds: sandboxWorlds, stage, settings: beginning?.settings })
      return { ...common, stage, sandbox, extension: sandbox }
    },
    worlds: origin.worlds,
    folder,
    seed,
    nextRequestId,
    sandboxWorlds,
    close: () => {
      origin.worlds.close()
      release()
    },
  }
}

/** Reads all files before anything is written. @throws as {@link assemble} */
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

const startFrom = (sources: Sources): Origin => {
  const { dataDir, mode } = sources.config
  if (dataDir !== undefined) return mode === 'live' ? startLive(dataDir, sources) : startSandboxFolder(dataDir, sources)
  const origin = startInMemory(sources)
  // Live mode without records has nothing but its document (scrip openapi).
  return mode === 'live' ? { ...origin, sandboxWorlds: undefined } : origin
}

const requestIds = (seed: string): (() => string) => {
  const prefix = createHash('sha256').update(`requests ${seed}`).digest('hex').slice(0, 8)
  let count = 0
  return () => `req_${prefix}_${++count}`
}
