import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, type Option } from 'commander'
import { createApp } from '../src/app.ts'
import { commandLine } from '../src/commands/command-line.ts'
import { configOf } from '../src/config/config.ts'
import { type Mode, type OptionSpec, SERVE_OPTIONS, type ServeOptions } from '../src/config/option-table.ts'
import { withServeOptions } from '../src/config/options.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { createLog } from '../src/observability/log.ts'
import { assemble } from '../src/start/assemble.ts'

/** Writes the pages that follow from the program, flags.md and the tables of errors.md: `npm run docs`. */

export const pathOf = (page: string): string => join(import.meta.dir, page)

const cell = (text: string): string => text.replace(/\|/g, '\\|')
/** A table with columns that align, as the formatter wants them. */
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

/** A flag with its variable, its default and what it is for. */
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

const sectionOf = (command: Command, path: string, serving: Command): string[] => {
  const usage = `${path} ${command.usage()}`
  const { registeredArguments, commands } = command
  const shared = new Set(command === serving ? [] : serving.options.map((option) => flagRow(option).join()))
  const isServing =
    command !== serving && command.options.filter((option) => shared.has(flagRow(option).join())).length > 2
  const options = isServing ? command.options.filter((option) => !shared.has(flagRow(option).join())) : command.options
  const named = registeredArguments.filter(({ description }) => description !== '')
  const own = [
    `## ${path}\n`,
    `\`${usage}\`\n`,
    `${command.description().replace(/\.$/, '')}.${isServing ? ` Takes every flag of \`scrip serve\`${options.length > 0 ? ', and:' : '.'}` : ''}\n`,
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
  return [own.join('\n'), ...commands.flatMap((below) => sectionOf(below, `${path} ${below.name()}`, serving))]
}

/** The flags that the other mode refuses, as a list in a sentence. */
const flagsOnlyIn = (mode: Mode): string => {
  const flags = Object.entries<OptionSpec>(SERVE_OPTIONS)
    .filter(([, { onlyIn }]) => onlyIn === mode)
    .map(([name]) => `\`--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}\``)
  return `${flags.slice(0, -1).join(', ')} and ${flags.at(-1)}`
}

