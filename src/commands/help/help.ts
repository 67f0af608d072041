import { type Command, Help } from 'commander'
import { UsageError } from '../../config/environment.ts'
import { didYouMean } from '../../config/suggestion.ts'
import { errorText } from '../exit.ts'
import { TOPICS } from './topics.ts'

/** `--help` of each command, `scrip help`, and how usage errors read (decisions 0022, 0082). */

/** Wider lines are hard to read, and break where help is pasted. */
const WIDTH_MAX = 80
const WORDS_WIDTH_MIN = 24
const BOLD = '\x1b[1m'
const RESET = '\x1b[0m'
/** The commands that the overview explains with a line each. */
export const SERVE_GROUP = 'Serve:'
const GROUP_WIDTH = 'Run live mode:'.length + 2

export const inOurManner = (program: Command): Command =>
  program
    .enablePositionalOptions()
    .exitOverride()
    .helpCommand(false)
    .usage('[command] [flags]')
    .configureOutput({
      getOutHelpWidth: () => widthOf(process.stdout),
      getErrHelpWidth: () => widthOf(process.stderr),
      outputError: (text, write) => write(errorText(inOurStyle(text.trimEnd()))),
    })
    .configureHelp({
      minWidthToWrap: WORDS_WIDTH_MIN,
      styleTitle: (title) => BOLD + title + RESET,
      formatHelp: (command, helper) => {
        if (!command.parent) return overview(command, helper)
        if (command.commands.length > 0) return groupHelp(command, helper)
        return new Help().formatHelp.call(helper, command, helper)
      },
    })

const widthOf = ({ columns }: { columns?: number }): number => Math.min(columns || WIDTH_MAX, WIDTH_MAX)

/** The library's messages, `error: WHAT. HINT` or with `(Did you mean --port?)` below, in the format of our errors. */
const inOurStyle = (text: string): string =>
  text
    .replace(/^error: /, '')
    .replace(/^command-argument /, '')
    .replace(/ is invalid( for argument '.*')?\. /, ' is invalid$1\n')
    .replace(/\n\((Did you mean .*\?)\)/, '\n$1')

/** The program's own help fits on one screen: it shows most commands by name alone. */
const overview = (program: Command, helper: Help): string => {
  const groups = helper.groupItems(
    [...program.commands],
    helper.visibleCommands(program),
    (command) => command.helpGroup() || SERVE_GROUP,
  )
  const serving = groups.get(SERVE_GROUP) ?? []
  const names = [...groups].filter(([title]) => title !== SERVE_GROUP)
  const width = Math.max(...serving.map((command) => command.name().length))
  return [
    `${helper.styleTitle('Usage:')} ${helper.commandUsage(program)}`,
    '',
    program.description(),
    'scrip help NAME explains a command or a topic; scrip serve --help, the flags.',
    '',
    helper.styleTitle(SERVE_GROUP),
    ...serving.map((command) =>
      helper.formatItem(command.name(), width, command.summary() || command.description(), helper),
    ),
    '',
    ...names.map(([title, commands]) =>
      groupLine(
        title,
        commands.map((command) => command.name()),
        helper,
      ),
    ),
    groupLine('Topics:', Object.keys(TOPICS), helper),
    '',
  ].join('\n')
}

/** A group in the style of the program's own help: each command with its arguments and one line. */
const groupHelp = (group: Command, helper: Help): string => {
  const path = `scrip ${group.name()}`
  const items = group.commands.map((command) => ({
    term: `${command.name()} ${command.usage().replace('[options]', '')}`.trim().replace(/ +/g, ' '),
    words: command.summary() || command.description(),
  }))
  const width = Math.max(...items.map(({ term }) => term.length))
  return [
    `${helper.styleTitle('Usage:')} ${path} <command> [flags]`,
    '',
    group.description(),
    `${path} <command> --help explains a command and its flags.`,
    '',
    helper.styleTitle('Commands:'),
    ...items.map(({ term, words }) => helper.formatItem(term, width, words, helper)),
    '',
  ].join('\n')
}

const groupLine = (title: string, names: readonly string[], helper: Help): string =>
  helper.styleTitle(title) +
  ' '.repeat(GROUP_WIDTH - title.length) +
  helper
    .boxWrap(names.join(', '), (helper.helpWidth ?? WIDTH_MAX) - GROUP_WIDTH)
    .replaceAll('\n', `\n${' '.repeat(GROUP_WIDTH)}`)

export const helpCommand = (help: Command, program: Command): void => {
  help
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
    const known = command.commands.map((candidate) => candidate.name())
    const found = command.commands[known.indexOf(word)]
    if (found) return found
    const topics = command === program ? Object.keys(TOPICS) : []
    const similar = didYouMean(word, [...known, ...topics])
    throw new UsageError(`unknown topic '${words.join(' ')}'${similar}\nTry scrip help.`)
  }, program)
