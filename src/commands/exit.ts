/** How the program ends (contract C1). */
export const EXIT = { done: 0, failed: 1, usage: 2, address: 3, data: 4, timeout: 5 } as const

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
