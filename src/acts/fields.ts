import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { InvalidArgumentError, Option } from 'commander'
import { parseId } from '../http/parameters.ts'
import { oneOf } from '../http/schemas.ts'
import { Text, textProblem } from '../http/validation.ts'
import { misused } from '../kernel/exit.ts'
import { violated } from '../kernel/failure.ts'
import { toMinor } from '../kernel/money.ts'
import type { Currency } from '../reference/reference.ts'

/** An input of acts and lists: an argument or an option of a command, a member of a body. */
export interface Field<Value = unknown> {
  /** The flags of the command: `<amount>`, `[quantity]`, `--to <status>`. */
  flags: string
  about?: string
  /** The schema of the member of a body; a text, if undefined. */
  schema?: TSchema
  /** Reads the text of a person; by default, a text that the schema allows. @throws InvalidArgumentError */
  read?: (text: string) => Value
  choices?: readonly string[]
  /** True if it names a file, whose text is sent. */
  isFile?: true
  /** The value if a command gives none. */
  fallback?: Value
}

export type Fields = Readonly<Record<string, Field>>

/** The values of fields by their names. */
export type Input<Takes extends Fields> = {
  [Name in keyof Takes]: Takes[Name] extends Field<infer Value> ? Value : never
}

/** Makes a field. A required one has the flags `<name>`; all others are optional. */
export const field = <const Flags extends string, Value = string>(
  flags: Flags,
  about: string,
  more: Omit<Field<Value>, 'flags' | 'about'> = {},
): Field<Flags extends `<${string}` ? NoInfer<Value> : NoInfer<Value> | undefined> => ({ flags, about, ...more })

/** The name of the file that was given, if any. */
export const fileOf = (takes: Fields, input: Readonly<Record<string, unknown>>): string | undefined => {
  const [name = ''] = Object.keys(takes).filter((one) => takes[one]?.isFile)
  return input[name] as string | undefined
}

/** The reader of a field; undefined if any text is valid. */
export const readerOf = ({ read, schema }: Omit<Field, 'flags'>): Field['read'] =>
  read ?? (schema && ((text) => textBy(schema, text)))

const textBy = (schema: TSchema, text: string): string => {
  const problem = textProblem(schema, text)
  if (problem) throw new InvalidArgumentError(`It ${problem.problem}.`)
  return text
}

/** One of several words, in upper or lower case. */
export const choiceOf = <Choice extends string>(choices: readonly Choice[]) => ({
  schema: oneOf(choices),
  choices,
  read: (text: string): Choice => {
    const choice = choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase())
    if (!choice) throw new InvalidArgumentError(`It is one of ${choices.join(', ')}.`)
    return choice
  },
})

export const wholeNumber = (text: string): number => {
  const number = parseId(text)
  if (number === undefined) throw new InvalidArgumentError('It is a positive whole number.')
  return number
}

/** Reads the values of fields from the arguments of an action: operands, options, and the command itself. */
export const inputOf = (takes: Fields, args: readonly unknown[]): Record<string, unknown> => {
  const operands = args.slice(0, -2)
  const options = args.at(-2) as Record<string, unknown>
  const read = ({ flags }: Field) =>
    flags.startsWith('-') ? options[new Option(flags).attributeName()] : (operands.shift() ?? undefined)
  return Object.fromEntries(Object.entries(takes).map(([name, one]) => [name, read(one)]))
}

export const isOptional = ({ flags }: Field): boolean => !flags.startsWith('<')

/** The schema of a body with the fields. */
export const bodyOf = (takes: Fields, title: string): TObject => {
  const memberOf = (one: Field) => (isOptional(one) ? Type.Optional(one.schema ?? Text()) : (one.schema ?? Text()))
  return Type.Object(Object.fromEntries(Object.entries(takes).map(([name, one]) => [name, memberOf(one)])), { title })
}

/** An amount in major units: a text of a command, or a number of a body. */
export type Given = string | number

const DECIMAL = /^-?\d{1,15}(?:\.(\d+))?$/

/** An amount in major units, as minor units of its currency. @throws ProgramError for a text, DomainError for a number */
export const minorOf = (name: string, amount: Given, { currency, precision }: Currency): number => {
  if (typeof amount === 'number') {
    const minor = toMinor(amount, precision)
    if (minor !== undefined) return minor
    throw violated(name, 'format', `must have at most the ${precision} decimals of ${currency}`)
  }
  const decimals = DECIMAL.exec(amount)?.[1]?.length ?? 0
  const minor = DECIMAL.test(amount) && decimals <= precision ? toMinor(Number(amount), precision) : undefined
  if (minor === undefined) throw misused(`'${amount}' is not an amount in ${currency}\nWrite ${writingOf(precision)}.`)
  return minor
}

const writingOf = (precision: number): string =>
  precision === 0 ? 'digits only, such as 1000' : `digits, and at most ${precision} more after a point, such as 1000.50`
