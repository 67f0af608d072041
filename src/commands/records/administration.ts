import type { Command } from 'commander'
import { type DataConfig, dataConfigOf } from '../../config/config.ts'
import type { DataOptions } from '../../config/option-table.ts'
import { withDataOptions } from '../../config/options.ts'
import { copyWithoutRecord, findMark, type Mark } from '../../db/copy-mark.ts'
import { DataFault, databasePath, hasDatabase, makeDataFolder, requirePrivateFiles } from '../../db/data-folder.ts'
import { Database, type Query, type Tx } from '../../db/database.ts'
import { lockForCommand, lockForReplacing, lockForTurn } from '../../db/folder-lock.ts'
import { requireCurrentSchema } from '../../db/migrate.ts'
import { isLiveFile, modeOf } from '../../db/mode.ts'
import { expiringEvents } from '../../events/expiry.ts'
import { systemClock } from '../../kernel/clock.ts'
import { secureRandomness } from '../../kernel/ids.ts'
import { type Delivering, dueOrders } from '../../orders/delivery.ts'
import type { Seal } from '../../orders/seal.ts'
import { importedSupply } from '../../orders/supply.ts'
import { openSeal } from '../../orders/voucher-key.ts'
import { duePayouts } from '../../payouts/progress.ts'
import type { Joined, Needs } from '../../record/command.ts'
import type { Gate } from '../../record/gate.ts'
import type { Currency, Reference } from '../../reference/reference.ts'
import { allClients } from '../../sessions/queries.ts'
import { createDatabase } from '../../start/folder.ts'
import { readReference } from '../../start/seed.ts'
import { findAnyWallet } from '../../wallets/queries.ts'
import { expiringAttempts } from '../../webhooks/clearing.ts'
import { DueWork } from '../../worlds/due.ts'
import { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { explainFaults } from '../advice.ts'
import { refused, unusable } from '../exit.ts'
import { Amount } from '../terminal/cells.ts'
import { note, type Result, show } from '../terminal/output.ts'

export const dataCommand = (above: Command, name: string, description: string): Command =>
  withDataOptions(above.command(name)).description(description)

/** The action of a command: works on its data folder and shows the result. Its errors are UsageError and ProgramError. */
export const administer = <Args extends unknown[]>(
  work: (administration: Administration, ...args: Args) => Result | Promise<Result>,
  needs: Needs = 'read',
) =>
  async function (this: Command, ...args: Args): Promise<void> {
    const config = dataConfigOf(this.opts<DataOptions>())
    await explainFaults(config.dataDir, () =>
      withData(config, needs, async (database, copy) => {
        if (needs !== 'either') requireLive(database, config.dataDir, pathOf(this))
        await show(await work(await administrationOf(config, database, copy), ...args), config.format)
      }),
    )
  }

/** The action of a command that may be the first of a folder: it makes what a live server makes at its first start, except for the keys. */
export const inNewFolder = <Args extends unknown[]>(action: (this: Command, ...args: Args) => Promise<void>) =>
  async function (this: Command, ...args: Args): Promise<void> {
    const { dataDir, postgres } = dataConfigOf(this.opts<DataOptions>())
    const make = (): void => {
      makeDataFolder(dataDir)
      requirePrivateFiles(dataDir)
      using _lock = lockForReplacing(dataDir)
      if (!hasDatabase(dataDir)) createDatabase(dataDir, 'live', systemClock)
    }
    if (!postgres) await explainFaults(dataDir, () => hasDatabase(dataDir) || make())
    await action.call(this, ...args)
  }

/** The words of a command, without the program: `client add`. */
export const pathOf = (command: Command): string =>
  command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()

/** Acts and lists are of live mode (contract C20). @throws ProgramError */
export const requireLive = ({ sqlite }: Database, dataDir: string, command: string): void => {
  if (modeOf(sqlite) !== 'sandbox') return
  const operation = CONTROL_OPERATIONS[command]
  const next = operation
    ? `While it is served, ${operation} does the same.`
    : 'Live data is in a folder of its own: scrip client add makes one.'
  throw unusable(`${dataDir} is the folder of a sandbox, and scrip ${command} works in live mode only\n${next}`)
}

/** What does the same as a command in a sandbox. */
const CONTROL_OPERATIONS: Readonly<Record<string, string>> = {
  'client add': 'POST /_sandbox/clients',
  'client list': 'GET /_sandbox/clients',
  'client feature': 'PATCH /_sandbox/clients/{id}',
  'client limits': 'PATCH /_sandbox/clients/{id}',
  'wallet add': 'POST /_sandbox/wallets',
  'wallet list': 'GET /_sandbox/wallets',
  'wallet fund': 'POST /_sandbox/wallets/{id}/fund',
  'wallet threshold': 'PATCH /_sandbox/wallets/{id}',
  'rates set': 'PUT /_sandbox/rates',
  'rates list': 'GET /_sandbox/rates',
  'orders list': 'GET /_sandbox/orders',
  'orders deliver': 'POST /_sandbox/orders/{id}/deliver',
  'orders fail': 'POST /_sandbox/orders/{id}/fail',
  'orders refund': 'POST /_sandbox/orders/{id}/refund',
  'payouts list': 'GET /_sandbox/payouts',
  'payouts advance': 'POST /_sandbox/payouts/{id}/advance',
  'payouts fail': 'POST /_sandbox/payouts/{id}/fail',
  'payouts return': 'POST /_sandbox/payouts/{id}/return',
  'webhooks list': 'GET /_sandbox/webhooks',
  'webhooks redeliver': 'POST /_sandbox/events/{id}/redeliver',
  reconcile: 'POST /_sandbox/reconcile',
}

/** Pauses after each write for a server that waits to write: the server retries every millisecond. */
const SERVERS_TURN_MS = 4

/** Administrative commands write to the database file, whether a server runs on it or not (decision 0020). */
const administrationOf = async (config: DataConfig, database: Database, copy: Copy | undefined) => {
  const isSandbox = modeOf(database.sqlite) === 'sandbox'
  const world = new World(DEFAULT_WORLD, database, systemClock, secureRandomness)
  const reference = readReference()
  const delivering = deliveringOf(config, database, reference)
  // Due work comes first.
  const due = new DueWork(
    [dueOrders(delivering), duePayouts({ reference, byClock: () => false }), expiringEvents, expiringAttempts],
    ({ kind, id }) => note(`A step that is due failed and is left out: ${id} of the ${kind}.`, config.format),
  )
  if (!isSandbox && copy?.gate !== null && due.isDue(world)) {
    using _turn = turnToWrite(config)
    await due.catchUp(world)
  }
  return {
    config,
    world,
    database,
    query: database.query,
    reference,
    ...namesIn(database.query, reference),
    /** For `scrip backup` alone, the only command of these that a sandbox has. */
    isSandbox,
    delivering,
    /** Set for a record in PostgreSQL. */
    copy,
    write: async <T>(unit: (tx: Tx) => T): Promise<T> => {
      if (copy?.gate === null) throw new DataFault(copyWithoutRecord(copy.mark, config.dataDir))
      using _turn = turnToWrite(config)
      const done = await database.write(unit)
      await Bun.sleep(SERVERS_TURN_MS)
      return done
    },
  }
}

const turnToWrite = ({ dataDir, format }: DataConfig): Disposable =>
  lockForTurn(dataDir, () => note('Another command writes to this folder. Waiting for it to end.', format))

export type Administration = Awaited<ReturnType<typeof administrationOf>>

/** Values that many rows share are read once. */
const namesIn = (query: Query, reference: Reference) => {
  let usernames: ReadonlyMap<number, string> | undefined
  const walletCurrencies = new Map<number, Currency>()
  const currency = (id: number): Currency => reference.getCurrency(id)
  const walletCurrency = (walletId: number): Currency => {
    const found = walletCurrencies.get(walletId) ?? currency(findAnyWallet(query, walletId)?.currencyId ?? 0)
    walletCurrencies.set(walletId, found)
    return found
  }
  return {
    clientName: (clientId: number): string | null => {
      usernames ??= new Map(allClients(query).map(({ id, username }) => [id, username]))
      return usernames.get(clientId) ?? null
    },
    currency,
    walletCurrency,
    amount: (minor: number | null, currencyId: number): Amount | null =>
      minor === null ? null : new Amount(minor, currency(currencyId)),
    walletAmount: (minor: number | null, walletId: number): Amount | null =>
      minor === null ? null : new Amount(minor, walletCurrency(walletId)),
  }
}

/** The key is read when something is sealed or opened: most commands do neither. */
const deliveringOf = (
  { dataDir, voucherKey, format }: DataConfig,
  database: Database,
  reference: Reference,
): Delivering => {
  let seal: Seal | undefined
  const seals = (): Seal => (seal ??= openSeal(database, dataDir, voucherKey))
  const onDamaged = ({ stockId }: { stockId: number }) =>
    note(`Voucher ${stockId} of the stock cannot be opened and is no longer for sale.`, format)
  return { reference, seals, supply: importedSupply({ seals, onDamaged }) }
}

/** A database that is the copy of a record in PostgreSQL. */
interface Copy {
  mark: Mark
  /** What is written through; null where it is only read. */
  gate: Gate | null
  /** Whether no server works on the folder meanwhile. */
  ownsFolder: boolean
}

/** Does some work on the database of a folder, beside a server or not. @throws ProgramError, SchemaMismatch, DataFault */
export const withData = async <T>(
  config: DataConfig,
  needs: Needs,
  work: (database: Database, copy: Copy | undefined) => T | Promise<T>,
): Promise<T> => {
  if (needs === 'folder' && !hasDatabase(config.dataDir))
    throw refused(`${config.dataDir} holds no data\nscrip serve makes an empty record itself.`)
  if (!config.postgres || needs === 'folder') return await withFolder(config.dataDir, needs, undefined, work)
  const { withRecord } = await import('./record.ts')
  return await withRecord(config, config.postgres, needs, (joined) => withFolder(config.dataDir, needs, joined, work))
}

const withFolder = async <T>(
  dataDir: string,
  needs: Needs,
  joined: Joined | undefined,
  work: (database: Database, copy: Copy | undefined) => T | Promise<T>,
): Promise<T> => {
  if (!hasDatabase(dataDir)) {
    throw unusable(
      `${dataDir} holds no database\nCheck the name, or make one: scrip client add NAME --data-dir ${dataDir}.`,
    )
  }
  requirePrivateData(dataDir)
  using _lock = lockForCommand(dataDir)
  const database = Database.openFile(databasePath(dataDir))
  try {
    requireCurrentSchema(database.sqlite)
    const mark = findMark(database.sqlite)
    const gate = joined?.gateOf?.(database)
    if (mark && !gate && needs === 'write') throw new DataFault(copyWithoutRecord(mark, dataDir))
    if (gate) database.gateBy(gate)
    return await work(database, mark && { mark, gate: gate ?? null, ownsFolder: joined?.ownsFolder ?? false })
  } finally {
    database.leave()
  }
}

/** For live mode; a sandbox has nothing to hide. @throws DataFault */
export const requirePrivateData = (dataDir: string): void => {
  if (hasDatabase(dataDir) && isLiveFile(databasePath(dataDir))) requirePrivateFiles(dataDir)
}
