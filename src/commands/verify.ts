import { SQLiteError, Database as SqliteDatabase } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import { type DataOptions, dataConfigOf, fileConfigOf, withDataOptions } from '../config.ts'
import { databasePath } from '../db/data-folder.ts'
import { requireCurrentSchema } from '../db/migrate.ts'
import { refused, told } from './administration.ts'
import { CHECKS } from './checks.ts'
import { EXIT, ProgramError } from './exit.ts'
import { show } from './output.ts'
import { type OnProgress, withProgress } from './progress.ts'

/** `scrip verify`: proves that a database is what the contract promises, or names the first row that is not. */
export const verifyCommand = (verify: Command): void => {
  withDataOptions(verify)
    .description('check that the books balance, of a data folder or of a backup, while a server runs or not')
    .argument('[file]', 'a backup, in the place of the data folder')
    .action(async (file: string | undefined, options: DataOptions) => {
      const { json } = fileConfigOf(options)
      const path = file ?? databasePath(dataConfigOf(options).dataDir)
      const results = await told(path, () =>
        withProgress(existsSync(path) ? statSync(path).size : 0, (onProgress) => verified(path, onProgress)),
      )
      show(
        results.map(({ check, faults, first }) => ({ check, faults, first })),
        json,
      )
      const broken = results.filter(({ faults }) => faults > 0).length
      if (broken > 0) throw refused(`${path}: ${broken} of ${results.length} checks found something wrong.`)
    })
}

interface Result {
  check: string
  faults: number
  first: string | null
}

/** Runs every check on one state of a database file. @throws ProgramError, SchemaMismatch, or what SQLite says */
export const verified = (path: string, onProgress?: OnProgress): Result[] => {
  if (!existsSync(path)) throw new ProgramError(EXIT.data, `${path} does not exist.`)
  const sqlite = new SqliteDatabase(path, { readwrite: true, create: false })
  try {
    sqlite.run('PRAGMA query_only = ON')
    sqlite.run('BEGIN') // all checks see the same state, whatever a server writes meanwhile
    requireCurrentSchema(sqlite)
    return CHECKS.map(({ name, sql }, index) => {
      onProgress?.(`checking that ${name}`, index, CHECKS.length)
      const faults = faultsOf(sqlite, sql)
      return { check: name, faults: faults.length, first: faults[0] ?? null }
    })
  } finally {
    sqlite.close()
  }
}

/** What breaks a check; a page that cannot be read breaks each one that needs it. */
const faultsOf = (sqlite: SqliteDatabase, sql: string): string[] => {
  try {
    return sqlite
      .query<{ fault: string }, []>(sql)
      .all()
      .map(({ fault }) => fault)
  } catch (error) {
    if (error instanceof SQLiteError && error.code?.startsWith('SQLITE_CORRUPT')) return [error.message]
    throw error
  }
}
