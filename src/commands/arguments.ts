import { InvalidArgumentError } from 'commander'
import { parseId } from '../http/parameters.ts'
import { toMinor } from '../kernel/money.ts'
import type { Currency } from '../reference/reference.ts'
import { EXIT, ProgramError } from './exit.ts'

export const wholeNumber = (text: string): number => {
  const number = parseId(text)
  if (number === undefined) throw new InvalidArgumentError('It is a positive whole number.')
  return number
}

export const onOrOff = (text: string): boolean => {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('It is on or off.')
  return text === 'on'
}

/** One of some words, in upper or lower case. */
export const oneOf =
  <Choice extends string>(choices: readonly Choice[]) =>
  (text: string): Choice => {
    const choice = choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase())
    if (!choice) throw new InvalidArgumentError(`It is one of ${choices.join(', ')}.`)
    return choice
  }

const DECIMAL = /^-?\d{1,15}(?:\.(\d+))?$/

/** An amount in major units, as minor units of its currency. @throws ProgramError */
export const amountIn = (text: string, { currency, precision }: Currency): number => {
  const decimals = DECIMAL.exec(text)?.[1]?.length ?? 0
  const minor = DECIMAL.test(text) && decimals <= precision ? toMinor(Number(text), precision) : undefined
  if (minor === undefined) {
    throw new ProgramError(EXIT.usage, `${text} is no amount of ${currency}, which has ${precision} decimals.`)
  }
  return minor
}
