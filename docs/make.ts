import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, type Option } from 'commander'
import { createApp } from '../src/app/app.ts'
import { commandLine } from '../src/commands/command-line.ts'
import { configOf } from '../src/config/config.ts'
import { type Mode, type OptionSpec, SERVE_OPTIONS, type ServeOptions } from '../src/config/option-table.ts'
import { withServeOptions } from '../src/config/options.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { createLog } from '../src/observability/log.ts'
import { assemble } from '../src/start/assemble.ts'

/** Generates flags.md and the tables of errors.md: `npm run docs`. */

export const pathOf = (page: string): string => join(import.meta.dir, page)

const cell = (text: string): string => text.replace(/\|/g, '\\|')
/** With aligned columns, as the formatter requires. */
const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((cells) => Bun.stringWidth(cells[column] ?? ''))),
  )
  const dashes = widths.map((width) => '-'.repeat(width))
  return [head, dashes, ...rows]
    .map((cells) => cells.map((text, column) => text + ' '.repeat((widths[column] ?? 0) - Bun.stringWidth(text))))
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('')
}

const flagRow = ({
  flags,
  description,
  envVar,
  argChoices,
  defaultValue,
  defaultValueDescription,
}: Option): string[] => {
  const [, words = description, fallback] = /^(.*?)\s*\(default: (.*)\)$/.exec(description) ?? []
  const known = fallback ?? defaultValueDescription ?? (defaultValue === undefined ? '' : String(defaultValue))
  const choices = argChoices ? `: ${argChoices.join(', ')}` : ''
  return [`\`${flags}\``, envVar ? `\`${envVar}\`` : '', known, cell(words + choices)]
}

/** What many commands on records have in common; in the words of the command that is the first to have it, if there are none here. */
const COMMON: Readonly<Record<string, string>> = {
  '--data-dir': 'data folder of the server',
  '--json': '',
  '--csv': '',
  '--limit': '',
  '--client': '',
  '--since': 'only records of this time or later: a date or an RFC 3339 time',
  '--until': 'only records from before this time',
  '--dry-run': 'show the result, and change nothing',
}

/** Not named in each row. */
const TAKEN_BY_ALL = ['--data-dir', '--json']
/** What an operand is, where it is the record of its command. */
const SAYS_ITS_NAME = /^(?:the \w+|its (?:id|username)|a username)$/

const isCommon = ({ long }: Option): boolean => Object.hasOwn(COMMON, long ?? '')
const isOnRecords = ({ options, commands }: Command): boolean =>
  commands.length > 0 || options.some(({ long, envVar }) => long === '--data-dir' && envVar === 'SCRIP_DATA_DIR')

const commonSection = (commands: readonly Command[]): string => {
  const options = commands.filter(isOnRecords).flatMap((command) => command.commands.flatMap(({ options }) => options))
  const rows = Object.entries(COMMON).map(([name, words]) => {
    const first = options.find(({ long }) => long === name)
    if (!first) throw new Error(`no command has ${name}`)
    const [flags = '', variable = '', , text = ''] = flagRow(first)
    return [flags, variable, words || text]
  })
  return [
    '## Common flags\n',
    'Commands on a data folder take `--data-dir`, and those that print a result `--json`. Their rows name the others.\n',
    tableOf(['flag', 'variable', ''], rows),
  ].join('\n')
}

/** A command on records, in a row: how it is called, what it does, and what it takes. */
const commandRow = (command: Command, name: string): string[] => {
  const { options, registeredArguments } = command
  const takes = options.filter((option) => isCommon(option) && !TAKEN_BY_ALL.includes(option.long ?? ''))
  const operands = registeredArguments
    .filter(({ description }) => description !== '' && !SAYS_ITS_NAME.test(description))
    .map((argument) => `\`${argument.name()}\`: ${argument.description}`)
  const own = options
    .filter((option) => !isCommon(option))
    .map((option) => {
      const [flags, variable, fallback, words] = flagRow(option)
      return `${flags}${variable ? ` (${variable})` : ''}: ${words}${fallback ? ` (default: ${fallback})` : ''}`
    })
  const usage = `${name} ${command.usage().replace('[options]', '')}`.replace(/ +/g, ' ').trim()
  const says = [command.description().replace(/\.$/, ''), ...operands, ...own].join('. ')
  return [
    cell(`\`${usage}\``),
    `${cell(says).replaceAll('\\\\|', '\\|')}.`,
    takes.map(({ long }) => `\`${long}\``).join(' '),
  ]
}

const groupSection = (command: Command, path: string): string => {
  const below = command.commands.length > 0 ? command.commands : [command]
  const rows = below.map((each) => commandRow(each, each === command ? path : `${path} ${each.name()}`))
  return [`## ${path}\n`, tableOf(['command', '', 'also'], rows)].join('\n')
}

