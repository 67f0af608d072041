import type { Requestable } from '../harness.ts'

/** The response to login and refresh (contract C3). */
export interface TokenPair {
  access_token: string
  refresh_token: string
  access_expires_at: string
  refresh_expires_at: string
  client_id: number
  token_type: string
  expires_in: number
}

/** Posts to a public route; a string is sent unchanged. */
export const post = (server: Requestable, path: string, body: unknown, headers: Record<string, string> = {}) =>
  server.request(path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) })

export const login = (server: Requestable, username: unknown, password: unknown = 'a password') =>
  post(server, '/auth/login', { username, password })

export const loggedIn = async (server: Requestable, username: string, password?: string): Promise<TokenPair> => {
  const response = await login(server, username, password)
  if (response.status !== 200) throw new Error(`login of ${username}: ${response.status} ${await response.text()}`)
  return (await response.json()) as TokenPair
}

export const refresh = (server: Requestable, token: unknown) => post(server, '/auth/refresh', { refresh_token: token })

/** Requests a protected route with this Authorization header. */
export const withAuthorization = (server: Requestable, authorization: string) =>
  server.request('/api/v1/countries/1', { headers: { authorization } })

/** The status of a request with an access token. */
export const statusWith = async (server: Requestable, accessToken: string): Promise<number> =>
  (await withAuthorization(server, `Bearer ${accessToken}`)).status
