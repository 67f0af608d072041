import { type Place, type Running, start } from '../program.ts'
import { ask } from './connection.ts'

/** Starts `scrip serve` as rigs do, on a free port, with the errors of its log alone. */
export const serve = (flags: readonly string[], place?: Place): Promise<Running> =>
  start(['serve', '--port', '0', '--log-level', 'error', ...flags], place)

/** Logs in and returns the access token. */
export const logIn = async (port: number, username: string, password = username): Promise<string> => {
  const headers = { 'Content-Type': 'application/json' }
  const { status, body } = await ask(port, {
    path: '/auth/login',
    headers,
    body: JSON.stringify({ username, password }),
  })
  if (status !== 200) throw new Error(`login of ${username}: ${status} ${body}`)
  return (JSON.parse(body.toString()) as { access_token: string }).access_token
}
