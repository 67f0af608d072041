import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { InvalidArgumentError, Option } from 'commander'
import { parseId } from '../http/parameters.ts'
import { oneOf } from '../http/schemas.ts'
import { type FieldRules, Text, valueProblem } from '../http/validation.ts'
import { EXIT, type ExitCode, misused, ProgramError } from '../kernel/exit.ts'
import type { Problem, Violation } from '../kernel/failure.ts'
import { sizeFault, toMinor } from '../kernel/money.ts'
import type { Currency } from '../reference/reference.ts'

/** A value that an act refuses, in the same words for a command, which get advice, and for a body. */
export class WrongValue extends ProgramError {
  constructor(
    readonly violation: Violation,
    advice: string,
    exitCode: ExitCode = EXIT.usage,
  ) {
    const { field, problem, message = `${field} ${problem}` } = violation
    super(exitCode, `${message}\n${advice}`)
  }
}

export const wrongValue = (field: string, problem: Problem, advice: string): WrongValue =>
  new WrongValue({ field, ...problem }, advice)

/** An input of acts and lists: an argument or an option of a command, a member of a body. */
export interface Field<Value = unknown> {
  /** The flags of the command: `<amount>`, `[quantity]`, `--to <status>`. */
  flags: string
  about?: string
  /** Its name on pages; by default, the name of the field in words. */
  label?: string
  /** Its member of a body, if that has another name. */
  member?: { name: string; schema: TSchema }
  /** The schema of the member of a body, which the value of a command has to fit too; a text, if undefined. */
  schema?: TSchema
  /** A rule of the value that the schema cannot express. */
  check?(value: unknown): Problem | undefined
  /** The value that removes it in a command, as null does in a body. */
  none?: Value
  /** Converts the text of a person; by default, the text is the value. @throws InvalidArgumentError */
  read?: (text: string) => Value
  choices?: readonly string[]
  /** True if it names a file, whose text is sent. */
  isFile?: true
  /** The text of the field when a page opens its form. */
  preset?: string
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

/** The reader of the text of a person, whose value fits the member of a body; undefined if any text does. */
export const readerOf = (one: Omit<Field, 'flags'>): ((text: string) => unknown) | undefined =>
  (one.read ?? one.schema ?? one.check) && ((text) => readBy(one, text))

/** @throws InvalidArgumentError */
const readBy = ({ read, schema, check, none }: Omit<Field, 'flags'>, text: string): unknown => {
  const value = read ? read(text) : text
  // An amount stays a text until its currency is known.
  const checked = !read && schema?.type === 'number' ? numberIn(text) : value
  if (checked === none) return value
  const problem = (schema && valueProblem(schema, checked)) ?? check?.(checked)
  if (problem) throw new InvalidArgumentError(`It ${problem.problem}.`)
  return value
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

/** A number of a body; any other text does not fit its schema. */
export const numberOrText = (text: string): number => (numberIn(text) ?? text) as number

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

const memberOf = (name: string, { schema = Text(), member = { name, schema } }: Field) => member

export const membersIn = (takes: Fields): TProperties =>
  Object.fromEntries(
    Object.entries(takes).map(([field, one]) => {
      const { name, schema } = memberOf(field, one)
      return [name, isOptional(one) ? Type.Optional(schema) : schema]
    }),
  )

/** The rules of members of a body, besides their schemas. */
export const rulesIn = (takes: Fields): FieldRules<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(takes).flatMap(([field, one]) => (one.check ? [[memberOf(field, one).name, one.check]] : [])),
  )

/** The values of fields in a body that has been checked. */
export const valuesIn = <Takes extends Fields>(takes: Takes, body: Readonly<Record<string, unknown>>): Input<Takes> =>
  Object.fromEntries(
    Object.entries(takes).map(([field, one]) => [field, body[memberOf(field, one).name]]),
  ) as Input<Takes>

/** An amount in major units: a text of a command, or a number of a body. */
export type Given = string | number

const DECIMAL = /^-?\d{1,20}(?:\.\d+)?$/

const numberIn = (text: string): number | undefined => (DECIMAL.test(text) ? Number(text) : undefined)

/** An amount in major units, as minor units of its currency. @throws ProgramError, WrongValue */
export const minorOf = (name: string, amount: Given, { currency, precision }: Currency): number => {
  const number = typeof amount === 'number' ? amount : numberIn(amount)
  const advice = `Write ${writingOf(precision)}.`
  if (number === undefined) throw misused(`'${amount}' is not an amount in ${currency}\n${advice}`)
  const minor = toMinor(number, precision)
  if (minor !== undefined) return minor
  throw wrongValue(
    name,
    { rule: 'format', problem: `must have at most the ${precision} decimals of ${currency}` },
    advice,
  )
}

/** The problem of an amount that is to be above zero, and at most 1,000,000,000. */
export const positiveFault = (amount: number, precision: number): Problem | undefined =>
  amount <= 0
    ? { rule: 'min', problem: 'must be above zero', message: `${amount} is not above zero` }
    : sizeFault(amount, precision)

/** Such an amount in minor units. @throws ProgramError, WrongValue */
export const positiveMinor = (name: string, amount: Given, currency: Currency, advice: string): number => {
  const fault = positiveFault(Number(amount), currency.precision)
  if (fault) throw wrongValue(name, fault, fault.rule === 'min' ? advice : 'The most is 1,000,000,000 at once.')
  return minorOf(name, amount, currency)
}

const writingOf = (precision: number): string =>
  precision === 0 ? 'digits only, such as 1000' : `digits, and at most ${precision} more after a point, such as 1000.50`
