import { readFileSync } from 'node:fs'
import { isBusy } from '../folder/files.ts'
import { messageOf } from '../http/error-message.ts'
import { renderFailure } from '../http/errors.ts'
import { DataFault, ProgramError, refused, unusable } from '../kernel/exit.ts'
import { DomainError, isUnavailable } from '../kernel/failure.ts'
import { FileFault } from '../kernel/problems.ts'

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
  EEXIST: 'is a file\nGive a folder.',
  EISDIR: 'is a folder\nGive a file.',
  EACCES: 'cannot be opened\nRun the command as the user of the server, or change the permissions.',
  ENOSPC: DISK_FULL,
  SQLITE_FULL: DISK_FULL,
  // SQLite wants room for a value as long as a damaged page says.
  SQLITE_NOMEM: `is not sound: ${LENGTHLESS}\nRestore the last backup that scrip verify finds sound.`,
  SQLITE_CORRUPT: 'is damaged\nKeep the file, and restore the last backup that scrip verify finds sound.',
  SQLITE_NOTADB: 'is not a Scrip database\nGive a file written by scrip backup, or the folder of a server.',
}

/** Does some work on a file or folder. Its errors get the path, and those of the runtime and the API get words (contract C1). */
export const explainFaults = async <T>(path: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw programErrorOf(error, path) ?? error
  }
}

/** Undefined for an error of which nothing is known. */
const programErrorOf = (error: unknown, path: string): ProgramError | undefined => {
  if (error instanceof DataFault) return error.in(path)
  if (error instanceof ProgramError) return error
  if (error instanceof DomainError) {
    return (isUnavailable(error) && programErrorOf(error.cause, path)) || refused(wordsOf(error))
  }
  if (isBusy(error)) return refused(`${path}: another program has been writing for too long\nTry again.`)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^(SQLITE_|E[A-Z]+$)/.test(code) ? dataError(error as Error, path) : undefined
}

/** An error about a file or a folder, with its path and its problem: exit code 4. */
export const dataError = (error: Error, path: string): ProgramError => {
  if (error instanceof DataFault) return error.in(path)
  const words = 'code' in error ? FILE_FAULTS[String(error.code)] : undefined
  const about = 'path' in error ? String(error.path) : path
  return unusable(words === undefined ? `${about}: ${error.message}` : `${about} ${words}`, { cause: error })
}

/** The message that a client of the API would get, and advice for an operator. */
const wordsOf = ({ failure }: DomainError): string => {
  const { body } = renderFailure(failure, { errorShape: 'flat', unexpectedError: 'Internal error' })
  const message = String(messageOf(body))
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
    throw dataError(error as Error, file)
  }
}

/** Does some work on the text of a file. @throws ProgramError that lists all that is wrong with it */
export const withInput = async <T>(file: string, work: (text: string) => T | Promise<T>): Promise<T> => {
  const text = readInput(file)
  try {
    return await work(text)
  } catch (error) {
    throw error instanceof FileFault ? error.in(file) : error
  }
}
