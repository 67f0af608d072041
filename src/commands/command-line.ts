import { Command } from 'commander'
import type { Noun } from '../acts/kind.ts'
import { compareConfigOf, configOf, documentConfigOf, mcpConfigOf, runConfigOf } from '../config/config.ts'
import { refuseRuntimeVariables } from '../config/environment.ts'
import {
  COMPARE_OPTIONS,
  type CompareOptions,
  DESK_OPTIONS,
  type DeskOptions,
  DOCUMENT_FORMATS,
  HEALTH_OPTIONS,
  type HealthOptions,
  LISTEN_OPTIONS,
  type ListenOptions,
  MCP_OPTIONS,
  type McpOptions,
  RUN_OPTIONS,
  type RunOptions,
  type ServeOptions,
  TRIGGER_OPTIONS,
  type TriggerOptions,
  WAIT_OPTIONS,
  type WaitOptions,
} from '../config/option-table.ts'
import { withOptions, withServeOptions, withServerOptions } from '../config/options.ts'
import { parseUrl } from '../config/values.ts'
import { EVENT_TYPES } from '../events/types.ts'
import { errorText } from '../kernel/exit.ts'
import { VERSION } from '../start/version.ts'
import { NOUNS } from './acts/table.ts'
import { choiceArgument, choiceOption } from './arguments.ts'
import { withExamples } from './help/examples.ts'
import type { DocumentOptions } from './serve/openapi.ts'
import { print } from './terminal/output.ts'

type Environment = Readonly<Record<string, string | undefined>>
/** Gives a command its description, options and action. */
type Define = (command: Command, program: Command, givenEnvironment: Environment) => unknown

const serve: Define = (command) =>
  withServeOptions(command)
    .description('serve the API (the default command)')
    .action(async (options: ServeOptions) => (await import('./serve/serve.ts')).serve(configOf(options)))

const run: Define = (command, _program, givenEnvironment) =>
  withServerOptions(command, RUN_OPTIONS)
    .description('serve a sandbox while a command runs, and exit with its code')
    .argument('<command...>', 'the command and its arguments; put -- before it')
    .passThroughOptions()
    .action(async (words: string[], options: RunOptions) => {
      const { explore, ...config } = runConfigOf(options)
      if (!explore) return (await import('./sandbox/run/run.ts')).run({ ...config, explore }, words, givenEnvironment)
      return (await import('./sandbox/run/explore.ts')).explore({ ...config, explore }, words, givenEnvironment)
    })

const compare: Define = (command) =>
  withOptions(command, COMPARE_OPTIONS)
    .summary('compare the responses of a host that speaks this API')
    .description('compare the responses of a host that speaks this API; exit with 1 if they differ')
    .argument('<url>', 'the base URL of the host', parseUrl)
    .action(async (url: string, options: CompareOptions) => {
      return (await import('./sandbox/compare/compare.ts')).compare(compareConfigOf(url, options))
    })

const health: Define = (command) =>
  withOptions(command, HEALTH_OPTIONS)
    .description('exit with 0 if a server is ready, else with 1')
    .action(async (options: HealthOptions) => (await import('./serve/health.ts')).health(options))

const wait: Define = (command) =>
  withOptions(command, WAIT_OPTIONS)
    .description('wait until a server is ready; exit with 5 on a timeout')
    .action(async (options: WaitOptions) => (await import('./serve/health.ts')).wait(options))

const listen: Define = (command) =>
  withOptions(command, LISTEN_OPTIONS)
    .description('print the events of a sandbox as they happen, and pass them on')
    .action(async (options: ListenOptions) => (await import('./sandbox/listen.ts')).listen(options))

const trigger: Define = (command) =>
  withOptions(command, TRIGGER_OPTIONS)
    .description('send a test event; no record changes')
    .addArgument(choiceArgument('<type>', 'the type of the event', EVENT_TYPES))
    .action(async (type: string, options: TriggerOptions) =>
      (await import('./sandbox/listen.ts')).trigger(type, options),
    )

const mcp: Define = (command) =>
  withOptions(command, MCP_OPTIONS)
    .description('let a coding agent work in a sandbox, through the Model Context Protocol')
    .action(async (options: McpOptions) => (await import('./sandbox/mcp/mcp.ts')).mcp(mcpConfigOf(options)))

const openapi: Define = (command) =>
  withServeOptions(command)
    .description('print the OpenAPI document, or a collection of requests made from it')
    .addOption(choiceOption('--as <format>', 'a collection for another tool', DOCUMENT_FORMATS).default('openapi'))
    .option('--output <folder>', 'folder to write the collection for Bruno to')
    .action(async ({ as, output, ...options }: ServeOptions & DocumentOptions) =>
      (await import('./serve/openapi.ts')).printOpenApi(documentConfigOf(options), { as, ...(output && { output }) }),
    )

const desk: Define = (command) =>
  withOptions(command, DESK_OPTIONS)
    .hook('preAction', refuseRuntimeVariables)
    .description('serve a page for the operator of a data folder, on this machine only')
    .action(async (options: DeskOptions) => (await import('./desk/desk.ts')).desk(options))

