import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { Database } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import type { Clock } from '../kernel/clock.ts'
import { markOf } from '../orders/stock-queries.ts'
import { areKeysOf } from '../orders/voucher-key.ts'
import { holdsForeignClients } from '../sandbox/seed/accounts.ts'
import { readSnapshot, SnapshotFault } from '../sandbox/worlds/snapshots.ts'
import type { WorldState } from '../sandbox/worlds/state.ts'
import { seedReferenceData } from './seed.ts'

/** Migrated and with current seed data. @throws SnapshotFault */
export const readSnapshotFile = (file: string, { dataDir, voucherKey }: Config, clock: Clock): WorldState => {
  try {
    const state = readSnapshot(readFileSync(file, 'utf8'))
    const database = Database.inMemory(state.image)
    migrate(database.sqlite, clock)
    if (!holdsForeignClients(database, 'live')) throw new SnapshotFault('not a snapshot: /database: is no sandbox')
    if (markOf(database.query) !== undefined && !areKeysOf(database.query, dataDir, voucherKey)) {
      throw new SnapshotFault(SEALED_ELSEWHERE)
    }
    seedReferenceData(database)
    const image = database.image()
    database.close()
    return { ...state, image }
  } catch (error) {
    throw new SnapshotFault(`${file}: ${error instanceof Error ? error.message : String(error)}`, file)
  }
}

const SEALED_ELSEWHERE =
  '/database: its voucher codes are sealed with the key of a data folder: give that key with --voucher-key'
