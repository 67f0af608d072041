import { seedSandboxCatalog } from '../catalog/import.ts'
import { Database } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { SEEDED_AT_MS, seedSandboxAccounts } from '../sandbox/seed/accounts.ts'
import { readReference, seedReferenceData } from './seed.ts'

/** Pages of this size waste little on tables that hold nothing yet: a world is a third of what it would be. */
const PAGE_BYTES = 1_024

/** Databases as they are seeded, packed by zstd, in base64: as they are they would be a tenth of the program. */
export interface SeededImages {
  /** What every world of the sandbox begins with. The catalog belongs to no world. */
  world: string
  /** The catalog of the sandbox. */
  catalog: string
}

/**
 * Seeds the databases that the sandbox starts with. Run as a macro while the program is bundled, so that starting it
 * is opening a copy.
 */
export const seededImages = (): SeededImages => {
  const database = Database.inMemory()
  database.sqlite.run(`PRAGMA page_size = ${PAGE_BYTES}`)
  migrate(database.sqlite, { nowMs: () => SEEDED_AT_MS })
  seedReferenceData(database)
  const reference = readReference()
  seedSandboxAccounts(database, reference)
  const world = encoded(database)
  seedSandboxCatalog(database, reference)
  const catalog = encoded(database)
  database.close()
  return { world, catalog }
}

const ZSTD_LEVEL = 19

const encoded = (database: Database): string =>
  Bun.zstdCompressSync(database.image() as Uint8Array<ArrayBuffer>, { level: ZSTD_LEVEL }).toString('base64')
