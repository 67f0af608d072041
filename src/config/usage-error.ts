/** Something wrong with how the program was called: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
