import { commandLine } from '../../src/commands/command-line.ts'

/** Runs command lines of the program one after the other in this process, also after failures. */

for (const args of JSON.parse(process.argv[2] ?? '[]') as string[][]) {
  const program = await commandLine({}, args)
  await program.parseAsync(args, { from: 'user' }).catch(() => undefined)
}
