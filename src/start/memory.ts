import { createHash } from 'node:crypto'
import { storedRates } from '../charges/stored-rates.ts'
import { Database } from '../db/database.ts'
import type { Capsule } from '../sandbox/capsule.ts'
import { restoreRules } from '../sandbox/faults/rules.ts'
import { requestLog } from '../sandbox/requests/request-log.ts'
import { setAccountPasswords } from '../sandbox/seed/accounts.ts'
import { sealInMemory } from '../sandbox/seed/vouchers.ts'
import { MemoryStore } from '../sandbox/worlds/memory-store.ts'
import type { WorldState } from '../sandbox/worlds/state.ts'
import type { Saved } from '../sandbox/worlds/store.ts'
import { SandboxWorlds } from '../sandbox/worlds/worlds.ts'
import type { World } from '../worlds/world.ts'
import { DEFAULT_WORLD } from '../worlds/worlds.ts'
import { clientsOf, initialRatesOf, type Origin, type Sources, seedCatalog } from './origin.ts'
import { seededImages } from './seeded-images.ts' with { type: 'macro' }

/** Seeded while the program was bundled. */
const SEEDED = seededImages()

/** A database without clients. */
export const emptyImage = (): Uint8Array => unpacked(SEEDED.empty)

/** Worlds share the catalog of the process, and have none of their own. */
export const seededState = (seed: string): WorldState => ({
  image: unpacked(SEEDED.world),
  clock: { offsetMs: 0, frozenAtMs: null },
  randomness: { seed, position: 0 },
  ids: { lastMs: -1, sequence: 0 },
  pace: { payouts: 'auto', orders: 'auto' },
})

export const startInMemory = (sources: Sources): Origin => {
  const { config, clock, seed, initial, capsule } = sources
  const { memoryBytesMax } = config
  const store = new MemoryStore({ clock, seed, initial, memoryBytesMax })
  /** Its data is opened by the first request that needs it. */
  const open = (old?: World, saved?: Saved): World => {
    let isClaimed = false
    const claim = ({ db }: World): void => {
      if (!isClaimed) setAccountPasswords(db)
      isClaimed = true
    }
    return store.make(DEFAULT_WORLD, saved, claim, old)
  }
  const worlds = new SandboxWorlds({
    ...{ clock, seed, initialClients: clientsOf(sources), memoryBytesMax, store },
    default: open(undefined, capsule?.worlds.get(DEFAULT_WORLD)),
    reopenDefault: open,
  })
  if (capsule) restoreWorlds(worlds, capsule)
  const seal = sealInMemory(config.voucherKey)
  const initialRates = initialRatesOf(sources)
  return {
    worlds,
    sandboxWorlds: worlds,
    catalog: catalogInMemory(sources),
    rates: storedRates(initialRates),
    initialRates,
    seals: () => seal,
    signingKey: createHash('sha256').update(`signing.key ${seed}`).digest(),
    folder: undefined,
    release: () => undefined,
  }
}

/** The default world is there already. */
const restoreWorlds = (worlds: SandboxWorlds, { worlds: states, snapshots, faults, requests }: Capsule): void => {
  for (const [name, state] of states) {
    const world = worlds.find(name) ?? worlds.create(name, state)
    world.of(requestLog).restore(requests.get(name) ?? [])
    restoreRules(world, faults.get(name) ?? [])
  }
  for (const [name, state] of snapshots) worlds.snapshots.keep(name, state)
}

/** The catalog has a database of its own, which no reset changes. */
export const catalogInMemory = (
  sources: Pick<Sources, 'config' | 'reference' | 'packedCatalog' | 'snapshot' | 'capsule'>,
): (() => Database) => {
  const { packedCatalog, snapshot, capsule } = sources
  const kept = capsule?.worlds.get(DEFAULT_WORLD) ?? snapshot
  if (!packedCatalog && !kept) return carriedCatalog()
  const database = Database.inMemory(kept?.image ?? unpacked(SEEDED.world))
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
