import { createHash } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Database, Query, Tx } from './database.ts'

/** Which seeds a database holds, and from which sources: each is written once, and again when its sources changed. */

const seeds = sqliteTable('seeds', { name: text('name').primaryKey(), sha256: text('sha256').notNull() })

/** Writes a seed unless the database holds it as it is in these sources. */
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
    putSeed(tx, name, sources)
  })
}

/** The digest of the sources of a seed, or undefined when the database does not hold it. */
export const findSeed = (query: Query, name: string): string | undefined =>
  query.select().from(seeds).where(eq(seeds.name, name)).limit(1).get()?.sha256

/** Records that a seed was written. */
export const putSeed = (tx: Tx, name: string, sources: readonly string[]): void => {
  const sha256 = digestOf(sources)
  tx.insert(seeds).values({ name, sha256 }).onConflictDoUpdate({ target: seeds.name, set: { sha256 } }).run()
}

/** Records that another seed has replaced this one. */
export const dropSeed = (tx: Tx, name: string): void => {
  tx.delete(seeds).where(eq(seeds.name, name)).run()
}

const digestOf = (sources: readonly string[]): string => createHash('sha256').update(sources.join('\0')).digest('hex')
