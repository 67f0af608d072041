import './start/production.ts'
import { CommanderError } from 'commander'
import { argumentsOf, commandLine } from './commands/command-line.ts'
import { ExposedSecret, UsageError } from './config/environment.ts'
import { EXIT, errorText, ProgramError } from './kernel/exit.ts'
import { givenEnvironment } from './start/production.ts'

/** Runs one command, and says how it ended. */

const exitCodeOf = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(errorText(message))
  if (error instanceof UsageError) return EXIT.usage
  if (error instanceof ExposedSecret) return EXIT.data
  return error instanceof ProgramError ? error.exitCode : EXIT.failed
}

// Whoever reads, such as `head`, may stop when it has enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

try {
  const args = argumentsOf(process.argv.slice(2))
  const program = await commandLine(givenEnvironment, args)
  await program.parseAsync(args, { from: 'user' })
} catch (error) {
  process.exitCode = exitCodeOf(error)
}
