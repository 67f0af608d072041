import { Command } from 'commander'
import {
  compareConfigOf,
  configOf,
  documentConfigOf,
  mcpConfigOf,
  openConfigOf,
  runConfigOf,
} from '../config/config.ts'
import { UsageError } from '../config/environment.ts'
import type {
  CompareOptions,
  HealthOptions,
  ListenOptions,
  McpOptions,
  OpenOptions,
  RunOptions,
  ServeOptions,
  TriggerOptions,
  WaitOptions,
} from '../config/option-table.ts'
import {
  withCompareOptions,
  withHealthOptions,
  withListenOptions,
  withMcpOptions,
  withOpenOptions,
  withRunOptions,
  withServeOptions,
  withTriggerOptions,
  withWaitOptions,
} from '../config/options.ts'
import { didYouMean } from '../config/suggestion.ts'
import { parseUrl } from '../config/values.ts'
import { EVENT_TYPES } from '../events/types.ts'
import { VERSION } from '../start/version.ts'
import { choiceArgument } from './arguments.ts'
import { withExamples } from './help/examples.ts'
import { helpCommand, inOurManner, SERVE_GROUP } from './help/help.ts'

type Environment = Readonly<Record<string, string | undefined>>
type AddCommand = (program: Command, givenEnvironment: Environment) => unknown

const serveCommand: AddCommand = (program) =>
  withServeOptions(program.command('serve', { isDefault: true }))
    .description('serve the API (the default command)')
    .allowExcessArguments()
    .action(async (options: ServeOptions, { args: [word] }: Command) => {
      if (word !== undefined) throw unknownCommand(word)
      const { serve } = await import('./serve/serve.ts')
      return serve(configOf(options))
    })

const unknownCommand = (word: string): UsageError =>
  new UsageError(`unknown command '${word}'${didYouMean(word, NAMES)}\nTry scrip --help.`)

const runCommand: AddCommand = (program, givenEnvironment) =>
  withRunOptions(program.command('run'))
    .description('serve a sandbox while a command runs, and exit with its code')
    .argument('<command...>', 'the command and its arguments; put -- before it')
    .passThroughOptions()
    .action(async (command: string[], options: RunOptions) => {
      const config = runConfigOf(options)
      if (config.explore) {
        const { explore } = await import('./sandbox/run/explore.ts')
        return explore({ ...config, explore: config.explore }, command, givenEnvironment)
      }
      const { run } = await import('./sandbox/run/run.ts')
      return run(config, command, givenEnvironment)
    })

const openCommand: AddCommand = (program) =>
  withOpenOptions(program.command('open'))
    .description('serve the worlds of a run again, as they ended')
    .argument('<file>', 'the file of scrip run --capsule, which is not changed')
    .action(async (file: string, options: OpenOptions) => {
      const { serve } = await import('./serve/serve.ts')
      return serve(openConfigOf(file, options))
    })

const compareCommand: AddCommand = (program) =>
  withCompareOptions(program.command('compare'))
    .summary('compare the responses of a host that speaks this API')
    .description('compare the responses of a host that speaks this API; exit with 1 if they differ')
    .argument('<url>', 'the base URL of the host', parseUrl)
    .action(async (url: string, options: CompareOptions) => {
      const { compare } = await import('./sandbox/compare/compare.ts')
      return compare(compareConfigOf(url, options))
    })

const healthCommand: AddCommand = (program) =>
  withHealthOptions(program.command('health'))
    .description('exit with 0 if a server is ready, else with 1')
    .action(async (options: HealthOptions) => (await import('./serve/health.ts')).health(options))

const waitCommand: AddCommand = (program) =>
  withWaitOptions(program.command('wait'))
    .description('wait until a server is ready; exit with 5 on a timeout')
    .action(async (options: WaitOptions) => (await import('./serve/health.ts')).wait(options))

const listenCommand: AddCommand = (program) =>
  withListenOptions(program.command('listen'))
    .description('print the events of a sandbox as they happen, and pass them on')
    .action(async (options: ListenOptions) => (await import('./sandbox/listen.ts')).listen(options))

const triggerCommand: AddCommand = (program) =>
  withTriggerOptions(program.command('trigger'))
    .description('make an event in a sandbox that changes no record')
    .addArgument(choiceArgument('<type>', 'the type of the event', EVENT_TYPES))
    .action(async (type: string, options: TriggerOptions) =>
      (await import('./sandbox/listen.ts')).trigger(type, options),
    )

const mcpCommand: AddCommand = (program) =>
  withMcpOptions(program.command('mcp'))
    .description('let a coding agent work in a sandbox, by the Model Context Protocol')
    .action(async (options: McpOptions) => (await import('./sandbox/mcp/mcp.ts')).mcp(mcpConfigOf(options)))

