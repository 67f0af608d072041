import './production.ts'
import { Command, CommanderError } from 'commander'
import { VERSION } from './assemble.ts'
import { EXIT, ProgramError } from './commands/exit.ts'
import { printOpenApi } from './commands/openapi.ts'
import { serve } from './commands/serve.ts'
import { configOf, type ServeOptions, UsageError, withServeOptions } from './config.ts'

/** The command line: one line for each command. `scrip` alone is `scrip serve`. */
const program = new Command('scrip')
  .description('A B2B rewards platform in one executable.')
  .version(VERSION, '--version', 'print the version')
  .enablePositionalOptions()
  .showHelpAfterError('Try scrip --help.')
  .exitOverride()

withServeOptions(
  program.command('serve', { isDefault: true }).description('serve the API (the default command)'),
).action((options: ServeOptions) => serve(configOf(options)))
withServeOptions(program.command('openapi').description('print the OpenAPI document')).action((options: ServeOptions) =>
  printOpenApi(configOf(options)),
)
program
  .command('version')
  .description('print the version')
  .action(() => void process.stdout.write(`${VERSION}\n`))

const exitCodeOf = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`scrip: ${message}\n`)
  if (error instanceof UsageError) return EXIT.usage
  return error instanceof ProgramError ? error.exitCode : EXIT.failed
}

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeOf(error)
}
