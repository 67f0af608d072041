import { type Control, controlWith } from './control.ts'
import { askControl, type ControlOptions } from './control-request.ts'
import { send } from './send.ts'

/** Data, clock, randomness and limits of their own, a client that is logged in, and every operation of `/_sandbox`. */
export interface World extends Control {
  readonly name: string
  readonly username: string
  readonly password: string
  /** The base URL for your own client. */
  readonly url: string
  /** Good for an hour of the world's clock; `login()` gets another. */
  readonly accessToken: string
  /** Calls the API as the global `fetch` does, with a path and the access token. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Logs in again, for a fresh access token. */
  login(): Promise<void>
}

const PASSWORD = 'test'

/** Makes a world, as it is seeded or as a copy of a world or a snapshot, and logs in to it. @throws ScripError */
export const openWorld = async (options: ControlOptions & { world: string }, from?: string): Promise<World> => {
  const { world: name, url } = options
  const username = `sbx_${name}`
  const control = controlWith(askControl(options))
  let accessToken = ''
  const login = async (): Promise<void> => {
    const pair = await send(`${url}/auth/login`, 'POST', { username, password: PASSWORD })
    accessToken = (pair as { access_token: string }).access_token
  }
  await control.makeWorld({ name, ...(from !== undefined && { from }) })
  await login()
  return {
    ...control,
    name,
    username,
    password: PASSWORD,
    url,
    get accessToken() {
      return accessToken
    },
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers)
      if (!headers.has('authorization')) headers.set('authorization', `Bearer ${accessToken}`)
      return fetch(new URL(path, url), { ...init, headers })
    },
    login,
  }
}