const sectionOf = (command: Command, path: string, serving: Command): string => {
  const { registeredArguments } = command
  if (command !== serving && isOnRecords(command) && !isServingToo(command, serving)) {
    return groupSection(command, path)
  }
  const usage = `${path} ${command.usage()}`
  const shared = new Set(command === serving ? [] : serving.options.map((option) => flagRow(option).join()))
  const isServing = isServingToo(command, serving)
  const shown = command.options.filter(({ hidden }) => !hidden)
  const options = isServing ? shown.filter((option) => !shared.has(flagRow(option).join())) : shown
  const refused = command.options.filter(({ hidden }) => hidden).map(({ long }) => `\`${long}\``)
  const but = refused.length > 0 ? ` but ${refused.slice(0, -1).join(', ')} and ${refused.at(-1)}` : ''
  const named = registeredArguments.filter(({ description }) => description !== '')
  const own = [
    `## ${path}\n`,
    `\`${usage}\`\n`,
    `${command.description().replace(/\.$/, '')}.${isServing ? ` Accepts all flags of \`scrip serve\`${but}${options.length > 0 ? ', and:' : '.'}` : ''}\n`,
    ...(named.length > 0
      ? [
          tableOf(
            ['argument', ''],
            named.map((argument) => [cell(`\`${argument.name()}\``), cell(argument.description)]),
          ),
        ]
      : []),
    ...(options.length > 0 ? [tableOf(['flag', 'variable', 'default', ''], options.map(flagRow))] : []),
  ]
  return own.join('\n')
}

const isServingToo = (command: Command, serving: Command): boolean => {
  const shared = new Set(serving.options.map((option) => flagRow(option).join()))
  return command !== serving && command.options.filter((option) => shared.has(flagRow(option).join())).length > 3
}

const flagsOnlyIn = (mode: Mode): string => {
  const flags = Object.entries<OptionSpec>(SERVE_OPTIONS)
    .filter(([, { onlyIn }]) => onlyIn === mode)
    .map(([name]) => `\`--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}\``)
  return `${flags.slice(0, -1).join(', ')} and ${flags.at(-1)}`
}