const version: Define = (command) =>
  command.description('print the version').action(async () => void (await print(`${VERSION}\n`)))

/** A command with commands below it. */
const group =
  (description: string, find: () => Promise<(command: Command) => unknown>): Define =>
  async (command) =>
    (await find())(command.description(description))

const noun = (description: string, find: () => Promise<Noun>): Define =>
  group(description, async () => (await import('./records/records.ts')).commandsOf(await find()))

/**
 * All commands, as the help lists them. Each loads its modules when it is added or run, because loading all of them
 * takes longer than most commands.
 */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, Define>>>> = {
  'Serve:': {
    serve,
    health,
    wait,
  },
  'Run live mode:': {
    desk,
    client: noun('manage the clients of live mode', NOUNS.client),
    wallet: noun('manage wallets', NOUNS.wallet),
    catalog: group('manage the catalog', async () => (await import('./records/catalog.ts')).catalogCommands),
    vouchers: noun('manage voucher codes', NOUNS.vouchers),
    rates: noun('manage exchange rates', NOUNS.rates),
    orders: noun('list and settle orders', NOUNS.orders),
    payouts: noun('list and settle payouts', NOUNS.payouts),
    beneficiary: noun('find saved beneficiaries and erase people', NOUNS.beneficiary),
    transactions: async (command) => {
      const { transactionActs, transactionList } = await import('../acts/transactions.ts')
      const { commandsOf, listCommand } = await import('./records/records.ts')
      commandsOf(transactionActs)(listCommand(command, transactionList))
    },
    statement: async (command) => (await import('./records/statement.ts')).statementCommand(command),
    ledger: async (command) => (await import('./records/books.ts')).booksCommand(command),
    reconcile: async (command) => (await import('./records/reconcile.ts')).reconcileCommand(command),
    audit: noun('see what operators did', NOUNS.audit),
    webhooks: noun('list webhooks and deliver events again', NOUNS.webhooks),
    postgres: group(
      'set up and check the installation in PostgreSQL',
      async () => (await import('./records/postgres.ts')).postgresCommands,
    ),
    backup: async (command) => (await import('./data/backup.ts')).backupCommand(command),
    restore: async (command) => (await import('./data/restore.ts')).restoreCommand(command),
    verify: async (command) => (await import('./data/verify.ts')).verifyCommand(command),
  },
  'Test:': {
    run,
    listen,
    trigger,
    compare,
    mcp,
    requests: group(
      'read the requests that a sandbox has received',
      async () => (await import('./sandbox/requests.ts')).requestsCommands,
    ),
  },
  'Learn:': {
    docs: async (command, program) => (await import('./help/docs.ts')).docsCommand(command, program),
    openapi,
    completion: async (command, program) => (await import('./help/completion.ts')).completionCommand(command, program),
    version,
  },
}
const NAMES = Object.values(COMMANDS).flatMap(Object.keys)

/** Commands that describe the others. */
const ABOUT_ALL = ['docs', 'completion']
const FLAGS_OF_PROGRAM = ['--help', '-h', '--version']

/** The columns of a description in help: a narrower one would not wrap. */
const WORDS_WIDTH_MIN = 24

/** Adds the default command: `scrip` alone, and with flags, is `scrip serve`. A noun in the plural takes the singular too. */
export const argumentsOf = (words: readonly string[]): readonly string[] => {
  const [first = '-', ...others] = words
  if (first.startsWith('-') && !FLAGS_OF_PROGRAM.includes(first)) return ['serve', ...words]
  return NAMES.includes(first) || !NAMES.includes(`${first}s`) ? words : [`${first}s`, ...others]
}

/** The commands that the arguments need; without arguments, all of them. */
export const commandLine = async (
  givenEnvironment: Environment,
  args: readonly string[] = [],
  writeHelp?: (text: string) => void,
): Promise<Command> => {
  const program = new Command('scrip')
    .description('A B2B rewards platform in one executable. scrip alone is scrip serve.')
    .version(VERSION, '--version', 'print the version')
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ minWidthToWrap: WORDS_WIDTH_MIN })
    .configureOutput({
      outputError: (text, write) => write(errorText(inOurStyle(text.trimEnd()))),
      ...(writeHelp && { writeOut: writeHelp }),
    })
  const [called = ''] = args
  const isOne = NAMES.includes(called) && !ABOUT_ALL.includes(called)
  for (const [title, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(title)
    for (const [name, define] of Object.entries(commands))
      if (!isOne || name === called) await define(program.command(name), program, givenEnvironment)
  }
  withExamples(program)
  return program
}

/** The library's messages, `error: WHAT. HINT`, in the format of our errors (decision 60). */
const inOurStyle = (text: string): string =>
  text
    .replace(/^error: (?:command-argument )?/, '')
    .replace(/ is invalid( for argument '.*')?\. /, ' is invalid$1\n')
    .replace(/\n\((Did you mean .*\?)\)/, '\n$1')
