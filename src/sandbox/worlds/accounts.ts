import type { Failure } from '../../kernel/failure.ts'
import { turns } from '../../kernel/turns.ts'
import { type Account, type Credentials, passwordDigest, type ResolveAccount } from '../../sessions/credentials.ts'
import { findPasswordDigest, setPasswordDigests } from '../../sessions/queries.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { FOREIGN_SITE, worldsExhausted } from '../errors.ts'
import { LIMITED_USERNAME, SANDBOX_USERNAME } from '../seed/accounts.ts'
import type { WorldState } from './state.ts'
import { SandboxWorlds, WORLDS_MAX } from './worlds.ts'

/** Who logs in to named worlds, and with which password (contracts C2 and C15). */

const WORLD_USERNAME = /^sbx_([^.]*)(\.limited)?$/
/** Strangers may ask for many worlds at once: one is made in each turn of the event loop. */
const NEW_WORLDS = 'new worlds'
/** The digest of a world that nobody has logged in to: no password has it. */
const UNCLAIMED = ''

/**
 * Resolves `sbx_<name>` to the world of that name, which is made on first use; the first password used is its
 * password. A gate decides which requests may make worlds.
 *
 * @throws DomainError sandbox_foreign or worlds_exhausted
 */
export const worldAccounts =
  (worlds: SandboxWorlds, gate: (request: Request) => void): ResolveAccount =>
  async ({ username, password }: Credentials, request): Promise<Account> => {
    const [, worldName = '', limited] = WORLD_USERNAME.exec(username) ?? []
    if (!SandboxWorlds.isName(worldName)) return { world: worlds.default, username }
    const make = (): World => {
      if (request) gate(request)
      return unclaimed(worlds.create(worldName))
    }
    const find = () => worlds.find(worldName)
    const world = find() ?? (await turns.take(NEW_WORLDS, () => find() ?? make()))
    if (findPasswordDigest(world.db.query) === UNCLAIMED) setDigests(world, passwordDigest(password))
    return { world, username: limited ? LIMITED_USERNAME : SANDBOX_USERNAME }
  }

export const WORLD_ERRORS: Record<string, Failure> = {
  'auth.exhausted': worldsExhausted(WORLDS_MAX),
  'auth.foreign': FOREIGN_SITE,
}

/** Leaves the password of a world to its first login. */
export const unclaimed = (world: World): World => setDigests(world, UNCLAIMED)

/** Puts a world back to its seeded state, or to the given one. A named world keeps its password. */
export const putBack = (worlds: SandboxWorlds, world: World, state?: WorldState): World => {
  if (world.name === DEFAULT_WORLD) return worlds.replace(world, state)
  const digest = findPasswordDigest(world.db.query) ?? UNCLAIMED
  return setDigests(worlds.replace(world, state), digest)
}

/** Both accounts of a named world have the same password. */
const setDigests = (world: World, digest: string): World => {
  world.db.fill((tx) => setPasswordDigests(tx, digest))
  return world
}
