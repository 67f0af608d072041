import { Argument, type Command } from 'commander'
import type { Act, Acting } from '../../acts/act.ts'
import { listOf, rowOf } from '../../acts/cells.ts'
import { get, type Kind, type Shown } from '../../acts/kind.ts'
import type { DataOptions } from '../../config/option-table.ts'
import { withDataOptions } from '../../config/options.ts'
import { parseTime } from '../../config/values.ts'
import type { Query, Tx } from '../../db/database.ts'
import type { Narrowing, Rows } from '../../db/narrowing.ts'
import { refused } from '../../kernel/exit.ts'
import { DomainError, transitionRefused } from '../../kernel/failure.ts'
import { choiceOption, withListOptions } from '../arguments.ts'
import { administer, dataCommand, type Reading } from './administration.ts'
import { CLIENT } from './client-kinds.ts'

/** How commands list, show and change records. A {@link Kind} describes a kind of record. */

/** A command about one record. */
export const recordCommand = (
  above: Command,
  { argument: [flags, about, read] }: Pick<Kind<unknown, unknown>, 'argument'>,
  name: string,
  description: string,
): Command => {
  const argument = new Argument(flags, about)
  return dataCommand(above, name, description).addArgument(read ? argument.argParser(read) : argument)
}

/** One that moves money, and has a dry run (contract C19). Its action is {@link change}. */
export const moneyCommand = (...command: Parameters<typeof recordCommand>): Command =>
  recordCommand(...command).option('--dry-run', 'show the result, and change nothing')

/** The action of a command that shows a record. */
export const show = <Id, Item>(kind: Kind<Id, Item>) =>
  administer((data, id: Id) => rowOf(kind.details ?? kind.columns, get(kind, data.query, id), data))

/** An act that changes a record, and answers with it. */
export const change =
  <Id, Item, Args extends unknown[]>(
    kind: Kind<Id, Item>,
    by: (tx: Tx, item: Item, data: Acting, ...args: Args) => unknown,
  ): ((data: Acting, id: Id, ...args: Args) => ReturnType<Act>) =>
  (data, id, ...args) =>
    data.write((tx) => {
      const item = get(kind, tx, id)
      const [shown, audited] = [kind.columns, kind.audited ?? kind.columns]
      const before = rowOf(audited, item, data)
      try {
        by(tx, item, data, ...args)
      } catch (error) {
        if (!kind.remedyOf || !isOfStatus(error)) throw error
        const { status } = rowOf(shown, item, data)
        const isThere = error.failure.message === transitionRefused(String(status), String(status)).message
        const problem = isThere ? `${status} already` : `${status}, and cannot be changed like this`
        throw refused(`${kind.name} ${id} is ${problem}\n${kind.remedyOf(item)}`)
      }
      const changed = get(kind, tx, id)
      data.record(tx, { before, after: rowOf(audited, changed, data) })
      return rowOf(shown, changed, data)
    })

/** The failure codes that mean: not possible in this status. */
const STATUS_FAILURES = ['transition_refused', 'payout_not_cancellable']

const isOfStatus = (error: unknown): error is DomainError =>
  error instanceof DomainError && STATUS_FAILURES.includes(error.failure.code)

interface ListOptions<Status extends string = string> extends DataOptions {
  limit?: number | undefined
  client?: string
  since?: number
  until?: number
  status?: Status
}

interface Narrowable {
  /** Its rows belong to clients. */
  client?: true
  /** What the time filter is about: "placed". */
  times?: string
  statuses?: readonly string[]
}

/** Makes a command one that lists records: as a table, as JSON or as CSV (contract C17). */
export const listCommand = (
  command: Command,
  description: string,
  { client, times, statuses }: Narrowable = {},
): Command => {
  withListOptions(withDataOptions(command)).description(description)
  if (client) command.option('--client <name>', 'only those of this client')
  if (times !== undefined) {
    command
      .option('--since <time>', `only those ${times} at this time or later: a date or an RFC 3339 time`, parseTime)
      .option('--until <time>', `only those ${times} before this time`, parseTime)
  }
  if (statuses) command.addOption(choiceOption('--status <status>', 'only this status', statuses))
  return command
}

/** What a person reads at once; {@link ListOptions.limit} asks for more. */
const TERMINAL_ROWS = 100

/** The action of a command that lists records. */
export const list = <Item, Args extends unknown[]>(
  columns: Shown<Item>,
  itemsOf: (query: Query, narrowing: Narrowing, data: Reading, ...args: Args) => Listed<Item> | Promise<Listed<Item>>,
) =>
  async function (this: Command, ...args: Args): Promise<void> {
    const options = this.opts<ListOptions>()
    await administer(async (data: Reading) => {
      const isForPerson = process.stdout.isTTY && data.config.format === 'text'
      const limit = options.limit ?? (isForPerson ? TERMINAL_ROWS : undefined)
      const items = await itemsOf(data.query, narrowingOf(data.query, { ...options, limit }), data, ...args)
      const shown = listOf(columns, Iterator.from(items).take(limit ?? Number.POSITIVE_INFINITY), data)
      return isForPerson ? { ...shown, total: 'count' in items ? items.count() : items.length } : shown
    }).call(this)
  }

export type Listed<Item> = Rows<Item> | readonly Item[]

/** @throws ProgramError when there is no such client */
const narrowingOf = (query: Query, { client, status, since, until, limit }: ListOptions): Narrowing => ({
  clientId: client === undefined ? undefined : get(CLIENT, query, client).id,
  status,
  sinceMs: since,
  untilMs: until,
  limit,
  newestFirst: true,
})