/** `docs/flags.md`: every command and every flag. */
export const flagsPage = (): string => {
  const program = commandLine({})
  const serving = program.commands.find((command) => command.name() === 'serve') ?? program
  return `${[
    `# Commands and flags

Generated from the program; \`scrip COMMAND --help\` shows the same. A flag takes precedence over its variable, and the variable
over the default. \`PORT\` and \`NO_COLOR\` are honoured. Secrets can be read from files: \`SCRIP_SANDBOX_TOKEN_FILE\`,
\`SCRIP_VOUCHER_KEY_FILE\`. In live mode they are not taken from the command line.

An unknown flag or an unknown \`SCRIP_\` variable is a usage error, and so is one with no meaning in the chosen mode. For the
sandbox only are ${flagsOnlyIn('sandbox')}; for live mode only are ${flagsOnlyIn('live')}.
`,
    ...sectionOf(program, 'scrip', serving),
  ].join('\n')}`
}

interface DocumentedError {
  name: string
  status: number
  path: string
}

/** What to do about an error, by the last part of its name. */
const ADVICE: Readonly<Record<string, string>> = {
  amount_too_large: 'buy or pay less at once: the sum leaves the range in which amounts are exact',
  amount_too_small: 'buy or pay more: the sum comes to nothing in the currency of the wallet',
  beneficiary_not_found: 'take the id from `GET /api/v1/beneficiaries`, or send the beneficiary along',
  body_unreadable: 'send a JSON object, of at most 1 MiB',
  cancel_not_found: 'look it up with `GET`: it may be another client’s',
  credentials_missing: 'send username and password, both not empty',
  credentials_wrong: 'check both; a disabled client is answered alike',
  default_kept: 'reset the default world instead',
  delete_not_found: 'nothing is left to do: it is gone, or was never yours',
  denomination_not_offered: 'take one of the product’s `available_denominations`',
  duplicate_reference: 'it was sent before: look that one up; for a new one take a new reference',
  email_invalid: 'correct the e-mail address',
  email_missing: 'send the e-mail address',
  exhausted: 'drop what is not needed any more',
  feature_disabled: 'have the vouchers feature enabled for the client',
  foreign: 'call it from this machine, by its own address, and not from another site',
  idempotency_key_malformed: 'send 8 to 256 printable characters',
  idempotency_key_reused: 'take a new key for a new request',
  insufficient_balance: 'fund the wallet, or pay from another one',
  insufficient_stock: 'ask `availability` first; try again later, or buy fewer',
  internal: 'try again; report it with its `X-Request-Id`',
  invalid_id: 'send a positive whole number in plain digits',
  list_validation: 'correct the query parameters that are named',
  not_cancellable: 'too late: look at the status',
  not_found: 'check the id: it may be another client’s, or inactive',
  product_not_found: 'check the id: it may be inactive',
  quantity_exceeded: 'buy in several orders, of at most the quantity that is named',
  rate_failed: 'try again',
  rate_limited: 'wait `Retry-After` seconds',
  rate_missing: 'pay from a wallet in a currency that has a rate',
  refresh_token_missing: 'send the refresh token',
  refresh_token_wrong: 'log in again: it has expired, or was used before, which ends its whole login',
  source_not_found: 'name a world or a snapshot that there is',
  token_wrong: 'send `X-Sandbox-Token`, as `--sandbox-token` says',
  too_large: 'keep or copy a smaller world: this one is larger than the message says',
  too_many_failures: 'wait `Retry-After` seconds, and check the password',
  transition_refused: 'look at the status: this step does not follow it',
  unavailable: 'wait `Retry-After` seconds: nothing was done',
  unauthorized: 'renew the token with `POST /auth/refresh`, or log in',
  validation: 'correct the fields that are named',
  wallet_not_found: 'take the id from `GET /api/v1/wallets`',
  world_not_found: 'make it with `PUT /_sandbox/worlds/NAME`, or log in as `sbx_NAME`',
}

const kindOf = (name: string): string => name.split('.').at(-1) ?? name

/** The table of some errors: a row for each kind, so that what is to be done stands there once. */
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
      return [
        [...names]
          .sort()
          .map((name) => `\`${name}\``)
          .join(' '),
        String(status),
        advice,
      ]
    })
  return tableOf(['name', 'status', 'what to do'], rows)
}

/** What `GET /_sandbox/errors` answers. */
const documentedErrors = async (): Promise<DocumentedError[]> => {
  const config = configOf(withServeOptions(new Command()).parse([], { from: 'user' }).opts<ServeOptions>())
  const log = createLog({ level: 'error', format: 'pretty', color: false, clock: systemClock, write: () => undefined })
  const platform = assemble(config, systemClock, log)
  const url = 'http://localhost:4747'
  const { handle } = createApp(platform.deps({ publicUrl: url, addressOf: () => '127.0.0.1', isClosing: () => false }))
  const response = await handle(new Request(`${url}/_sandbox/errors`))
  platform.close()
  return (await response.json()) as DocumentedError[]
}

/** `docs/errors.md` with its tables as the server documents its errors. */
export const errorsPage = async (page: string): Promise<string> => {
  const errors = await documentedErrors()
  const ofSandbox = ({ path }: DocumentedError) => path.startsWith('/_sandbox')
  const api = errors.filter((error) => !ofSandbox(error))
  const known = new Set(api.map(({ name }) => name))
  const generated = [
    errorTable(api),
    'Of the control surface, `/_sandbox`, besides:\n',
    errorTable(errors.filter((error) => ofSandbox(error) && !known.has(error.name))),
  ].join('\n')
  return page.replace(
    /(<!-- generated .*-->\n)[\s\S]*(<!-- end -->)/,
    (_, head, end) => `${head}\n${generated}\n${end}`,
  )
}

if (import.meta.main) {
  writeFileSync(pathOf('flags.md'), flagsPage())
  writeFileSync(pathOf('errors.md'), await errorsPage(readFileSync(pathOf('errors.md'), 'utf8')))
}
