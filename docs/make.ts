import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, type Option } from 'commander'
import { PICTURES } from '../src/app/pictures.ts'
import { commandLine } from '../src/commands/command-line.ts'
import { configOf } from '../src/config/config.ts'
import { type Mode, type OptionSpec, SERVE_OPTIONS, type ServeOptions } from '../src/config/option-table.ts'
import { withServeOptions } from '../src/config/options.ts'
import { adviceAbout, kindOf } from '../src/docs/advice.ts'
import { type ApiDocument, entriesOf, errorsIn } from '../src/docs/document.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { createLog } from '../src/observability/log.ts'
import { DOCUMENTATION } from '../src/sandbox/documentation.ts'
import { build } from '../src/start/build.ts'
import { open } from '../src/start/open.ts'
import { type ClientRow, FILE_PATH, LOST, OTHER, stillRepeated, type Table } from '../test/rigs/clients/outcomes.ts'

/** Generates flags.md and the tables of errors.md, clients.md and behind-a-proxy.md: `npm run docs`. */

const FLAGS_PATH = join(import.meta.dir, 'use/flags.md')
export const ERRORS_PATH = join(import.meta.dir, 'use/errors.md')
export const CLIENTS_PATH = join(import.meta.dir, 'use/clients.md')
export const PROXIES_PATH = join(import.meta.dir, 'operate/behind-a-proxy.md')

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

/** Flags that many commands on records share; in the words of the first command that has it, if there are none here. */
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
/** Descriptions of an operand that only repeat the record of its command. */
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
    tableOf(['flag', 'variable', 'what it does'], rows),
  ].join('\n')
}

/** The row of a command: its name, its effect, and its own flags. */
const commandRow = (command: Command, name: string, rowOptions: readonly Option[], addition = ''): string[] => {
  const { registeredArguments } = command
  const operands = registeredArguments
    .filter(({ description }) => description !== '' && !SAYS_ITS_NAME.test(description))
    .map((argument) => `\`${argument.name()}\`: ${argument.description}`)
  const flags = rowOptions.map((option) => {
    const [flag, variable, fallback, words] = flagRow(option)
    return `${flag}${variable ? ` (${variable})` : ''}: ${words}${fallback ? ` (default: ${fallback})` : ''}`
  })
  const usage = `${name} ${command.usage().replace('[options]', '')}`.replace(/ +/g, ' ').trim()
  const says = [command.description().replace(/\.$/, ''), ...operands, ...flags].join('. ')
  return [cell(`\`${usage}\``), `${cell(says).replaceAll('\\\\|', '\\|')}.${addition}`]
}

const recordsSection = (commands: readonly Command[]): string => {
  const rows = commands.flatMap((command) => {
    const path = `scrip ${command.name()}`
    const below = command.commands.length > 0 ? command.commands : [command]
    return below.map((each) => {
      const takes = each.options.filter((option) => isCommon(option) && !TAKEN_BY_ALL.includes(option.long ?? ''))
      const rowOptions = each.options.filter((option) => !isCommon(option))
      const row = commandRow(each, each === command ? path : `${path} ${each.name()}`, rowOptions)
      return [...row, takes.map(({ long }) => `\`${long}\``).join(' ')]
    })
  })
  return ['## Commands on a data folder\n', tableOf(['command', 'what it does', 'also takes'], rows)].join('\n')
}

const othersSection = (commands: readonly Command[], serving: Command): string => {
  const rows = commands.map((command) =>
    commandRow(command, `scrip ${command.name()}`, ownOptions(command, serving), takenFromServe(command, serving)),
  )
  return ['## Other commands\n', tableOf(['command', 'what it does'], rows)].join('\n')
}

/** With a table of its flags. */
const detailedSection = (command: Command, serving: Command): string =>
  [
    `## scrip ${command.name()}\n`,
    `\`scrip ${command.name()} ${command.usage()}\`\n`,
    `${command.description().replace(/\.$/, '')}.${takenFromServe(command, serving)}\n`,
    tableOf(['flag', 'variable', 'default', 'what it does'], ownOptions(command, serving).map(flagRow)),
  ].join('\n')

const ownOptions = (command: Command, serving: Command): Option[] => {
  const shown = command.options.filter(({ hidden }) => !hidden)
  if (!isServingToo(command, serving)) return shown
  const shared = new Set(serving.options.map((option) => flagRow(option).join()))
  return shown.filter((option) => !shared.has(flagRow(option).join()))
}

