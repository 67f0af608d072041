import { seedSampleCatalog } from '../catalog/import.ts'
import { Database } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { forgetPasswords, SEEDED_AT_MS, seedSandboxAccounts } from '../sandbox/seed/accounts.ts'
import { readReference, seedReferenceData } from './seed.ts'

/** Small pages waste little on empty tables: a world is a third as large. */
const IMAGE_PAGE_BYTES = 1_024

/** A macro, which runs while the program is bundled: at the start, only a copy is opened. */
export const seededImages = () => {
  const database = Database.inMemory()
  database.sqlite.run(`PRAGMA page_size = ${IMAGE_PAGE_BYTES}`)
  migrate(database.sqlite, { nowMs: () => SEEDED_AT_MS })
  seedReferenceData(database)
  const reference = readReference()
  seedSandboxAccounts(database, reference)
  forgetPasswords(database)
  const world = encoded(database)
  seedSampleCatalog(database, reference)
  const catalog = encoded(database)
  database.close()
  return { world, catalog }
}

const ZSTD_LEVEL = 19

/** Compressed: the images would be a tenth of the program otherwise. */
const encoded = (database: Database): string =>
  Bun.zstdCompressSync(database.image() as Uint8Array<ArrayBuffer>, { level: ZSTD_LEVEL }).toString('base64')
