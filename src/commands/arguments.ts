import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { parseId } from '../http/parameters.ts'
import { misused } from '../kernel/exit.ts'
import { toMinor } from '../kernel/money.ts'
import type { Currency } from '../reference/reference.ts'

export const wholeNumber = (text: string): number => {
  const number = parseId(text)
  if (number === undefined) throw new InvalidArgumentError('It is a positive whole number.')
  return number
}

/** One of several words, in upper or lower case. */
const oneOf =
  <Choice extends string>(choices: readonly Choice[]) =>
  (text: string): Choice => {
    const choice = choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase())
    if (!choice) throw new InvalidArgumentError(`It is one of ${choices.join(', ')}.`)
    return choice
  }

/** An argument that is one of several words, in upper or lower case: help names them, and completion offers them. */
export const choiceArgument = (flags: string, description: string, choices: readonly string[]): Argument =>
  new Argument(flags, description).choices(choices).argParser(oneOf(choices))

/** An option of the same kind. */
export const choiceOption = (flags: string, description: string, choices: readonly string[]): Option =>
  new Option(flags, description).choices(choices).argParser(oneOf(choices))

/** The short forms of a list (contract C17). */
export const withListOptions = (command: Command): Command =>
  command
    .addOption(new Option('--csv', 'print CSV, for spreadsheets').conflicts('json'))
    .option('--limit <number>', 'show at most this many', wholeNumber)

const DECIMAL = /^-?\d{1,15}(?:\.(\d+))?$/

/** An amount in major units, as minor units of its currency. @throws ProgramError */
export const amountIn = (text: string, { currency, precision }: Currency): number => {
  const decimals = DECIMAL.exec(text)?.[1]?.length ?? 0
  const minor = DECIMAL.test(text) && decimals <= precision ? toMinor(Number(text), precision) : undefined
  if (minor === undefined) {
    throw misused(`'${text}' is not an amount in ${currency}\nWrite ${writingOf(precision)}.`)
  }
  return minor
}

const writingOf = (precision: number): string =>
  precision === 0 ? 'digits only, such as 1000' : `digits, and at most ${precision} more after a point, such as 1000.50`
