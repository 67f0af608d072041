import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { FormatRegistry } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import isEmail from 'validator/es/lib/isEmail.js'
import { DomainError, type Violation } from '../kernel/failure.ts'
import type { JsonObject } from './json.ts'

// Half a surrogate pair makes isEmail throw.
FormatRegistry.Set('email', (value) => value.isWellFormed() && isEmail(value))

/** What a schema cannot say of its fields: each answers what is wrong with a value, and nothing when it is right. */
export type FieldRules<Body> = {
  [Field in keyof Body]?: (value: NonNullable<Body[Field]>) => Omit<Violation, 'field'> | undefined
}

/** What is wrong with members that depend on one another; a member that is wrong by itself is told as that. */
type Together = (body: JsonObject) => readonly Violation[]

/**
 * Makes the check of a body: all of its violations at once, one for each field, in the order of the schema
 * (contract C4). A field's own rule is asked only when its schema holds. Members that the schema does not know are
 * left out of the answer; optional ones that are null count as left out.
 *
 * @throws DomainError validation
 */
export const bodyCheck = <Schema extends TObject>(
  schema: Schema,
): ((body: JsonObject, rules?: FieldRules<Static<Schema>>, together?: Together) => Static<Schema>) => {
  let compiled: TypeCheck<Schema> | undefined
  const known = Object.keys(schema.properties)
  return (body, rules = {}, together = () => []) => {
    compiled ??= TypeCompiler.Compile(schema)
    const candidate: JsonObject = {}
    for (const field of known) {
      const value = Object.hasOwn(body, field) ? body[field] : undefined
      if (value !== null && value !== undefined) candidate[field] = value
    }
    const violations = violationsOf(compiled, candidate, known, rules as Rules, together)
    if (violations.length > 0) throw new DomainError({ code: 'validation', violations })
    return candidate as Static<Schema>
  }
}

/** {@link FieldRules} of a body whose members are not known by name. */
type Rules = Record<string, ((value: unknown) => Omit<Violation, 'field'> | undefined) | undefined>

const violationsOf = <Schema extends TObject>(
  compiled: TypeCheck<Schema>,
  candidate: JsonObject,
  known: string[],
  rules: Rules,
  together: Together,
): Violation[] => {
  const byField = new Map<string, Violation>()
  for (const field of Object.keys(candidate)) {
    const problem = unkeepable(candidate[field])
    if (problem !== undefined) byField.set(field, { field, rule: 'format', problem })
  }
  if (!compiled.Check(candidate)) {
    for (const error of compiled.Errors(candidate)) {
      const field = error.path.split('/')[1] ?? ''
      if (byField.has(field) || isLengthInCharacters(error)) continue
      byField.set(field, { field, ...ruleOf(error) })
    }
  }
  for (const field of Object.keys(rules)) {
    if (byField.has(field) || !Object.hasOwn(candidate, field)) continue
    const violation = rules[field]?.(candidate[field])
    if (violation) byField.set(field, { field, ...violation })
  }
  for (const violation of together(candidate)) {
    if (!byField.has(violation.field)) byField.set(violation.field, violation)
  }
  return byField.size === 0 ? [] : known.flatMap((field) => byField.get(field) ?? [])
}

/** Lengths count characters; the compiled check counts UTF-16 units and so refuses some that fit. */
const isLengthInCharacters = ({ type, schema, value }: ValueError): boolean =>
  type === ValueErrorType.StringMaxLength &&
  (value as string).length <= 2 * schema.maxLength &&
  [...(value as string)].length <= schema.maxLength

const ruleOf = (error: ValueError): Omit<Violation, 'field'> => {
  const { type, schema, value } = error
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return boundOf(error)
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return { rule: 'required', problem: 'is required' }
    case ValueErrorType.Integer:
      return { rule: 'integer', problem: 'must be a whole number' }
    case ValueErrorType.Number:
      return { rule: 'number', problem: 'must be a number' }
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return { rule: 'min', problem: `must be at least ${schema.minimum}` }
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return { rule: 'max', problem: `must be at most ${schema.maximum}` }
    case ValueErrorType.StringMinLength:
      return { rule: 'min', problem: `must be at least ${charactersOf(schema.minLength)}` }
    case ValueErrorType.StringMaxLength:
      return { rule: 'max', problem: `must be at most ${charactersOf(schema.maxLength)}` }
    case ValueErrorType.StringFormat:
      return { rule: 'email', problem: 'must be a valid e-mail address' }
    case ValueErrorType.StringPattern:
      return { rule: 'format', problem: `must be ${schema.description ?? 'well formed'}` }
    case ValueErrorType.Union:
      return { rule: 'enum', problem: `must be one of ${choicesOf(schema).join(', ')}` }
    case ValueErrorType.Boolean:
      return { rule: 'format', problem: 'must be true or false' }
    case ValueErrorType.Object:
      return { rule: 'object', problem: 'must be an object' }
    default:
      return { rule: 'string', problem: 'must be a string' }
  }
}

/** What JSON can write and a double cannot hold is a number all the same, beyond every bound. */
const boundOf = ({ schema, value, path }: ValueError): Omit<Violation, 'field'> => {
  if (value === Number.NEGATIVE_INFINITY) return { rule: 'min', problem: `must be at least ${schema.minimum ?? 0}` }
  if (schema.maximum !== undefined) return { rule: 'max', problem: `must be at most ${schema.maximum}` }
  return { rule: 'max', problem: 'too large', message: `${path.slice(1)} too large` }
}

const charactersOf = (count: number): string => `${count} character${count === 1 ? '' : 's'} long`

const choicesOf = (schema: TSchema): unknown[] => schema.anyOf.map((choice: TSchema) => choice.const)

/** Whether a value can be stored and sent again as it is. */
export const isWritable = (value: unknown): boolean => unkeepable(value) === undefined

/** Why a value cannot be stored and sent again as it is, or undefined where it can. */
const unkeepable = (value: unknown, isNested = false): string | undefined => {
  if (typeof value === 'string') {
    return value.isWellFormed() && !value.includes('\0') ? undefined : 'must not hold NUL or half a surrogate pair'
  }
  // A number that is no member of the body itself is kept as it was sent; the others have bounds.
  if (typeof value === 'number') {
    return isNested && !Number.isFinite(value) ? 'must not hold numbers that a double cannot keep' : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const problem = unkeepable(name) ?? unkeepable(member, true)
    if (problem !== undefined) return problem
  }
  return undefined
}
