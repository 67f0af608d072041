import { DomainError } from '../kernel/failure.ts'
import { EXIT, ProgramError } from './exit.ts'

/** What operators read when something is refused: a line that says what is wrong, and one that says what to do next. */

/** By the code of a failure, whose words are those that a client of the API gets. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  insufficient_balance: 'See scrip wallet list.',
  insufficient_stock: 'See scrip vouchers list, and add codes with scrip vouchers import.',
}

export const withNextStep = (words: string, code: string): string => {
  const next = NEXT_STEPS[code]
  return next === undefined ? words : `${words}\n${next}`
}

const DISK_FULL = 'cannot be written, because the disk is full\nMake room, and try again.'

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist\nCheck its name and its folder.',
  ENOTDIR: 'does not exist\nA part of its path is a file: check its name.',
  EEXIST: 'is a file\nName a folder.',
  EISDIR: 'is a folder\nName a file.',
  EACCES: 'cannot be opened\nRun the command as the user of the server, or change the permissions.',
  ENOSPC: DISK_FULL,
  SQLITE_FULL: DISK_FULL,
  SQLITE_NOTADB: 'is no database of Scrip\nName a file that scrip backup has written, or the folder of a server.',
}

/** An error about a file or a folder, exit code 4: where it is, and what is wrong with it. */
export const dataError = (error: unknown, where: string | undefined): ProgramError => {
  const what = error instanceof Error ? error.message : String(error)
  const message = fileFault(error, where) ?? (where === undefined ? what : `${where}: ${what}`)
  return new ProgramError(EXIT.data, message, { cause: error })
}

/** An error of the file system or of SQLite in words, with its path where it has one; undefined for others. */
const fileFault = (error: unknown, where: string | undefined): string | undefined => {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const words = FILE_FAULTS[String(error.code)]
  const path = 'path' in error ? String(error.path) : where
  return words === undefined || path === undefined ? undefined : `${path} ${words}`
}

/** The codes of failures that mean: not in this status. */
const STATUS_FAILURES = ['transition_refused', 'payout_not_cancellable']

/** Whether a record was refused because of its status. */
export const isOfStatus = (error: unknown): boolean =>
  error instanceof DomainError && STATUS_FAILURES.includes(error.failure.code)
