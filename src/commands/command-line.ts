import { Command } from 'commander'
import { compareConfigOf, configOf, documentConfigOf, openConfigOf, runConfigOf } from '../config/config.ts'
import { UsageError } from '../config/environment.ts'
import type {
  CompareOptions,
  HealthOptions,
  ListenOptions,
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
  withOpenOptions,
  withRunOptions,
  withServeOptions,
  withTriggerOptions,
  withWaitOptions,
} from '../config/options.ts'
import { didYouMean } from '../config/suggestion.ts'
import { parseUrl } from '../config/values.ts'
import { EVENT_TYPES } from '../events/types.ts'
import { VERSION } from '../start/assemble.ts'
import { choiceArgument } from './arguments.ts'
import { auditCommands } from './audit.ts'
import { backupCommand } from './backup.ts'
import { catalogCommands } from './catalog.ts'
import { clientCommands } from './client.ts'
import { compare } from './compare/compare.ts'
import { completionCommand } from './completion.ts'
import { docsCommand } from './docs.ts'
import { withExamples } from './examples.ts'
import { health, wait } from './health.ts'
import { helpCommand, inOurManner, SERVE_GROUP } from './help.ts'
import { listen, trigger } from './listen.ts'
import { printOpenApi } from './openapi.ts'
import { orderCommands } from './orders.ts'
import { payoutCommands } from './payouts.ts'
import { rateCommands } from './rates.ts'
import { restoreCommand } from './restore.ts'
import { explore } from './run/explore.ts'
import { run } from './run/run.ts'
import { scenarioCommands } from './scenario.ts'
import { serve } from './serve.ts'
import { statementCommand } from './statement.ts'
import { transactionsCommand } from './transactions.ts'
import { verifyCommand } from './verify.ts'
import { voucherCommands } from './vouchers.ts'
import { walletCommands } from './wallet.ts'
import { webhookCommands } from './webhooks.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** `scrip` alone is `scrip serve`, which does not wait until the other commands are built. */
export const commandLine = (givenEnvironment: Environment, words?: readonly string[]): Command => {
  const program = inOurManner(new Command('scrip'))
    .description('A B2B rewards platform in one executable. scrip alone is scrip serve.')
    .version(VERSION, '--version', 'print the version')

  program.commandsGroup(SERVE_GROUP)
  const serving = program.command('serve', { isDefault: true }).description('serve the API (the default command)')
  withServeOptions(serving)
    .allowExcessArguments()
    .action((options: ServeOptions, { args: [word] }: Command) => {
      if (word !== undefined) throw unknownCommand(program, word)
      return serve(configOf(options))
    })
  if (words?.length !== 0 && words?.[0] !== 'serve') addOthers(program, givenEnvironment)
  withExamples(program)
  return program
}

const unknownCommand = (program: Command, word: string): UsageError => {
  const known = program.commands.map((command) => command.name())
  return new UsageError(`there is no command ${word}${didYouMean(word, known)}\nTry scrip --help.`)
}

const addOthers = (program: Command, givenEnvironment: Environment): void => {
  withRunOptions(program.command('run'))
    .description('serve a sandbox while a command runs, and exit with its code')
    .argument('<command...>', 'the command and its arguments; put -- before it')
    .passThroughOptions()
    .action((command: string[], options: RunOptions) => {
      const config = runConfigOf(options)
      return config.explore
        ? explore({ ...config, explore: config.explore }, command, givenEnvironment)
        : run(config, command, givenEnvironment)
    })
  withOpenOptions(program.command('open'))
    .description('serve the worlds of a run again, as they ended')
    .argument('<file>', 'the file of scrip run --capsule, which is not changed')
    .action((file: string, options: OpenOptions) => serve(openConfigOf(file, options)))
  withCompareOptions(program.command('compare'))
    .summary('compare the responses of a host that speaks this API')
    .description('compare the responses of a host that speaks this API; exit with 1 if they differ')
    .argument('<url>', 'the base URL of the host', parseUrl)
    .action((url: string, options: CompareOptions) => compare(compareConfigOf(url, options)))
  withHealthOptions(program.command('health'))
    .description('exit with 0 if a server answers requests, else with 1')
    .action((options: HealthOptions) => health(options))
  withWaitOptions(program.command('wait'))
    .description('wait until a server answers requests; exit with 5 on a timeout')
    .action((options: WaitOptions) => wait(options))

  withListenOptions(program.command('listen'))
    .description('print the events of a sandbox as they happen, and pass them on')
    .action((options: ListenOptions) => listen(options))
  withTriggerOptions(program.command('trigger'))
    .description('make an event in a sandbox that changes no record')
    .addArgument(choiceArgument('<type>', 'the type of the event', EVENT_TYPES))
    .action((type: string, options: TriggerOptions) => trigger(type, options))

  program.commandsGroup('Run live mode:')
  clientCommands(program.command('client').description('manage the clients of live mode'))
  walletCommands(program.command('wallet').description('manage wallets'))
  catalogCommands(program.command('catalog').description('manage the catalog'))
  voucherCommands(program.command('vouchers').description('manage voucher codes'))
  rateCommands(program.command('rates').description('manage exchange rates'))
  orderCommands(program.command('orders').description('list and settle orders'))
  payoutCommands(program.command('payouts').description('list and settle payouts'))
  transactionsCommand(program)
  statementCommand(program)
  auditCommands(program.command('audit').description('see what operators did'))
  webhookCommands(program.command('webhooks').description('list webhooks and deliver events again'))
  backupCommand(program.command('backup'))
  restoreCommand(program.command('restore'))
  verifyCommand(program.command('verify'))

  program.commandsGroup('Test:')
  scenarioCommands(program.command('scenario').description('show the scenarios that a sandbox can begin with'))

  program.commandsGroup('Learn:')
  helpCommand(program)
  docsCommand(program)
  withServeOptions(program.command('openapi'))
    .description('print the OpenAPI document')
    .action((options: ServeOptions) => printOpenApi(documentConfigOf(options)))
  completionCommand(program)
  program
    .command('version')
    .description('print the version')
    .action(() => void process.stdout.write(`${VERSION}\n`))
}
