import { readFileSync } from 'node:fs'
import { DataFault, isBusy } from '../db/data-folder.ts'
import { SchemaMismatch } from '../db/migrate.ts'
import { renderFailure } from '../http/errors.ts'
import { ProgramError, refused, unusable } from '../kernel/exit.ts'
import { DomainError, isUnavailable } from '../kernel/failure.ts'
import { FileFault } from '../kernel/problems.ts'
import { StatementFault } from '../wallets/statement.ts'

/** The errors that operators read: a line that says what is wrong, and one that says what to do next. */

/** Advice by the code of a failure. The message is that of the API. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  insufficient_balance: '\nSee scrip wallet list.',
  insufficient_stock: '\nSee scrip vouchers list, and add codes with scrip vouchers import.',
}

const DISK_FULL = 'cannot be written, because the disk is full\nMake room, and try again.'

export const LENGTHLESS = 'a page has a length that no value has'

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist\nCheck its name and its folder.',
  ENOTDIR: 'does not exist\nA part of its path is a file: check its name.',
  EEXIST: 'is a file\nName a folder.',
  EISDIR: 'is a folder\nName a file.',
  EACCES: 'cannot be opened\nRun the command as the user of the server, or change the permissions.',
  ENOSPC: DISK_FULL,
  SQLITE_FULL: DISK_FULL,
  // SQLite wants room for a value as long as a damaged page says.
  SQLITE_NOMEM: `is not sound: ${LENGTHLESS}\nRestore the last backup that scrip verify finds sound.`,
  SQLITE_CORRUPT: 'is damaged\nKeep the file, and restore the last backup that scrip verify finds sound.',
  SQLITE_NOTADB: 'is not a Scrip database\nName a file that scrip backup has written, or the folder of a server.',
}

/** An error about a file or a folder, with its path and its problem: exit code 4. */
export const dataError = (error: unknown, where: string | undefined): ProgramError => {
  const what = error instanceof Error ? error.message : String(error)
  const message = fileFault(error, where) ?? (where === undefined ? what : `${where}: ${what}`)
  return unusable(message, { cause: error })
}

/** An error of the file system or of SQLite in words, with its path if it has one; undefined for others. */
const fileFault = (error: unknown, where: string | undefined): string | undefined => {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const words = FILE_FAULTS[String(error.code)]
  const path = 'path' in error ? String(error.path) : where
  return words === undefined || path === undefined ? undefined : `${path} ${words}`
}

const DATA_ERRORS = [DataFault, SchemaMismatch, FileFault, StatementFault]

const isDataError = (error: unknown): boolean =>
  DATA_ERRORS.some((kind) => error instanceof kind) ||
  (error instanceof Error && 'code' in error && /^(SQLITE_|E[A-Z]+$)/.test(String(error.code)))

/** Does some work on a file or folder; turns its errors into a ProgramError (contract C1). */
export const explainFaults = async <T>(where: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (isBusy(isUnavailable(error) ? error.cause : error)) {
      throw refused(`${where}: another program writes for too long\nTry again.`)
    }
    if (isUnavailable(error)) throw dataError(error.cause, where)
    if (error instanceof DomainError) throw refused(wordsOf(error))
    throw error instanceof ProgramError || !isDataError(error) ? error : dataError(error, where)
  }
}

/** The message that a client of the API would get, and advice for an operator. */
const wordsOf = ({ failure }: DomainError): string => {
  const { body } = renderFailure(failure, { errorShape: 'flat', unexpectedError: 'Internal error' })
  const message = String(body.message)
  return message.charAt(0).toLowerCase() + message.slice(1) + (NEXT_STEPS[failure.code] ?? '')
}

/** An error in words, as the operator reads it. */
export const explained = (error: unknown): string =>
  error instanceof DomainError ? wordsOf(error) : error instanceof Error ? error.message : String(error)

/** The reason of an error, for the audit: the first line of what the operator reads. */
export const reasonOf = (error: unknown): string => explained(error).split('\n', 1).join()

/** The text of a file, or of standard input for `-`. @throws ProgramError */
export const readInput = (file: string): string => {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw dataError(error, file)
  }
}

/** Does some work on the text of a file. @throws ProgramError that lists all that is wrong with it */
export const withInput = async <T>(file: string, work: (text: string) => T | Promise<T>): Promise<T> => {
  const text = readInput(file)
  try {
    return await work(text)
  } catch (error) {
    throw error instanceof FileFault ? dataError(error, file) : error
  }
}
