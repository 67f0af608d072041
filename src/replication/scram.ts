import crypto from 'node:crypto'
import { freshSecret } from '../kernel/ids.ts'

/** As many take half a second; PostgreSQL asks for 4,096 by default. */
const ITERATIONS_MAX = 1_000_000

/**
 * The library hashes a password on the thread, as often as the server at the other end asks for, and has no option for it.
 * A server that asks for more than {@link ITERATIONS_MAX} gets the proof of a password that nobody knows, so it refuses the login.
 */
export const boundPasswordHashing = (): void => {
  const { pbkdf2Sync } = crypto
  crypto.pbkdf2Sync = (password, salt, iterations, ...rest) =>
    iterations > ITERATIONS_MAX
      ? pbkdf2Sync(freshSecret(32), salt, 1, ...rest)
      : pbkdf2Sync(password, salt, iterations, ...rest)
}
