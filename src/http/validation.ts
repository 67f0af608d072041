import { Kind, type Static, type TObject, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { Value } from '@sinclair/typebox/value'
import isEmail from 'validator/es/lib/isEmail.js'
import {
  aboveMax,
  belowMin,
  DomainError,
  type Failure,
  invalid,
  NOT_WHOLE,
  notAmong,
  type Problem,
  type Violation,
} from '../kernel/failure.ts'
import type { JsonObject } from './json.ts'

interface TextOptions {
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: 'email'
  description?: string
  example?: string
}

/** A text of a body. Lengths count characters, where TypeBox's own strings count UTF-16 code units. */
export const Text = (options: TextOptions = {}) => Type.Unsafe<string>({ ...options, type: 'string', [Kind]: 'Text' })

const textProblem = (schema: TextOptions, value: unknown): Problem | undefined => {
  if (typeof value !== 'string') return { rule: 'string', problem: 'must be a string' }
  if (!isWritable(value)) return { rule: 'format', problem: UNWRITABLE }
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format, description = 'well formed' } = schema
  if (value.length < minLength) return belowMin(charactersOf(minLength))
  if (value.length > maxLength && (value.length > 2 * maxLength || [...value].length > maxLength))
    return aboveMax(charactersOf(maxLength))
  if (pattern !== undefined && !new RegExp(pattern).test(value))
    return { rule: 'format', problem: `must be ${description}` }
  const isRight = format !== 'email' || isEmailAddress(value)
  return isRight ? undefined : { rule: 'email', problem: 'must be a valid e-mail address' }
}

/** Checks a writable text. */
export const isEmailAddress = (text: string): boolean => isEmail(text)

const charactersOf = (count: number): string => `${count} character${count === 1 ? '' : 's'} long`

TypeRegistry.Set<TSchema>('Text', (schema, value) => textProblem(schema, value) === undefined)

/** The rules of members that a schema cannot express: each returns the problem of a value, if any. */
export type FieldRules<Body> = {
  [Field in keyof Body]?: (value: NonNullable<Body[Field]>) => Problem | undefined
}

/** The violations of rules between members. A member that is invalid by itself is reported as that. */
type Together = (body: JsonObject) => readonly Violation[]

/**
 * Makes the check of a body: every broken rule at once, one for each field, in the order of the schema (contract C4).
 * Unknown members are left out; optional ones that are null count as left out. The schema is compiled on first use.
 *
 * @throws DomainError validation, or the failure made from the violations
 */
export const bodyCheck = <Schema extends TObject>(
  schema: Schema,
  failure: (violations: readonly Violation[], body: JsonObject) => Failure = (violations) => invalid(violations),
): ((body: JsonObject, rules?: FieldRules<Static<Schema>>, together?: Together) => Static<Schema>) => {
  let compiled: TypeCheck<Schema> | undefined
  const removable = Object.keys(schema.properties).filter((field) => REMOVES in (schema.properties[field] ?? {}))
  return (body, rules = {}, together = () => []) => {
    compiled ??= TypeCompiler.Compile(schema)
    const candidate = knownMembers(schema, body)
    const byField = compiled.Check(candidate) ? new Map<string, Problem>() : problemsOf(schema, candidate)
    for (const [field, rule] of Object.entries<((value: never) => Problem | undefined) | undefined>(rules)) {
      if (byField.has(field) || !Object.hasOwn(candidate, field)) continue
      const problem = rule?.(candidate[field] as never)
      if (problem) byField.set(field, problem)
    }
    for (const { field, ...problem } of together(candidate)) {
      if (!byField.has(field)) byField.set(field, problem)
    }
    const violations = inOrder(Object.keys(schema.properties), byField)
    if (violations.length > 0) throw new DomainError(failure(violations, candidate))
    for (const field of removable) if (body[field] === null) candidate[field] = null
    return candidate as Static<Schema>
  }
}

const REMOVES = Symbol('null removes it')

/** A member that null removes. Left out, it does not change. */
export const Removable = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Unsafe<Static<Schema> | null>({ ...schema, [REMOVES]: true }))

