import { type Command, InvalidArgumentError } from 'commander'
import { deleteDiscounts, discountsOf } from '../../catalog/queries.ts'
import { dataConfigOf } from '../../config/config.ts'
import type { DataOptions } from '../../config/option-table.ts'
import { parseDuration } from '../../config/values.ts'
import { hasDatabase, makeDataFolder, requirePrivateFiles } from '../../db/data-folder.ts'
import type { Database, Query } from '../../db/database.ts'
import { lockForReplacing } from '../../db/folder-lock.ts'
import { systemClock, toTimestamp, toTimestampOrNull } from '../../kernel/clock.ts'
import type { Reference } from '../../reference/reference.ts'
import { LIMITED_USERNAME, SANDBOX_USERNAME } from '../../sandbox/seed/accounts.ts'
import { passwordDigest } from '../../sessions/credentials.ts'
import {
  addClient,
  allClients,
  type ClientRecord,
  deleteClient,
  rotatePassword,
  updateClient,
} from '../../sessions/queries.ts'
import { createDatabase } from '../../start/folder.ts'
import { deleteWallets, walletsOf } from '../../wallets/queries.ts'
import type { World } from '../../worlds/world.ts'
import { listOf, type Row } from '../terminal/cells.ts'
import { note } from '../terminal/output.ts'
import { type Acting, act } from './acts.ts'
import { administer, dataCommand, explainFaults, otherMode, refused } from './administration.ts'
import { CLIENT_COLUMNS, clientRow, getClient } from './client-records.ts'
import { feesOf, termCommands } from './client-terms.ts'
import { type ListOptions, limited, listCommand } from './lists.ts'

/** `scrip client`: who may use the API, and what each may do (contract C1, C3, C8). */

/** 32 letters of 36 kinds: 165 random bits (contract C3). */
const PASSWORD_LENGTH = 32
const NAME = /^[A-Za-z0-9][\w.@-]{0,63}$/
/** Names that mean something to the sandbox, and would mislead in live mode (contract C2). */
const RESERVED = new RegExp(`^(?:${SANDBOX_USERNAME}|${LIMITED_USERNAME}|sbx_.*)$`, 'i')

export const clientCommands = (client: Command): void => {
  dataCommand(client, 'add', 'add a client and print its password once; creates live data in a new folder')
    .argument('<name>', 'its username', newName)
    .action(add)
  listCommand(client, 'list', 'list the clients', { times: 'added', statuses: CLIENT_STATUSES }).action(
    administer(({ database }, options: ListOptions) =>
      listOf(CLIENT_COLUMNS, limited(clientsOf(database, options), options)),
    ),
  )
  dataCommand(client, 'rotate', 'give a client a new password and revoke its tokens')
    .argument('<name>')
    .option('--keep-old <time>', 'keep the tokens, and the old password for so long: 24h', parseDuration)
    .action(act(rotate))
  dataCommand(client, 'show', 'show a client and its wallets')
    .argument('<name>')
    .action(
      administer(({ database: { query }, reference }, name: string) =>
        details(query, reference, getClient(query, name)),
      ),
    )
  dataCommand(client, 'rename', 'give a client another username; its password and its tokens stay')
    .argument('<name>')
    .argument('<new-name>', 'its username from now on', newName)
    .action(act(rename))
  dataCommand(client, 'remove', 'remove a client that has no records').argument('<name>').action(act(remove))
  termCommands(client)
}

const rotate = async (
  { config, world, write, record }: Acting,
  name: string,
  { keepOld }: { keepOld?: number },
): Promise<Row> => {
  const password = newPassword(world)
  const untilMs = keepOld === undefined ? undefined : world.clock.nowMs() + keepOld
  const kept = untilMs === undefined ? {} : { old_password_until: toTimestamp(untilMs) }
  const id = await write((tx) => {
    const { id } = getClient(tx, name)
    rotatePassword(tx, id, passwordDigest(password), untilMs)
    record(tx, { after: { client_id: id, ...kept } })
    return id
  })
  note(SHOWN_ONCE, config.format)
  return { client_id: id, username: name, password, ...kept }
}

