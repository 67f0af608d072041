import { createHash } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Database, Query, Tx } from './database.ts'

/** Which seed data a database has, by the digest of its sources: it is written again when they change. */

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

/** The digest of sources of megabytes takes too long for a transaction, for whose end a server waits. */
export const putSeed = (tx: Tx, name: string, sha256: string): void => {
  tx.insert(seeds).values({ name, sha256 }).onConflictDoUpdate({ target: seeds.name, set: { sha256 } }).run()
}

export const dropSeed = (tx: Tx, name: string): void => {
  tx.delete(seeds).where(eq(seeds.name, name)).run()
}

export const digestOf = (sources: readonly string[]): string =>
  createHash('sha256').update(sources.join('\0')).digest('hex')
