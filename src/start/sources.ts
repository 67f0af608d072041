import { importCatalog, seedSampleCatalog } from '../catalog/import.ts'
import type { BaseRates, WorldRates } from '../charges/rates.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../db/database.ts'
import type { SteadyClock } from '../kernel/clock.ts'
import { DataFault } from '../kernel/exit.ts'
import type { CipherSource } from '../orders/voucher-key.ts'
import type { Reference } from '../reference/reference.ts'
import type { Settings } from '../sandbox/scenario/make.ts'
import type { SandboxWorlds } from '../sandbox/worlds/worlds.ts'
import type { Worlds } from '../work/worlds.ts'
import { sandboxRates } from './seed.ts'
import type { ServedFolder } from './served-folder.ts'

/** The state in which every world begins: a scenario that was played once (contract C15). */
export interface Beginning {
  /** The random stream of the process, from which everything after the scenario draws. */
  seed: string
  image: Uint8Array
  settings: Settings
}

/** Read before anything is written. */
export interface Sources {
  config: Config
  clock: SteadyClock
  /** The seed of ids, codes and, in memory, the signing key. */
  seed: string
  reference: Reference
  /** Compressed by zstd: as text it can be as large as all other data. */
  packedCatalog: Uint8Array | undefined
  rates: BaseRates | undefined
  snapshot: Uint8Array | undefined
  beginning: Beginning | undefined
  /** The state of the snapshot or the scenario. */
  startImage: Uint8Array | undefined
  /** The image with which every world begins. Its first logins choose the passwords. */
  initial: () => Uint8Array
}

/** The data of the process: its worlds, rates and keys. */
export interface Data {
  worlds: Worlds
  /** Undefined in live mode. */
  sandboxWorlds: SandboxWorlds | undefined
  catalogDatabase: () => Database
  rates: WorldRates
  /** The rates that every world of the sandbox begins with. */
  initialRates: () => BaseRates | undefined
  ciphers: CipherSource
  signingKey: Uint8Array
  /** The folder that a server takes and releases with the lease; undefined in the sandbox. */
  folder: ServedFolder | undefined
  release: () => void
}

/** The rates of `--rates`, else those of the sandbox. */
export const initialRatesOf = ({ rates, reference }: Pick<Sources, 'rates' | 'reference'>): (() => BaseRates) =>
  rates ? () => rates : sandboxRates(reference)

/** Does some work on a file that a person has named. Its errors get the path, unless they have one. */
export const inFile = <T>(path: string, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (error instanceof DataFault) throw error.in(path)
    throw Object.assign(error as Error, !('path' in (error as Error)) && { path })
  }
}

/** Writes the products of `--catalog`, else those of the sandbox. @throws FileFault */
export const seedCatalog = (
  database: Database,
  { config, packedCatalog, reference }: Pick<Sources, 'config' | 'packedCatalog' | 'reference'>,
): void => {
  if (packedCatalog) {
    const text = Bun.zstdDecompressSync(packedCatalog).toString()
    inFile(config.catalogFile ?? '', () => importCatalog(database, reference, text))
  } else if (config.mode === 'sandbox') seedSampleCatalog(database, reference)
}
