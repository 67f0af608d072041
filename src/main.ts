import './start/production.ts'
import { setPriority } from 'node:os'
import { CommanderError } from 'commander'
import { commandLine, isForOperators } from './commands/command-line.ts'
import { EXIT, errorText, ProgramError } from './commands/exit.ts'
import { ExposedSecret, UsageError } from './config/environment.ts'
import { givenEnvironment } from './start/production.ts'

/** Runs one command, and says how it ended. */

const NICE = 10

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
  const words = process.argv.slice(2)
  // A server on the same machine comes first, however much such a command has to do.
  if (isForOperators(words)) setPriority(NICE)
  const program = await commandLine(givenEnvironment, words)
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeOf(error)
}