const openApiCommand: AddCommand = (program) =>
  withServeOptions(program.command('openapi'))
    .description('print the OpenAPI document')
    .action(async (options: ServeOptions) =>
      (await import('./serve/openapi.ts')).printOpenApi(documentConfigOf(options)),
    )

const versionCommand: AddCommand = (program) =>
  program
    .command('version')
    .description('print the version')
    .action(() => void process.stdout.write(`${VERSION}\n`))

/** A command with commands below it. */
const group =
  (name: string, description: string, add: () => Promise<(command: Command) => void>): AddCommand =>
  async (program) =>
    (await add())(program.command(name).description(description))

const OPERATORS_GROUP = 'Run live mode:'

/** All commands, as the help lists them. Each reads its modules when it is added or run: all of them take longer than most commands. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, AddCommand>>>> = {
  [SERVE_GROUP]: {
    serve: serveCommand,
    run: runCommand,
    open: openCommand,
    compare: compareCommand,
    health: healthCommand,
    wait: waitCommand,
    listen: listenCommand,
    trigger: triggerCommand,
  },
  [OPERATORS_GROUP]: {
    client: group(
      'client',
      'manage the clients of live mode',
      async () => (await import('./records/client.ts')).clientCommands,
    ),
    wallet: group('wallet', 'manage wallets', async () => (await import('./records/wallet.ts')).walletCommands),
    catalog: group('catalog', 'manage the catalog', async () => (await import('./records/catalog.ts')).catalogCommands),
    vouchers: group(
      'vouchers',
      'manage voucher codes',
      async () => (await import('./records/vouchers.ts')).voucherCommands,
    ),
    rates: group('rates', 'manage exchange rates', async () => (await import('./records/rates.ts')).rateCommands),
    orders: group('orders', 'list and settle orders', async () => (await import('./records/orders.ts')).orderCommands),
    payouts: group(
      'payouts',
      'list and settle payouts',
      async () => (await import('./records/payouts.ts')).payoutCommands,
    ),
    beneficiary: group(
      'beneficiary',
      'find saved beneficiaries and erase people',
      async () => (await import('./records/beneficiary.ts')).beneficiaryCommands,
    ),
    transactions: async (program) => (await import('./records/transactions.ts')).transactionsCommand(program),
    statement: async (program) => (await import('./records/statement.ts')).statementCommand(program),
    reconcile: async (program) => (await import('./records/reconcile.ts')).reconcileCommand(program),
    audit: group('audit', 'see what operators did', async () => (await import('./records/audit.ts')).auditCommands),
    webhooks: group(
      'webhooks',
      'list webhooks and deliver events again',
      async () => (await import('./records/webhooks.ts')).webhookCommands,
    ),
    backup: async (program) => (await import('./data/backup.ts')).backupCommand(program.command('backup')),
    restore: async (program) => (await import('./data/restore.ts')).restoreCommand(program.command('restore')),
    verify: async (program) => (await import('./data/verify.ts')).verifyCommand(program.command('verify')),
  },
  'Test:': {
    scenario: group(
      'scenario',
      'show the scenarios that a sandbox can begin with',
      async () => (await import('./sandbox/scenario.ts')).scenarioCommands,
    ),
    mcp: mcpCommand,
  },
  'Learn:': {
    help: helpCommand,
    docs: async (program) => (await import('./help/docs.ts')).docsCommand(program),
    openapi: openApiCommand,
    completion: async (program) => (await import('./help/completion.ts')).completionCommand(program),
    version: versionCommand,
  },
}
const NAMES = Object.values(COMMANDS).flatMap(Object.keys)
/** Whether some words call a command of those who run live mode. */
export const isForOperators = ([name = '']: readonly string[]): boolean =>
  Object.hasOwn(COMMANDS[OPERATORS_GROUP] ?? {}, name)

/** Commands that speak of the others. */
const ABOUT_ALL = ['help', 'docs', 'completion']
const ASKING_FOR_HELP = ['--help', '-h']

/** The command that some words call, and `serve`, which is the default; all commands if the words are about them all. */
const calledBy = (words: readonly string[]): readonly string[] => {
  const [name = 'serve'] = words
  const isAboutAll = NAMES.includes(name)
    ? ABOUT_ALL.includes(name)
    : words.some((word) => ASKING_FOR_HELP.includes(word))
  return isAboutAll ? NAMES : ['serve', name]
}

/** The commands that some words need; without words, all of them. */
export const commandLine = async (givenEnvironment: Environment, words?: readonly string[]): Promise<Command> => {
  const program = inOurManner(new Command('scrip'))
    .description('A B2B rewards platform in one executable. scrip alone is scrip serve.')
    .version(VERSION, '--version', 'print the version')
  const called = words ? calledBy(words) : NAMES
  for (const [title, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(title)
    for (const [name, add] of Object.entries(commands)) if (called.includes(name)) await add(program, givenEnvironment)
  }
  withExamples(program)
  return program
}
