import { eq } from 'drizzle-orm'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { sha256Of } from '../kernel/sha256.ts'
import type { Database, Query, Tx } from './database.ts'

/** The seed data of a database, with the digest of its sources: it is written again when they change. */

const seeds = sqliteTable('seeds', { name: text('name').primaryKey(), sha256: text('sha256').notNull() })

export const seedOnce = (
  database: Database,
  name: string,
  sources: readonly string[],
  write: (tx: Tx) => void,
): void => {
  const digest = digestOf(sources)
  database.fill((tx) => {
    if (findSeed(tx, name) === digest) return
    write(tx)
    putSeed(tx, name, digest)
  })
}

export const findSeed = (query: Query, name: string): string | undefined =>
  query.select().from(seeds).where(eq(seeds.name, name)).limit(1).get()?.sha256

/** Takes the digest ready-made: for megabytes of sources, it takes too long for a transaction that a server waits for. */
export const putSeed = (tx: Tx, name: string, sha256: string): void => {
  tx.insert(seeds).values({ name, sha256 }).onConflictDoUpdate({ target: seeds.name, set: { sha256 } }).run()
}

export const dropSeed = (tx: Tx, name: string): void => {
  tx.delete(seeds).where(eq(seeds.name, name)).run()
}

export const digestOf = (sources: readonly string[]): string => sha256Of(sources.join('\0'))
