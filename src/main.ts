import './start/production.ts'
import { CommanderError } from 'commander'
import { argumentsOf, commandLine } from './commands/command-line.ts'
import { print } from './commands/terminal/output.ts'
import { EXIT, errorText, ProgramError } from './kernel/exit.ts'
import { givenEnvironment } from './start/production.ts'

/** Runs one command, and says how it ended. */

const exitCodeOf = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(errorText(message))
  return error instanceof ProgramError ? error.exitCode : EXIT.failed
}

// A write itself says whether it failed. Without a listener, the runtime would end the program and show its source.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

const runCommand = async (args: readonly string[]): Promise<void> => {
  let help = ''
  const program = await commandLine(givenEnvironment, args, (text) => {
    help += text
  })
  try {
    await program.parseAsync(args, { from: 'user' })
  } finally {
    if (help !== '') await print(help)
  }
}

runCommand(argumentsOf(process.argv.slice(2))).catch((error: unknown) => {
  process.exitCode = exitCodeOf(error)
})