export const flagsPage = async (): Promise<string> => {
  const program = await commandLine({})
  const serving = program.commands.find((command) => command.name() === 'serve') ?? program
  return `${[
    `# Commands and flags

This page is generated from the program; \`scrip COMMAND --help\` shows the same. A flag overrides its variable, and the variable
overrides the default. \`PORT\` and \`NO_COLOR\` are supported. Secrets can be in files: \`SCRIP_SANDBOX_TOKEN_FILE\`,
\`SCRIP_VOUCHER_KEY_FILE\`. In live mode, secrets cannot be flags.

An unknown flag or \`SCRIP_\` variable is a usage error, and so is one that belongs to the other mode. Only the sandbox has
${flagsOnlyIn('sandbox')}. Only live mode has ${flagsOnlyIn('live')}.
`,
    commonSection(program.commands),
    ...program.commands.map((command) => sectionOf(command, `scrip ${command.name()}`, serving)),
  ].join('\n')}`
}

interface DocumentedError {
  name: string
  status: number
  path: string
}

/** By the last part of the error's name. */
const ADVICE: Readonly<Record<string, string>> = {
  amount_too_large: 'buy or pay a smaller amount',
  amount_too_small: 'buy or pay a larger amount: the total rounds to zero in the wallet’s currency',
  beneficiary_not_found: 'use an id from `GET /api/v1/beneficiaries`, or send the beneficiary’s details',
  body_encoded: 'send it without `Content-Encoding`',
  body_unreadable: 'send a JSON object of at most 1 MiB',
  cancel_not_found: 'check the id: it may belong to another client',
  client_unknown: 'use the username of a client of this world',
  credentials_missing: 'send a username and a password that are not empty',
  credentials_wrong: 'check both; a disabled client gets the same response',
  default_kept: 'reset the default world instead',
  delete_not_found: 'do nothing: it is deleted, or it belongs to another client',
  deliveries_not_found: 'check the id: it may belong to another client',
  deliveries_validation: 'correct the query parameters in the message',
  denomination_not_offered: 'use one of the product’s `available_denominations`',
  dry_run_malformed: 'send `true` or `false` in `X-Dry-Run`, or leave it out',
  dry_run_with_key: 'leave out the key: a rehearsal needs none',
  duplicate_reference: 'find the existing record by its reference; use a new reference for a new one',
  email_invalid: 'correct the e-mail address',
  email_missing: 'send the e-mail address',
  exhausted: 'delete worlds or snapshots that you no longer need',
  feature_disabled: 'ask for the vouchers feature',
  foreign: 'send the request from this machine, to its own address, and not from another site',
  headers_wrong: 'send names and values that HTTP allows',
  idempotency_key_malformed: 'send 8 to 256 printable characters',
  idempotency_key_reused: 'use a new key for a new request',
  insufficient_balance: 'fund the wallet, or use another wallet',
  insufficient_stock: 'check `availability` first; retry later, or buy fewer',
  internal: 'retry; report it with its `X-Request-Id`',
  invalid_id: 'send a positive integer in decimal digits',
  list_validation: 'correct the query parameters in the message',
  not_active: 'switch the webhook on with `PATCH`, `{"active":true}`',
  not_cancellable: 'check the status: it is too late to cancel',
  not_found: 'check the id: it may be inactive or belong to another client',
  path_wrong: 'send a path that begins with a slash, and not with `/_sandbox`',
  ping_not_found: 'check the id: it may belong to another client',
  product_not_found: 'check the id: it may be inactive',
  quantity_exceeded: 'place several orders of at most the quantity in the message',
  rate_failed: 'retry',
  rate_limited: 'wait `Retry-After` seconds',
  rate_missing: 'use a wallet in a currency that has a rate',
  redeliver_not_found: 'check the id: events are kept for 30 days',
  refresh_token_missing: 'send the refresh token',
  refresh_token_wrong: 'log in again: the token has expired, or it was used twice, which revokes its login',
  rotate_not_found: 'check the id: it may belong to another client',
  source_not_found: 'use the name of an existing world or snapshot',
  token_wrong: 'send the value of `--sandbox-token` in `X-Sandbox-Token`',
  too_large: 'copy or restore the snapshot where it is; the message gives the limit for a download',
  too_long: 'take a snapshot of the world instead',
  too_many: 'delete a webhook that you no longer need',
  too_many_failures: 'wait `Retry-After` seconds, and check the password',
  transition_refused: 'check the status: this transition is not possible from it',
  unavailable: 'retry after `Retry-After` seconds: the request had no effect',
  unauthorized: 'renew the token with `POST /auth/refresh`, or log in',
  update_body_unreadable: 'send a JSON object of at most 1 MiB',
  update_not_found: 'check the id: it may belong to another client',
  update_validation: 'correct the fields in the message',
  validation: 'correct the fields in the message',
  wallet_not_found: 'use an id from `GET /api/v1/wallets`',
  world_damaged: 'put a copy of the file back, which the log names, or delete the world',
  snapshot_damaged: 'put a copy of the file back, which the log names, or delete the snapshot',
  damaged: 'put a copy of the file back, which the log names, or delete the snapshot',
  world_not_found: 'create it with `PUT /_sandbox/worlds/NAME`, or log in as `sbx_NAME`',
}

const kindOf = (name: string): string => name.split('.').at(-1) ?? name

/** Of the many names of one kind, only the kind is named. */
const NAMES_MAX = 8

/** One row for each kind of error. */
const errorTable = (errors: readonly DocumentedError[]): string => {
  const kinds = new Map<string, { status: number; names: Set<string> }>()
  for (const { name, status } of errors) {
    const key = `${kindOf(name)} ${status}`
    const known = kinds.get(key) ?? { status, names: new Set<string>() }
    kinds.set(key, { ...known, names: known.names.add(name) })
  }
  const rows = [...kinds]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, { status, names }]) => {
      const advice = ADVICE[key.split(' ')[0] ?? '']
      if (!advice)
        throw new Error(`docs/errors.md has no advice about ${[...names].join(', ')}: add it in docs/make.ts`)
      const kind = kindOf([...names][0] ?? '')
      const named = names.size > NAMES_MAX ? [`*.${kind}`] : [...names].sort()
      return [named.map((name) => `\`${name}\``).join(' '), String(status), advice]
    })
  return tableOf(['name', 'status', 'what to do'], rows)
}

const documentedErrors = async (): Promise<DocumentedError[]> => {
  const config = configOf(withServeOptions(new Command()).parse([], { from: 'user' }).opts<ServeOptions>())
  const log = createLog({ level: 'error', format: 'pretty', color: false, clock: systemClock, write: () => undefined })
  const platform = assemble(config, systemClock, log)
  const url = 'http://localhost:4747'
  const { handle } = createApp(platform.deps({ publicUrl: url, addressOf: () => '127.0.0.1', isClosing: () => false }))
  const response = await handle(new Request(`${url}/_sandbox/errors?all=true`))
  platform.close()
  return (await response.json()) as DocumentedError[]
}

export const errorsPage = async (page: string): Promise<string> => {
  const errors = await documentedErrors()
  const ofSandbox = ({ path }: DocumentedError) => path.startsWith('/_sandbox')
  const api = errors.filter((error) => !ofSandbox(error))
  const known = new Set(api.map(({ name }) => name))
  const generated = [
    errorTable(api),
    'The control API, `/_sandbox`, also has:\n',
    errorTable(errors.filter((error) => ofSandbox(error) && !known.has(error.name))),
  ].join('\n')
  return page.replace(
    /(<!-- generated .*-->\n)[\s\S]*(<!-- end -->)/,
    (_, head, end) => `${head}\n${generated}\n${end}`,
  )
}

if (import.meta.main) {
  writeFileSync(pathOf('flags.md'), await flagsPage())
  writeFileSync(pathOf('errors.md'), await errorsPage(readFileSync(pathOf('errors.md'), 'utf8')))
}