const rename = ({ write, record }: Acting, name: string, username: string): Promise<Row> =>
  write((tx) => {
    const client = getClient(tx, name)
    refuseTaken(tx, username)
    updateClient(tx, client.id, { username })
    record(tx, { before: { username: name }, after: { username } })
    return clientRow(getClient(tx, username))
  })

/** The database refuses it when anything refers to the client. */
const remove = ({ write, record }: Acting, name: string): Promise<Row> =>
  write((tx) => {
    const client = getClient(tx, name)
    try {
      deleteDiscounts(tx, client.id)
      deleteWallets(tx, client.id)
      deleteClient(tx, client.id)
    } catch (error) {
      if (!isReferred(error)) throw error
      throw refused(`client ${name} has records, which are kept\nDisable it instead: scrip client disable ${name}.`)
    }
    record(tx, { before: clientRow(client) })
    return { client_id: client.id, username: name, status: 'removed' }
  })

const isReferred = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY'

const refuseTaken = (query: Query, name: string): void => {
  if (allClients(query).every(({ username }) => username !== name)) return
  throw refused(`there is a client ${name} already\nscrip client rotate ${name} gives it a new password.`)
}

const SHOWN_ONCE = 'Keep the password: it is shown only once.'

const newName = (text: string): string => {
  if (!NAME.test(text)) throw new InvalidArgumentError('A name is 1 to 64 letters, digits and . _ @ - characters.')
  if (RESERVED.test(text)) throw new InvalidArgumentError('That name belongs to the sandbox.')
  return text
}

const newPassword = ({ ids }: World): string => ids.letters(PASSWORD_LENGTH)

async function add(this: Command, name: string): Promise<void> {
  const { dataDir } = dataConfigOf(this.opts<DataOptions>())
  await explainFaults(dataDir, () => hasDatabase(dataDir) || createLiveData(dataDir))
  await act(addTo).call(this, name)
}

const addTo = async ({ config, world, isSandbox, write, record }: Acting, name: string): Promise<Row> => {
  if (isSandbox) {
    throw otherMode(
      `${config.dataDir} holds a sandbox\nLog in as sbx_NAME there, or keep live data in a folder of its own.`,
    )
  }
  const password = newPassword(world)
  const id = await write((tx) => {
    refuseTaken(tx, name)
    const client_id = addClient(tx, name, passwordDigest(password), world.clock.nowMs())
    record(tx, { after: { client_id } })
    return client_id
  })
  note(`${SHOWN_ONCE} Next: scrip wallet add ${name} CURRENCY.`, config.format)
  return { client_id: id, username: name, password }
}

/** Creates what `scrip serve --mode live` creates at its first start, except for the keys. */
const createLiveData = (dataDir: string): void => {
  makeDataFolder(dataDir)
  requirePrivateFiles(dataDir)
  using _lock = lockForReplacing(dataDir)
  if (!hasDatabase(dataDir)) createDatabase(dataDir, 'live', systemClock)
}

const clientsOf = ({ query }: Database, { status, since = 0, until = Number.POSITIVE_INFINITY }: ListOptions) =>
  allClients(query)
    .filter(({ createdAtMs }) => createdAtMs >= since && createdAtMs < until)
    .map(clientRow)
    .filter((row) => status === undefined || row.status === status)

const CLIENT_STATUSES = ['enabled', 'disabled'] as const

const details = (query: Query, reference: Reference, client: ClientRecord): Row => {
  const { created_at, ...row } = clientRow(client)
  const wallets = [...walletsOf(query, { clientId: client.id })]
  return {
    ...row,
    wallets: wallets.map(({ id, currencyId }) => `${id} ${reference.getCurrency(currencyId).currency}`),
    ...feesOf(client),
    discounts: [...discountsOf(query, client.id).values()].filter((basisPoints) => basisPoints > 0).length,
    old_password_until: toTimestampOrNull(client.oldPasswordUntilMs),
    created_at,
  }
}
