import { DomainError } from '../kernel/failure.ts'

/** What operators read when something is refused: what is wrong, a colon, and the next step. */

/** By the code of a failure, whose words are those that a client of the API gets. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  insufficient_balance: 'see scrip wallet list',
  insufficient_stock: 'see scrip vouchers list, and add codes with scrip vouchers import',
}

export const withNextStep = (words: string, code: string): string => {
  const next = NEXT_STEPS[code]
  return next === undefined ? words : `${words}: ${next}.`
}

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist: check its name and its folder.',
  ENOTDIR: 'does not exist: a part of its path is no folder.',
  EISDIR: 'is a folder: name a file.',
  EACCES: 'cannot be opened: run the command as the user of the server, or change the permissions.',
  ENOSPC: 'cannot be written, because the disk is full: make room, and try again.',
  SQLITE_NOTADB: 'is not a database of Scrip: name a file that scrip backup has written.',
}

/** An error of the file system or of SQLite in words, with its path where it has one; undefined for others. */
export const fileFault = (error: unknown, where: string | undefined): string | undefined => {
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
