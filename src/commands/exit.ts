/** How the program ends (contract C1), and, in the words of shells, why `scrip run` could not start its command. */
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

/** A reason to end the program that a person can act on: told without a stack. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError'

  constructor(
    readonly exitCode: ExitCode,
    message: string,
  ) {
    super(message)
  }
}
