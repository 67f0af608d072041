import { visibleLines } from './visible.ts'

/** Exit codes (contract C1). Shells return 126 and 127 for a command that cannot be started. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  address: 3,
  data: 4,
  timeout: 5,
  commandNotExecutable: 126,
  commandNotFound: 127,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/**
 * The form of every error on the terminal (decision 60): a line that says what is wrong, then lines that say what to do.
 * The message contains them.
 */
export const errorText = (message: string): string => `scrip: ${visibleLines(message)}\n`

/**
 * The failure of a command, which a person can act on: its exit code, and a message that says what is wrong and what to do
 * next. Printed without a stack. The failures of the API are those of `kernel/failure.ts`.
 */
export class ProgramError extends Error {
  override readonly name: string = 'ProgramError'

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Exit code 1. */
export const refused = (message: string): ProgramError => new ProgramError(EXIT.failed, message)

/** Exit code 2. */
export const misused = (message: string): ProgramError => new ProgramError(EXIT.usage, message)

/** Data that cannot be used, found where nobody knows its file or folder: exit code 4. */
export class DataFault extends ProgramError {
  constructor(message: string, options?: ErrorOptions) {
    super(EXIT.data, message, options)
  }

  /** The same with its file or folder. */
  in(path: string): ProgramError {
    return unusable(`${path}: ${this.message}`, { cause: this })
  }
}

/** A file or folder that cannot be used, or belongs to the other mode: exit code 4. */
export const unusable = (message: string, options?: ErrorOptions): ProgramError =>
  new ProgramError(EXIT.data, message, options)
