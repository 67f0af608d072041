import type { Command } from 'commander'
import examples from './examples.txt' with { type: 'text' }

/** The lines below the name of each command, as its help shows them. */
const EXAMPLES = new Map(
  examples.split('\n\n').map((block) => {
    const [path = '', ...lines] = block.trimEnd().split('\n')
    return [path, lines.join('\n')]
  }),
)

export const withExamples = (command: Command, above = ''): void => {
  const path = above + command.name()
  command.addHelpText('after', `\nExamples:\n${EXAMPLES.get(path) ?? ''}`.trimEnd())
  command.showHelpAfterError(`Try ${path} --help.`)
  for (const below of command.commands) withExamples(below, `${path} `)
}
