import { sentBody } from '../../http/body.ts'
import { parseObject } from '../../http/json.ts'
import type { Log } from '../../observability/log.ts'
import { findCredentials } from '../../sessions/queries.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD, type Worlds } from '../../worlds/worlds.ts'
import { isAccount, SANDBOX_USERNAME } from '../seed/accounts.ts'
import { SandboxWorlds } from './worlds.ts'

/**
 * Logs why a login was refused, which its response must not say (contract C3). Only what names a world is shown: others may have
 * typed their password there.
 */
export const explainRefusal = ({ log, worlds }: { log: Log; worlds: Worlds }, request: Request): void => {
  const username = String(parseObject(sentBody(request) ?? '').username)
  const shown = /^sbx_/i.test(username) ? username.slice(0, USERNAME_SHOWN_MAX) : undefined
  log.warn('login refused', { username: shown, reason: reasonOf(worlds, username) })
}

/** A world's prefix and name, and the name of a client. */
const USERNAME_SHOWN_MAX = 128

const reasonOf = (worlds: Worlds, username: string): string => {
  const [, name, client = SANDBOX_USERNAME] = /^sbx_([^.]*)(?:\.(.*))?$/i.exec(username) ?? []
  if (name === undefined) return reasonInDefault(worlds.default, username)
  if (!username.startsWith('sbx_') || !SandboxWorlds.isName(name)) {
    return 'a world is named in lower-case letters, digits, - and _, at most 64: sbx_my-test'
  }
  const world = worlds.find(name)
  if (!world || !hasClient(world, client)) return 'the world has no client of this name'
  if (name === DEFAULT_WORLD) return reasonInDefault(world, client)
  return isAccount(client)
    ? 'the password differs from the one of the first login to this world'
    : 'the password is not the one of this client'
}

const reasonInDefault = (world: World, client: string): string => {
  if (isAccount(client)) return `the password of ${client} is ${client}`
  return hasClient(world, client)
    ? 'the password is not the one of this client'
    : `no client has this name: log in as ${SANDBOX_USERNAME}, or as sbx_<name> for a world of your own`
}

const hasClient = ({ db }: World, name: string): boolean => findCredentials(db.query, name) !== undefined
