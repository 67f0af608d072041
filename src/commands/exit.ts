/** Exit codes (contract C1). 126 and 127 are what shells return for a command that cannot be started. */
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

/** An error that a person can act on: printed without a stack. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError'

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
