import type { Command } from 'commander'
import examples from './examples.txt' with { type: 'text' }

const LINES = examples.trimEnd().split('\n')
/** The most examples of a command with subcommands. */
const SHOWN_MAX = 2

/** The lines that call a command or its subcommands. */
const linesOf = ({ commands }: Command, path: string): readonly string[] => {
  const calls = new RegExp(`^(?:\\w+=\\w+ |source <\\()?${path}(?: |$)`)
  const lines = LINES.filter((line) => calls.test(line))
  return commands.length > 0 ? lines.slice(0, SHOWN_MAX) : lines
}

export const withExamples = (command: Command, above = ''): void => {
  const path = above + command.name()
  command.addHelpText('after', ['\nExamples:', ...linesOf(command, path)].join('\n  '))
  command.showHelpAfterError(`Try ${path} --help.`)
  for (const below of command.commands) withExamples(below, `${path} `)
}
