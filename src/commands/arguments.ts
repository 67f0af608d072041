import { InvalidArgumentError } from 'commander'
import { parseId } from '../http/query.ts'
import { toMinor } from '../kernel/money.ts'
import type { Currency } from '../reference/reference.ts'
import { EXIT, ProgramError } from './exit.ts'

/** What is written on the command line, read for the commands. A wrong one is a usage error: exit code 2. */

/** An id or a quantity. */
export const wholeNumber = (text: string): number => {
  const number = parseId(text)
  if (number === undefined) throw new InvalidArgumentError('It is a positive whole number.')
  return number
}

/** A percentage in basis points. */
export const percentage = (text: string): number => {
  if (!/^\d{1,3}(\.\d{1,2})?$/.test(text) || Number(text) > 100) {
    throw new InvalidArgumentError('It is a percentage from 0 to 100 with at most two decimals.')
  }
  return Math.round(Number(text) * 100)
}

export const onOrOff = (text: string): boolean => {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('It is on or off.')
  return text === 'on'
}

/** One of some words, in either case. */
export const oneOf =
  <Choice extends string>(choices: readonly Choice[]) =>
  (text: string): Choice => {
    const choice = choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase())
    if (!choice) throw new InvalidArgumentError(`It is one of ${choices.join(', ')}.`)
    return choice
  }

const DECIMAL = /^-?\d{1,15}(?:\.(\d+))?$/

/** An amount in major units, exactly, as minor units of its currency. @throws ProgramError */
export const amountIn = (text: string, { currency, precision }: Currency): number => {
  const decimals = DECIMAL.exec(text)?.[1]?.length ?? 0
  const minor = DECIMAL.test(text) && decimals <= precision ? toMinor(Number(text), precision) : undefined
  if (minor === undefined) {
    throw new ProgramError(EXIT.usage, `${text} is no amount of ${currency}, which has ${precision} decimals.`)
  }
  return minor
}
