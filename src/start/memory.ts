import { storedRates } from '../charges/stored-rates.ts'
import { Database } from '../db/database.ts'
import { sha256BytesOf } from '../kernel/sha256.ts'
import { setAccountPasswords } from '../sandbox/seed/accounts.ts'
import { cipherInMemory } from '../sandbox/seed/vouchers.ts'
import { firstState, keptState, worldFrom } from '../sandbox/worlds/state.ts'
import { TemporaryFiles, TemporaryFolder } from '../sandbox/worlds/temporary-folder.ts'
import { SandboxWorlds } from '../sandbox/worlds/worlds.ts'
import type { World } from '../work/world.ts'
import { DEFAULT_WORLD } from '../work/worlds.ts'
import { seededImages } from './seeded-images.ts' with { type: 'macro' }
import { type Data, initialRatesOf, type Sources, seedCatalog } from './sources.ts'

/** Seeded while the program was bundled. */
const SEEDED = seededImages()

/** The seed data of a world, without a catalog: worlds share the catalog of the process. */
export const seededImage = (): Uint8Array => unpacked(SEEDED.world)

export const startInMemory = (sources: Sources): Data => {
  const { config, clock, seed, startImage, initial } = sources
  /** Without a given image, its data is opened by the first request that needs it. */
  const openDefault = (old?: World, image = startImage): World => {
    old?.close()
    const open = (): Database => {
      const database = Database.inMemory(image ?? initial())
      setAccountPasswords(database)
      return database
    }
    if (!image) return worldFrom(DEFAULT_WORLD, open, firstState(seed), clock)
    const database = open()
    return worldFrom(DEFAULT_WORLD, database, keptState(database.query, seed), clock)
  }
  const files = new TemporaryFiles()
  const worlds = new SandboxWorlds({
    clock,
    seed,
    initial,
    default: openDefault(),
    reopenDefault: openDefault,
    folder: new TemporaryFolder(files, initial),
    isLasting: false,
    snapshotFolder: new TemporaryFolder(files, initial),
    prepare: () => undefined,
  })
  const cipher = cipherInMemory(config.voucherKey)
  const initialRates = initialRatesOf(sources)
  return {
    worlds,
    sandboxWorlds: worlds,
    catalogDatabase: catalogInMemory(sources),
    rates: storedRates(initialRates),
    initialRates,
    ciphers: () => cipher,
    signingKey: sha256BytesOf(`signing.key ${seed}`),
    folder: undefined,
    release: () => undefined,
  }
}

/** The separate database of the catalog, which no reset changes. */
const catalogInMemory = (
  sources: Pick<Sources, 'config' | 'reference' | 'packedCatalog' | 'snapshot'>,
): (() => Database) => {
  const { packedCatalog, snapshot } = sources
  if (!packedCatalog && !snapshot) return carriedCatalog()
  const database = Database.inMemory(snapshot ?? unpacked(SEEDED.world))
  seedCatalog(database, sources)
  return () => database
}

/** Opened at first use, because it delays the start. */
const carriedCatalog = (): (() => Database) => {
  let database: Database | undefined
  return () => {
    database ??= Database.inMemory(unpacked(SEEDED.catalog))
    return database
  }
}

const unpacked = (image: string): Uint8Array => Bun.zstdDecompressSync(Buffer.from(image, 'base64'))
