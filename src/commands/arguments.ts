import { Argument, type Command, Option } from 'commander'
import { choiceOf, type Field, readerOf, wholeNumber } from '../acts/fields.ts'

/** Arguments and options of commands. */

/** Adds an option if the flags begin with a dash, otherwise an argument. */
export const addField = (command: Command, one: Field): Command =>
  one.flags.startsWith('-')
    ? command.addOption(completed(new Option(one.flags, aboutOf(one)), one))
    : command.addArgument(completed(new Argument(one.flags, aboutOf(one)), one))

const aboutOf = ({ about, isFile }: Field): string | undefined => (isFile ? `${about}; - reads standard input` : about)

const completed = <Parameter extends Argument | Option>(parameter: Parameter, one: Omit<Field, 'flags'>): Parameter => {
  const { choices, fallback } = one
  const read = readerOf(one)
  if (choices) parameter.choices(choices)
  if (read) parameter.argParser(read)
  if (fallback !== undefined) parameter.default(fallback)
  return parameter
}

/** An argument that is one of several words, in upper or lower case: help names them, and completion offers them. */
export const choiceArgument = (flags: string, about: string, choices: readonly string[]): Argument =>
  completed(new Argument(flags, about), choiceOf(choices))

/** An option of the same kind. */
export const choiceOption = (flags: string, about: string, choices: readonly string[]): Option =>
  completed(new Option(flags, about), choiceOf(choices))

/** A terminal shows a record on one line. */
export const wideOption = (): Option => new Option('--wide', 'show every column on a terminal, uncut')

/** The short forms of a list (contract C17). */
export const withListOptions = (command: Command): Command =>
  command
    .addOption(new Option('--csv', 'print CSV, for spreadsheets').conflicts('json'))
    .option('--limit <number>', 'show at most this many', wholeNumber)
    .addOption(wideOption())
