import { readObject } from '../../http/body.ts'
import type { JsonObject } from '../../http/json.ts'
import { SESSION_BODY_BYTES_MAX } from '../../sessions/credentials.ts'
import type { World } from '../../worlds/world.ts'
import type { Worlds } from '../../worlds/worlds.ts'

/** What a body of these routes says of its world, before anything of it is believed (contract C3). */
const SAID_IN: Record<string, (body: JsonObject) => string | undefined> = {
  '/auth/login': ({ username }) => /^sbx_([^.]+)/.exec(String(username))?.[1],
  '/auth/refresh': ({ refresh_token: token }) => worldOfToken(String(token)),
}

/** The world that a login or a refresh speaks of, if there is one: its faults inject, and its log keeps the request. */
export const worldMeant = async (worlds: Worlds, request: Request, route: string): Promise<World | undefined> => {
  const say = SAID_IN[route]
  if (!say) return undefined
  try {
    const name = say(await readObject(request, SESSION_BODY_BYTES_MAX))
    return name === undefined ? undefined : worlds.find(name)
  } catch {
    return undefined
  }
}

const BEARER = /^bearer +(.+)$/i

/** The world of a refused access token: its user looks for the refusal there. */
export const worldOfBearer = (worlds: Worlds, { headers }: Request): World | undefined => {
  const token = BEARER.exec(headers.get('authorization') ?? '')?.[1]
  try {
    return token === undefined ? undefined : worlds.find(worldOfToken(token))
  } catch {
    return undefined
  }
}

/** The world in a token that nobody has verified. */
const worldOfToken = (token: string): string => {
  const [, payload = ''] = token.split('.')
  return String((JSON.parse(Buffer.from(payload, 'base64url').toString()) as JsonObject).wld)
}