/** The members of the schema that are present; null counts as absent. */
const knownMembers = (schema: TObject, body: JsonObject): JsonObject => {
  const known: JsonObject = {}
  for (const field of Object.keys(schema.properties)) {
    const value = Object.hasOwn(body, field) ? body[field] : undefined
    if (value !== null && value !== undefined) known[field] = withoutNulls(schema.properties[field], value)
  }
  return known
}

/** Optional members of an object in a body that are null count as left out, too. */
const withoutNulls = (schema: TSchema | undefined, value: unknown): unknown => {
  if (!schema?.properties || typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const isLeftOut = (name: string) => name in schema.properties && !schema.required?.includes(name)
  return Object.fromEntries(Object.entries(value).filter(([name, member]) => member !== null || !isLeftOut(name)))
}

const inOrder = (fields: readonly string[], byField: ReadonlyMap<string, Problem>): Violation[] =>
  fields.flatMap((field) => {
    const problem = byField.get(field)
    return problem ? [{ field, ...problem }] : []
  })

const problemsOf = (schema: TObject, body: unknown): Map<string, Problem> => {
  const byField = new Map<string, Problem>()
  for (const error of Value.Errors(schema, body)) {
    const field = error.path.split('/')[1] ?? ''
    if (!byField.has(field)) byField.set(field, problemOf(error))
  }
  return byField
}

/** The problem of a value, if it does not fit its schema. */
export const valueProblem = (schema: TSchema, value: unknown): Problem | undefined => {
  const error = Value.Errors(schema, value).First()
  return error && problemOf(error)
}

/** The words of a broken rule. */
export const problemOf = (error: ValueError): Problem => {
  const { type, schema, value } = error
  const alternative = type === ValueErrorType.Union && choicesOf(schema).includes(undefined)
  const first = alternative && Value.Errors(schema.anyOf[0], value).First()
  if (first) return problemOf(first)
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return boundOf(error)
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return { rule: 'required', problem: 'is required' }
    case ValueErrorType.Integer:
      return NOT_WHOLE
    case ValueErrorType.Number:
      return { rule: 'number', problem: 'must be a number' }
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return belowMin(schema.minimum)
    case ValueErrorType.NumberExclusiveMinimum:
      return { rule: 'min', problem: `must be more than ${schema.exclusiveMinimum}` }
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return aboveMax(schema.maximum)
    case ValueErrorType.Union:
      return notAmong(choicesOf(schema))
    case ValueErrorType.Boolean:
      return { rule: 'format', problem: 'must be true or false' }
    case ValueErrorType.ObjectAdditionalProperties:
      return { rule: 'enum', problem: 'is not a known member' }
    case ValueErrorType.Object:
      return { rule: 'object', problem: 'must be an object' }
    case ValueErrorType.Array:
      return { rule: 'format', problem: 'must be a list' }
    case ValueErrorType.ArrayMinItems:
      return { rule: 'min', problem: `must have at least ${schema.minItems} item${schema.minItems === 1 ? '' : 's'}` }
    case ValueErrorType.ArrayMaxItems:
      return { rule: 'max', problem: `must have at most ${schema.maxItems} item${schema.maxItems === 1 ? '' : 's'}` }
    default:
      return textProblem(schema, value) ?? { rule: 'string', problem: 'must be a string' }
  }
}

/** The problem of a value at its bound. JSON can hold numbers beyond the range of a double, which exceed every bound. */
const boundOf = ({ schema, value, path }: ValueError): Problem => {
  if (value === Number.NEGATIVE_INFINITY) return belowMin(schema.minimum ?? 0)
  if (schema.maximum !== undefined) return aboveMax(schema.maximum)
  return { rule: 'max', problem: 'too large', message: `${path.slice(1)} too large` }
}

const choicesOf = (schema: TSchema): unknown[] => schema.anyOf.map((choice: TSchema) => choice.const)

export const UNWRITABLE = 'must not contain NUL or half a surrogate pair'

/** True if a value can be stored and returned unchanged. */
export const isWritable = (value: unknown): boolean => writingProblem(value) === undefined

/** The reason why a value cannot be stored and returned unchanged; undefined if it can. */
export const writingProblem = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0') ? undefined : UNWRITABLE
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : 'must not contain numbers that a double cannot keep'
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const problem = writingProblem(name) ?? writingProblem(member)
    if (problem !== undefined) return problem
  }
  return undefined
}
