import { type Command, Option } from 'commander'
import type { DataOptions } from '../../config/option-table.ts'
import { parseTime } from '../../config/values.ts'
import type { Query } from '../../db/database.ts'
import type { Narrowing } from '../../db/narrowing.ts'
import { choiceOption, wholeNumber } from '../arguments.ts'
import { dataCommand } from './administration.ts'
import { getClient } from './client-records.ts'

/** What the lists of the command line have in common (contract C17). */

export interface ListOptions<Status extends string = string> extends DataOptions {
  limit?: number
  client?: string
  since?: number
  until?: number
  status?: Status
}

interface Narrowable {
  /** Its rows belong to clients. */
  client?: true
  /** What happens at the time that it is narrowed by: "placed". */
  times?: string
  statuses?: readonly string[]
}

export const listCommand = (
  above: Command,
  name: string,
  description: string,
  { client, times, statuses }: Narrowable = {},
): Command => {
  const command = dataCommand(above, name, description)
    .addOption(new Option('--csv', 'print CSV, for spreadsheets').conflicts('json'))
    .option('--limit <number>', 'the first ones only', wholeNumber)
  if (client) command.option('--client <name>', 'only those of this client')
  if (times !== undefined) {
    command
      .option('--since <time>', `only those ${times} at this time or later: a date or an RFC 3339 time`, parseTime)
      .option('--until <time>', `only those ${times} before this time`, parseTime)
  }
  if (statuses) command.addOption(choiceOption('--status <status>', 'only this status', statuses))
  return command
}

/** @throws ProgramError when there is no such client */
export const narrowingOf = (query: Query, { client, status, since, until, limit }: ListOptions): Narrowing => ({
  clientId: client === undefined ? undefined : getClient(query, client).id,
  status,
  sinceMs: since,
  untilMs: until,
  limit,
})

/** The first rows of a list that is short enough to be read whole. */
export const limited = <Row>(rows: readonly Row[], { limit }: Pick<ListOptions, 'limit'>): readonly Row[] =>
  rows.slice(0, limit)
