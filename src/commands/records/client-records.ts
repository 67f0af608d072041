import type { Query } from '../../db/database.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { allClients, type ClientRecord } from '../../sessions/queries.ts'
import { refused } from './administration.ts'

/** Clients as operators name them. */

/** @throws ProgramError */
export const getClient = (query: Query, name: string): ClientRecord => {
  const client = allClients(query).find(({ username }) => username === name)
  if (!client) throw refused(`there is no client ${name}\nSee scrip client list.`)
  return client
}

export const clientNamesById = (query: Query): ReadonlyMap<number, string> =>
  new Map(allClients(query).map(({ id, username }) => [id, username]))

export const CLIENT_COLUMNS = ['client_id', 'username', 'status', 'vouchers', 'max_quantity', 'created_at'] as const

export const clientRow = ({ id, username, disabled, vouchers, quantityMax, createdAtMs }: ClientRecord) => ({
  client_id: id,
  username,
  status: disabled ? 'disabled' : 'enabled',
  vouchers,
  max_quantity: quantityMax,
  created_at: toTimestamp(createdAtMs),
})
