import type { Command } from 'commander'
import type { Act } from '../../acts/act.ts'
import { listOf } from '../../acts/cells.ts'
import { CLIENT } from '../../acts/clients.ts'
import { type Fields, field, inputOf } from '../../acts/fields.ts'
import { get, type Listing, type Noun, type Showing } from '../../acts/kind.ts'
import type { DataOptions } from '../../config/option-table.ts'
import { withDataOptions } from '../../config/options.ts'
import { parseTime } from '../../config/values.ts'
import type { Query } from '../../db/database.ts'
import type { Narrowing } from '../../db/narrowing.ts'
import { acting, actingOnEach } from '../acts/ask.ts'
import { addField, choiceOption, withListOptions } from '../arguments.ts'
import { administer } from './administration.ts'

/** Makes commands from the descriptions of acts and lists. */

export const commandsOf =
  (noun: Noun) =>
  (above: Command): void => {
    for (const [verb, entry] of Object.entries(noun)) {
      if ('of' in entry) listCommand(above.command(verb), entry)
      else actCommand(above.command(verb), entry)
    }
  }

interface Described {
  summary: string
  takes?: Fields | undefined
  among?: Act['among']
}

/** Gives a command the options for a data folder, its sentence and its fields. */
export const describe = (command: Command, { summary, takes = {}, among }: Described): Command => {
  withDataOptions(command).description(summary.charAt(0).toLowerCase() + summary.slice(1))
  for (const one of Object.values(takes))
    addField(command, among && one.flags === '<id>' ? { ...one, flags: '[id]' } : one)
  if (among) {
    command.option(
      '--file <file>',
      "all that a file names: an id or a reference on each line, or a bank's CSV; - is standard input",
    )
    for (const one of Object.values(among.takes)) addField(command, one)
  }
  return command
}

export const actCommand = (command: Command, entry: Act | Showing): Command => {
  describe(command, entry)
  if ('isMoney' in entry) command.option('--dry-run', 'show the result, and change nothing')
  if ('show' in entry)
    return command.action(administer((data, ...args) => entry.show(data, inputOf(entry.takes, args))))
  return command.action(entry.among ? actingOnEach(entry, entry.among) : acting(entry))
}

interface ListOptions<Status extends string = string> extends DataOptions {
  wide?: true
  limit?: number | undefined
  client?: string
  since?: number
  until?: number
  status?: Status
}

/** The rows that a person reads at once; {@link ListOptions.limit} asks for more. */
const TERMINAL_ROWS = 100

/** Defines a command that lists records: as a table, as JSON or as CSV (contract C17). */
export const listCommand = (command: Command, listing: Listing): Command => {
  const { client, times, statuses, takes = {}, columns, brief, of, inSandbox } = listing
  describe(withListOptions(command), listing)
  if (client) addField(command, field('--client <name>', 'only those of this client'))
  if (times !== undefined) {
    command
      .option('--since <time>', `only those ${times} at this time or later: a date or an RFC 3339 time`, parseTime)
      .option('--until <time>', `only those ${times} before this time`, parseTime)
  }
  if (statuses) command.addOption(choiceOption('--status <status>', 'only this status', statuses))
  return command.action(
    administer(async (data, ...args) => {
      const options = args.at(-2) as ListOptions
      const isForPerson = process.stdout.isTTY && data.config.format === 'text'
      const limit = options.limit ?? (isForPerson ? TERMINAL_ROWS : undefined)
      const narrowing = narrowingOf(data.query, { ...options, limit })
      const items = await of(data.query, narrowing, inputOf(takes, args), data)
      const shown = listOf(columns, Iterator.from(items).take(limit ?? Number.POSITIVE_INFINITY), data)
      if (!isForPerson) return shown
      const total = 'count' in items ? items.count() : items.length
      return { ...shown, total, brief: brief?.split(' '), isWide: options.wide ?? false }
    }, inSandbox),
  )
}

/** @throws ProgramError when there is no such client */
const narrowingOf = (query: Query, { client, status, since, until, limit }: ListOptions): Narrowing => ({
  clientId: client === undefined ? undefined : get(CLIENT, query, client).id,
  status,
  sinceMs: since,
  untilMs: until,
  limit,
  newestFirst: true,
})