const takenFromServe = (command: Command, serving: Command): string => {
  if (!isServingToo(command, serving)) return ''
  const refused = command.options.filter(({ hidden }) => hidden).map(({ long }) => `\`${long}\``)
  const but = refused.length > 0 ? ` but ${refused.slice(0, -1).join(', ')} and ${refused.at(-1)}` : ''
  return ` Accepts all flags of \`scrip serve\`${but}.`
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
  const detailed = program.commands.filter((command) => command === serving || command.name() === 'run')
  const onRecords = program.commands.filter(
    (command) => isOnRecords(command) && !isServingToo(command, serving) && command !== serving,
  )
  const others = program.commands.filter((command) => ![...detailed, ...onRecords].includes(command))
  return `${[
    `# Commands and flags

This page is generated from the program; \`scrip COMMAND --help\` shows the same. A flag overrides its variable, and the variable
overrides the default. \`PORT\` and \`NO_COLOR\` are supported. Secrets can be in files: \`SCRIP_SANDBOX_TOKEN_FILE\`,
\`SCRIP_VOUCHER_KEY_FILE\`. In live mode, secrets cannot be flags.

An unknown flag or \`SCRIP_\` variable is a usage error, and so is one that belongs to the other mode. Only the sandbox has
${flagsOnlyIn('sandbox')}. Only live mode has ${flagsOnlyIn('live')}.
`,
    commonSection(program.commands),
    ...detailed.map((command) => detailedSection(command, serving)),
    othersSection(others, serving),
    recordsSection(onRecords),
  ].join('\n')}`
}

interface DocumentedError {
  name: string
  status: number
  path: string
}

/** Many names are shown as their kinds. */
const NAMES_MAX = 8

/** One row for each thing to do. */
const errorTable = (errors: readonly DocumentedError[]): string => {
  const adviceOf = (name: string): string => {
    const advice = adviceAbout(name)
    if (!advice) throw new Error(`docs/use/errors.md has no advice about ${name}: add it in src/docs/advice.ts`)
    return advice
  }
  const sorted = errors.toSorted(({ name: one }, { name: other }) => (sortKey(one) < sortKey(other) ? -1 : 1))
  const rows = [...Map.groupBy(sorted, ({ name, status }) => `${status} ${adviceOf(name)}`).values()].map((group) => {
    const names = [...new Set(group.map(({ name }) => name))]
    const kinds = [...new Set(names.map((name) => `*.${kindOf(name)}`))]
    const named = names.length > NAMES_MAX ? kinds : names
    const [{ name, status } = { name: '', status: 0 }] = group
    return [named.map((each) => `\`${each}\``).join(' '), String(status), adviceOf(name)]
  })
  return tableOf(['name', 'status', 'what to do'], rows)
}

const documentedErrors = async (): Promise<DocumentedError[]> => {
  const config = configOf(withServeOptions(new Command()).parse([], { from: 'user' }).opts<ServeOptions>())
  const log = createLog({ level: 'error', format: 'pretty', color: false, clock: systemClock, write: () => undefined })
  const opened = open(config, systemClock, log)
  const url = 'http://localhost:4747'
  const { handle } = build(opened, { publicUrl: url, addressOf: () => '127.0.0.1', isClosing: () => false })
  const response = await handle(new Request(`${url}/openapi.json`))
  opened.close()
  return entriesOf((await response.json()) as ApiDocument).flatMap(({ path, operation }) =>
    errorsIn(operation).map(({ name, status }) => ({ name, status: Number(status), path })),
  )
}

/** By kind, then by the whole name. */
const sortKey = (name: string): string => `${kindOf(name)} ${name}`

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
  return withGenerated(page, generated)
}

const withGenerated = (page: string, generated: string): string =>
  page.replace(/(<!-- generated .*-->\n)[\s\S]*(<!-- end -->)/, (_, head, end) => `${head}\n${generated}\n${end}`)

const clientTable = (rows: readonly ClientRow[], columns: Table): string =>
  tableOf(
    ['client', 'run on', ...columns.map(({ head }) => head)],
    rows.map(({ client, version, date, cases }) => [
      `${client} ${version}`,
      date,
      ...columns.map(({ text }) => text(cases)),
    ]),
  )

/** The guide with the outcomes of the last run of the rig of clients. */
export const clientsPage = (page: string): string => {
  const rows: ClientRow[] = JSON.parse(readFileSync(FILE_PATH, 'utf8'))
  const switches = rows.flatMap((row) => {
    if (!row.ends) return []
    const still = stillRepeated(row)
    return [[`${row.client} ${row.version}`, row.ends, still.length > 0 ? still.join(', ') : 'nothing']]
  })
  const generated = [
    'The response is lost after the work:\n',
    clientTable(rows, LOST),
    'A response that is cut off, an error, a redirect to another port, and a pause:\n',
    clientTable(rows, OTHER),
    'What ends it:\n',
    tableOf(['client', 'switch', 'still repeated'], switches),
  ].join('\n')
  return withGenerated(page, generated)
}

interface ProxyRuns {
  date: string
  rows: {
    proxy: string
    version: string
    lost: Record<string, string>
    restart: string
    takeovers: Record<string, string>
  }[]
}

/** The guide with what the last run of the rig of proxies saw. */
export const proxiesPage = (page: string): string => {
  const { date, rows } = JSON.parse(
    readFileSync(join(import.meta.dir, 'operate/proxies/seen.json'), 'utf8'),
  ) as ProxyRuns
  const requests = Object.keys(rows[0]?.lost ?? {})
  const takeovers = Object.keys(rows[0]?.takeovers ?? {})
  const tableWith = (columns: readonly string[], cells: (row: ProxyRuns['rows'][number]) => (string | undefined)[]) =>
    tableOf(
      ['proxy', ...columns],
      rows.map((row) => [`${row.proxy} ${row.version}`, ...cells(row).map((cell) => cell ?? '')]),
    )
  const lost = tableWith(requests, (row) => requests.map((request) => row.lost[request]))
  const away = tableWith(['restarts', ...takeovers], (row) => [
    row.restart,
    ...takeovers.map((one) => row.takeovers[one]),
  ])
  return withGenerated(page, `${lost}\n${away}\nTested on ${date}, with Debian's packages.\n`)
}

/** The pictures that are drawn from values of the program. */
export const DRAWN = { ...PICTURES, ...DOCUMENTATION.pictures }

export const picturePath = (name: string): string => join(import.meta.dir, `pictures/${name}.svg`)

if (import.meta.main) {
  for (const [name, { drawn }] of Object.entries(DRAWN)) writeFileSync(picturePath(name), drawn.text)
  writeFileSync(FLAGS_PATH, await flagsPage())
  writeFileSync(ERRORS_PATH, await errorsPage(readFileSync(ERRORS_PATH, 'utf8')))
  writeFileSync(PROXIES_PATH, proxiesPage(readFileSync(PROXIES_PATH, 'utf8')))
  writeFileSync(CLIENTS_PATH, clientsPage(readFileSync(CLIENTS_PATH, 'utf8')))
}
