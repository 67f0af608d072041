import { and, asc, count, eq, gt, inArray, lt, lte, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { type Narrowing, narrowedRows, type Rows } from '../db/narrowing.ts'
import { prepared, preparedInsert, preparedOne } from '../db/prepared.ts'
import { clients, logins } from './tables.ts'

/** The most logins of one client; the oldest are deleted for new ones (decision 4). */
const LOGINS_PER_CLIENT_MAX = 10_000
/** A login deletes this many expired ones: none pays for all that have expired since the last one. */
const EXPIRED_LOGINS_MAX = 50

export type ClientRow = typeof clients.$inferSelect
type Login = typeof logins.$inferSelect

const liveLogin = prepared((query: Query) =>
  query
    .select({ id: logins.id })
    .from(logins)
    .innerJoin(clients, eq(clients.id, logins.clientId))
    .where(
      and(
        eq(logins.id, sql.placeholder('loginId')),
        eq(logins.clientId, sql.placeholder('clientId')),
        eq(logins.revoked, false),
        gt(logins.number, clients.revokedThrough),
        eq(clients.disabled, false),
      ),
    )
    .prepare(),
)

/** True if a login exists and is not revoked, and its client is not disabled. */
export const isLoginLive = (query: Query, loginId: string, clientId: number): boolean =>
  liveLogin(query).get({ loginId, clientId }) !== undefined

/** A login, revoked or not. */
export const findLogin = (query: Query, id: string): Login | undefined => {
  const row = query
    .select({ login: logins, revokedThrough: clients.revokedThrough })
    .from(logins)
    .innerJoin(clients, eq(clients.id, logins.clientId))
    .where(eq(logins.id, id))
    .limit(1)
    .get()
  return row && asRevoked(row)
}

const asRevoked = ({ login, revokedThrough }: { login: Login; revokedThrough: number }): Login => ({
  ...login,
  revoked: login.revoked || login.number <= revokedThrough,
})

const enabledClient = preparedOne(clients, and(eq(clients.id, sql.placeholder('id')), eq(clients.disabled, false)))

export const findEnabledClient = (query: Query, id: number): ClientRow | undefined => enabledClient(query, { id })

const named = preparedOne(clients, eq(clients.username, sql.placeholder('username')))

/** A client's password, and the previous one while it is valid. */
export type Passwords = Pick<ClientRow, 'passwordSha256' | 'oldPasswordSha256' | 'oldPasswordUntilMs'>

/** The client with a name, disabled or not. */
export const findCredentials = (query: Query, username: string): ClientRow | undefined => named(query, { username })

const expiredLogins = prepared((tx: Tx) => {
  const first = tx
    .select({ id: logins.id })
    .from(logins)
    .where(lt(logins.expiresAtMs, sql.placeholder('nowMs')))
    .orderBy(asc(logins.expiresAtMs))
    .limit(EXPIRED_LOGINS_MAX)
  return tx.delete(logins).where(inArray(logins.id, first)).prepare()
})

export const deleteExpiredLogins = (tx: Tx, nowMs: number): void => void expiredLogins(tx).run({ nowMs })

/** The number of a client's last login; null without one. */
const lastNumber = sql`(SELECT max(${logins.number}) FROM ${logins} WHERE ${logins.clientId} = ${clients.id})`

const lastUsedNumber = prepared((tx: Tx) =>
  tx
    .select({ number: sql<number>`max(${clients.revokedThrough}, coalesce(${lastNumber}, 0))` })
    .from(clients)
    .where(eq(clients.id, sql.placeholder('clientId')))
    .prepare(),
)

export const nextLoginNumber = (tx: Tx, clientId: number): number =>
  (lastUsedNumber(tx).get({ clientId })?.number ?? 0) + 1

const oldestLogins = prepared((tx: Tx) =>
  tx
    .delete(logins)
    .where(and(eq(logins.clientId, sql.placeholder('clientId')), lte(logins.number, sql.placeholder('through'))))
    .returning({ id: logins.id })
    .prepare(),
)

/** Deletes the oldest logins if one of this number would be too many. Returns true if it deleted any. */
export const makeRoomForLogin = (tx: Tx, clientId: number, number: number): boolean =>
  oldestLogins(tx).all({ clientId, through: number - LOGINS_PER_CLIENT_MAX }).length > 0

export const insertLogin = preparedInsert(logins)

/** Copies the logins of clients that have the same ids in both databases. */
export const copyLogins = (from: Query, to: Tx, clientIds: readonly number[]): void => {
  const rows = from
    .select({ login: logins, revokedThrough: clients.revokedThrough })
    .from(logins)
    .innerJoin(clients, eq(clients.id, logins.clientId))
    .where(inArray(logins.clientId, [...clientIds]))
    .all()
  for (const row of rows) insertLogin(to, asRevoked(row))
}

export const deleteLogins = (tx: Tx): void => void tx.delete(logins).run()

export const updateLogin = (tx: Tx, id: string, change: Partial<Login>): void => {
  tx.update(logins).set(change).where(eq(logins.id, id)).run()
}

export type ClientRecord = Omit<ClientRow, 'passwordSha256' | 'oldPasswordSha256'>

const numbered = preparedOne(clients, eq(clients.id, sql.placeholder('id')))

/** A client, disabled or not. */
export const findAnyClient = (query: Query, id: number): ClientRow | undefined => numbered(query, { id })

export const findFirstClient = (query: Query): ClientRow | undefined =>
  query.select().from(clients).orderBy(asc(clients.id)).limit(1).get()

export const hasClients = (query: Query): boolean => findFirstClient(query) !== undefined

export const countClients = (query: Query): number => query.select({ n: count() }).from(clients).get()?.n ?? 0

export const allClients = (query: Query): ClientRecord[] =>
  query
    .select()
    .from(clients)
    .orderBy(asc(clients.id))
    .all()
    .map(({ passwordSha256: _, oldPasswordSha256: __, ...client }) => client)

/** The clients of a list. Their status is `enabled` or `disabled`. */
export const clientsOf = (query: Query, narrowing: Narrowing): Rows<ClientRow> => {
  const { createdAtMs: atMs, username, disabled } = clients
  const { status } = narrowing
  const matches = status === undefined ? undefined : eq(disabled, status === 'disabled')
  return narrowedRows(query, { table: clients, atMs, texts: [username] }, narrowing, { matches })
}

/** Adds a client with every feature and without a wallet, and returns its id. The caller has checked its name. */
export const addClient = (tx: Tx, username: string, passwordSha256: string, nowMs: number): number =>
  tx
    .insert(clients)
    .values({
      username,
      passwordSha256,
      vouchers: true,
      quantityMax: null,
      disabled: false,
      revokedThrough: 0,
      createdAtMs: nowMs,
    })
    .returning({ id: clients.id })
    .get().id

/** Disabling a client or setting its password revokes its tokens for good. */
export const updateClient = (tx: Tx, id: number, change: Partial<Omit<ClientRow, 'id'>>): void => {
  if (Object.keys(change).length > 0) {
    tx.update(clients).set(change).where(eq(clients.id, id)).run()
  }
  if (change.disabled || change.passwordSha256 !== undefined) revokeLogins(tx, id)
}

/** Sets a password. The old one stays valid until a time, with all tokens; if undefined, both end now (contract C17). */
export const rotatePassword = (tx: Tx, id: number, passwordSha256: string, oldUntilMs: number | undefined): void => {
  const old =
    oldUntilMs === undefined
      ? { oldPasswordSha256: null, oldPasswordUntilMs: null }
      : { oldPasswordSha256: sql`${clients.passwordSha256}`, oldPasswordUntilMs: oldUntilMs }
  tx.update(clients)
    .set({ passwordSha256, ...old })
    .where(eq(clients.id, id))
    .run()
  if (oldUntilMs === undefined) revokeLogins(tx, id)
}

/** Deletes a client. Fails on a foreign key if the client has records. */
export const deleteClient = (tx: Tx, id: number): void => {
  tx.delete(logins).where(eq(logins.clientId, id)).run()
  tx.delete(clients).where(eq(clients.id, id)).run()
}

/** Revokes every token of a client, or of all clients if undefined. */
export const revokeLogins = (tx: Tx, clientId?: number): void => {
  tx.update(clients)
    .set({ revokedThrough: lastNumber })
    .where(and(clientId === undefined ? undefined : eq(clients.id, clientId), gt(lastNumber, clients.revokedThrough)))
    .run()
}

export const insertClients = (tx: Tx, rows: (typeof clients.$inferInsert)[]): void =>
  void tx.insert(clients).values(rows).run()

export const clientNames = (query: Query): string[] =>
  query
    .select({ username: clients.username })
    .from(clients)
    .all()
    .map(({ username }) => username)

export const setPasswordDigest = (tx: Tx, id: number, passwordSha256: string): void => {
  tx.update(clients).set({ passwordSha256 }).where(eq(clients.id, id)).run()
}

/** Sets the password of some clients, and of all clients with the same password as one of them. */
export const setPasswordDigests = (tx: Tx, ids: readonly number[], passwordSha256: string): void => {
  const replaced = tx
    .select({ digest: clients.passwordSha256 })
    .from(clients)
    .where(inArray(clients.id, [...ids]))
  tx.update(clients).set({ passwordSha256 }).where(inArray(clients.passwordSha256, replaced)).run()
}

export const findPasswordDigest = (query: Query, id: number): string | undefined =>
  query.select({ digest: clients.passwordSha256 }).from(clients).where(eq(clients.id, id)).limit(1).get()?.digest
