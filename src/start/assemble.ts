import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import packageJson from '../../package.json' with { type: 'text' }
import type { Deps } from '../app/services.ts'
import { Catalog } from '../catalog/catalog.ts'
import { catalogVersion } from '../catalog/import.ts'
import { readRates } from '../charges/rates.ts'
import type { Config } from '../config/config.ts'
import type { SteadyClock } from '../kernel/clock.ts'
import { freshSeed } from '../kernel/ids.ts'
import type { Log } from '../observability/log.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import { startLive, startSandboxFolder } from './folder.ts'
import { seededState, startInMemory } from './memory.ts'
import type { Origin, Sources } from './origin.ts'
import { readReference } from './seed.ts'
import { readSnapshotFile } from './snapshot.ts'

export const VERSION = (JSON.parse(packageJson) as { version: string }).version

/** @throws CatalogFault, RatesFault, SnapshotFault, SchemaMismatch, DataFault, or an error of the file system */
export const assemble = (config: Config, clock: SteadyClock, log: Log) => {
  const sources = readSources(config, clock)
  const { catalog: database, sandboxWorlds, release, ...origin } = startFrom(sources)
  const { reference, seed } = sources
  const nextRequestId = requestIds(seed)
  return {
    /** Takes what is known once the port is bound. */
    deps: (bound: Pick<Deps, 'publicUrl' | 'addressOf' | 'isClosing' | 'listeners'>) => {
      const catalog = new Catalog({ database, version: catalogVersion, reference, publicUrl: bound.publicUrl })
      const { publicUrl } = bound
      const { host, sandboxToken: token, strict } = config
      const sandbox =
        sandboxWorlds &&
        new Sandbox({ worlds: sandboxWorlds, catalog, reference, version: VERSION, publicUrl, host, token, strict })
      const common = { ...bound, ...origin, config, version: VERSION, log, reference, catalog, nextRequestId }
      return { ...common, sandbox, extension: sandbox }
    },
    worlds: origin.worlds,
    nextRequestId,
    sandboxWorlds,
    close: () => {
      origin.worlds.close()
      release()
    },
  }
}

/** Reads all files before anything is written. @throws RatesFault, SnapshotFault, or an error of the file system */
const readSources = (config: Config, clock: SteadyClock): Sources => {
  const { catalogFile, ratesFile, snapshotFile } = config
  const seed = config.seed ?? freshSeed()
  const reference = readReference()
  const snapshot = snapshotFile === undefined ? undefined : readSnapshotFile(snapshotFile, config, clock)
  return {
    config,
    clock,
    seed,
    reference,
    packedCatalog: catalogFile === undefined ? undefined : Bun.zstdCompressSync(readFileSync(catalogFile)),
    rates: ratesFile === undefined ? undefined : readRates(readFileSync(ratesFile, 'utf8'), reference),
    snapshot,
    initial: snapshot ?? seededState(seed),
  }
}

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
