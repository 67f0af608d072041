import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import type { Requestable } from '../harness.ts'
import { expectSoundBooks } from '../wallets/books.ts'

/** The control API, and the rows of a world, as they can be seen from outside (contract C15). */

export const NOON = '2030-01-01T12:00:00.000Z'

/** A response with its body read: JSON where it is JSON, else text, and undefined where there is none. */
export interface ReadResponse {
  status: number
  headers: Headers
  body: unknown
}

export const read = async (response: Response): Promise<ReadResponse> => {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : isJson ? JSON.parse(text) : text,
  }
}

/** Sends a request to the control API; a string is sent unchanged. */
export const control = async (
  server: Requestable,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<ReadResponse> =>
  read(
    await server.request(`/_sandbox${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
  )

/** Sends a request that is expected to succeed, and returns the body of its response. */
export const succeed = async <Body>(
  server: Requestable,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Body> => {
  const response = await control(server, method, path, body, headers)
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`)
  return response.body as Body
}

/** Checks the rows of a world by the constraints of their tables, and its ledger by all of its rules. */
export const expectSoundWorld = async (server: Requestable, world: string): Promise<void> => {
  await succeed(server, 'PUT', `/snapshots/sound-${world}?world=${world}`)
  const { database } = await succeed<{ database: string }>(server, 'GET', `/snapshots/sound-${world}`)
  await succeed(server, 'DELETE', `/snapshots/sound-${world}`)
  const sqlite = Database.deserialize(Bun.gunzipSync(Buffer.from(database, 'base64')))
  expect(sqlite.query('PRAGMA integrity_check').values()).toEqual([['ok']])
  expect(sqlite.query('PRAGMA foreign_key_check').values()).toEqual([])
  expectSoundBooks(sqlite)
  sqlite.close()
}

/** The rows of every table of a world, read from a snapshot of it. */
export const rowsOf = async (server: Requestable, world: string): Promise<Record<string, unknown[]>> => {
  await succeed(server, 'PUT', `/snapshots/rows-of-${world}?world=${world}`)
  const { database } = await succeed<{ database: string }>(server, 'GET', `/snapshots/rows-of-${world}`)
  await succeed(server, 'DELETE', `/snapshots/rows-of-${world}`)
  return rowsIn(database)
}

/** The rows of every table of a snapshot's database. */
export const rowsIn = (database: string): Record<string, unknown[]> => {
  const sqlite = Database.deserialize(Bun.gunzipSync(Buffer.from(database, 'base64')))
  const tables = sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
  const rows = Object.fromEntries(
    tables.map(({ name }) => [name, sqlite.query<object, []>(`SELECT * FROM "${name}"`).all().map(plain)]),
  )
  sqlite.close()
  return rows
}

const plain = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    ]),
  )
