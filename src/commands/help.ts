import type { Command } from 'commander'
import { UsageError } from '../config/environment.ts'
import { TOPICS } from './topics.ts'

/** `--help` of each command, and `scrip help` (decision 0022). */

/** Wider lines are hard to read, and break where help is pasted. */
const WIDTH_MAX = 80
const WORDS_WIDTH_MIN = 24
const BOLD = '\x1b[1m'
const RESET = '\x1b[0m'

export const inOurManner = (program: Command): Command =>
  program
    .enablePositionalOptions()
    .exitOverride()
    .helpCommand(false)
    .configureOutput({
      getOutHelpWidth: () => widthOf(process.stdout),
      getErrHelpWidth: () => widthOf(process.stderr),
    })
    .configureHelp({ minWidthToWrap: WORDS_WIDTH_MIN, styleTitle: (title) => BOLD + title + RESET })

const widthOf = ({ columns }: { columns?: number }): number => Math.min(columns || WIDTH_MAX, WIDTH_MAX)

export const helpCommand = (program: Command): void => {
  program
    .command('help')
    .description(`explain a command, or a topic: ${Object.keys(TOPICS).join(', ')}`)
    .argument('[words...]', 'a command or a topic')
    .action((words: string[]) => {
      const topic = words.length === 1 ? TOPICS[words[0] ?? ''] : undefined
      if (topic === undefined) commandNamed(program, words).outputHelp()
      else process.stdout.write(topic)
    })
}

/** @throws UsageError */
const commandNamed = (program: Command, words: readonly string[]): Command =>
  words.reduce((command, word) => {
    const found = command.commands.find((candidate) => candidate.name() === word)
    if (!found) throw new UsageError(`there is no help about ${words.join(' ')}: see scrip help`)
    return found
  }, program)
