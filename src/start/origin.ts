import { importCatalog, seedSandboxCatalog } from '../catalog/import.ts'
import type { RateSource } from '../charges/rates.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../db/database.ts'
import type { SteadyClock } from '../kernel/clock.ts'
import type { SealSource } from '../orders/voucher-key.ts'
import type { Reference } from '../reference/reference.ts'
import type { WorldState } from '../sandbox/worlds/state.ts'
import type { SandboxWorlds } from '../sandbox/worlds/worlds.ts'
import type { Worlds } from '../worlds/worlds.ts'

/** What a start is given, read before anything is written. */
export interface Sources {
  config: Config
  clock: SteadyClock
  /** What ids, codes and, in memory, the signing key follow from. */
  seed: string
  reference: Reference
  /** The catalog of `--catalog`, packed by zstd: as text it can weigh as much as all else together. */
  packedCatalog: Uint8Array | undefined
  /** The rates of `--rates`. */
  rates: RateSource | undefined
  /** The state of `--snapshot`. */
  snapshot: WorldState | undefined
  /** The state that worlds begin with: that of the snapshot, or the seeded one. */
  initial: WorldState
}

/** Where the data lives, opened: in memory or in a data folder. */
export interface Origin {
  worlds: Worlds
  /** The same worlds, where there can be more than one. */
  sandboxWorlds: SandboxWorlds | undefined
  catalog: () => Database
  rates: RateSource
  seals: SealSource
  signingKey: Uint8Array
  /** Gives up what keeps others away. */
  release: () => void
}

/** Writes the products of `--catalog`, or else those of the sandbox; live mode has none of its own. @throws CatalogFault */
export const seedCatalog = (database: Database, { config, packedCatalog, reference }: Sources): void => {
  if (packedCatalog) importCatalog(database, reference, Bun.zstdDecompressSync(packedCatalog).toString())
  else if (config.mode === 'sandbox') seedSandboxCatalog(database, reference)
}
