import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { parseTimestamp } from '../kernel/clock.ts'
import {
  aboveMax,
  belowMin,
  DomainError,
  invalid,
  NOT_WHOLE,
  notAmong,
  type Problem,
  type Rule,
  type Violation,
} from '../kernel/failure.ts'
import { jsonIn } from '../kernel/json.ts'
import { searchForm } from '../kernel/lower-case.ts'
import { invalidId } from './failures.ts'
import { isObject } from './json.ts'
import { eitherCase, oneOf } from './schemas.ts'
import { isWritable } from './validation.ts'

/**
 * The parameters of paths and queries (contract C7). Each schema is the documented one with a function that reads the text,
 * since the framework's own conversion takes `1e3` for a number.
 */

/** The problem for which the text of a parameter is refused. */
export class ParameterProblem {
  constructor(
    readonly rule: Rule,
    readonly problem: string,
  ) {}

  static of({ rule, problem }: Problem): ParameterProblem {
    return new ParameterProblem(rule, problem)
  }
}

type Read<Value> = (text: string, query: URLSearchParams) => Value | ParameterProblem

const NOTHING_SENT = new URLSearchParams()

/** A parameter of a query. The framework decodes a query twice, so that a {@link queryReader} reads it (decision 3). */
export const parameter = <Value>(schema: TSchema, read: Read<Value>) => Type.Unsafe<Value>({ ...schema, read })

/**
 * Makes the reader of the query of a URL, which adds defaults. Unknown parameters are ignored, and the last value of a
 * repeated one counts. The reader throws a DomainError with all problems.
 */
export const queryReader = <Schema extends TObject>(schema: Schema): ((url: string) => Static<Schema>) => {
  const properties = Object.entries(schema.properties)
  return (url) => {
    const start = url.indexOf('?')
    const query = start === -1 ? NOTHING_SENT : new URLSearchParams(url.slice(start + 1))
    const values: Record<string, unknown> = {}
    const violations: Violation[] = []
    for (const [field, { default: fallback, read = text }] of properties) {
      const sent = query.getAll(field).at(-1)
      const value = sent === undefined ? fallback : read(sent, query)
      if (value instanceof ParameterProblem) violations.push({ field, rule: value.rule, problem: value.problem })
      else if (value !== undefined) values[field] = value
    }
    if (violations.length > 0) throw new DomainError(invalid(violations))
    return values
  }
}

/** A parameter of a path; null if its encoding is broken. An error that `read` throws becomes the response. */
export const pathParameter = <Value>(schema: TSchema, read: (text: string | null) => Value) =>
  Type.Unsafe<Value>({ ...schema, read })

export const pathReader = ({ properties }: TObject): ((sent: Record<string, string | null>) => object) => {
  const names = Object.keys(properties)
  return (sent) => {
    const values: Record<string, unknown> = {}
    for (const name of names) values[name] = properties[name]?.read(sent[name])
    return values
  }
}

/** Ids are positive whole numbers in plain digits, without leading zeros (contract C4). */
const ID = /^[1-9]\d{0,9}$/
const ID_MAX = 2_147_483_647

/** The number that a text names, or undefined when it is not an id. */
export const parseId = (text: string | null): number | undefined => {
  const id = text !== null && ID.test(text) ? Number(text) : undefined
  return id !== undefined && id <= ID_MAX ? id : undefined
}

const id: Read<number> = (text) => parseId(text) ?? new ParameterProblem('integer', 'must be a positive whole number')

export const idPath = (record: string) =>
  Type.Object({
    id: pathParameter<number>(
      Type.Integer({ minimum: 1, description: `The ${record} identifier`, failure: invalidId(record) }),
      (text) => {
        const id = parseId(text)
        if (id === undefined) throw new DomainError(invalidId(record))
        return id
      },
    ),
  })

/** The path of a record whose id is text. */
export const textPath = (record: string, example: string) =>
  Type.Object({ id: plainParameter(`The ${record} identifier, as a response gave it`, example) })

/** A parameter of a path that may be any text. */
export const plainParameter = (description: string, example: string) =>
  pathParameter(Type.String({ description, example }), (text) => text ?? '')

/** A parameter that may be left out. */
export const filter = <Value>(schema: TSchema, read: Read<Value>) => Type.Optional(parameter(schema, read))

export const idFilter = (record: string) =>
  filter(Type.Integer({ minimum: 1, maximum: ID_MAX, description: `Only of this ${record}` }), id)

/** A filter by id that the specification declares as text (spec 4.2). */
export const idTextFilter = (record: string) =>
  filter(
    Type.String({ pattern: '^[1-9][0-9]{0,9}$', description: `Only of the ${record} with this id`, example: '1' }),
    id,
  )

const text: Read<string> = (value) =>
  isWritable(value) ? value : new ParameterProblem('format', 'must not contain NUL')

export const textFilter = (description: string, example: string) => filter(Type.String({ description, example }), text)

/** A search term, in the form of the searched texts. */
export const searchFilter = (description: string, example: string) =>
  filter<string>(Type.String({ description, example }), (value, query) => text(searchForm(value), query))

const choice =
  <Choice extends string>(choices: readonly Choice[]): Read<Choice> =>
  (value) =>
    choices.find((candidate) => candidate.toLowerCase() === value.toLowerCase()) ??
    ParameterProblem.of(notAmong(choices))

/** Fields are named as in responses, also by `sort`. */
const fieldName =
  <Field extends string>(fields: readonly Field[]): Read<Field> =>
  (value) =>
    fields.find((candidate) => candidate === value) ?? ParameterProblem.of(notAmong(fields))

export const choiceFilter = <Choice extends string>(choices: readonly Choice[], description: string) =>
  filter(oneOf(choices, { description }), choice(choices))

/** A choice that is documented in upper and in lower case. */
export const eitherCaseFilter = <Choice extends string>(choices: readonly Choice[], description: string) =>
  filter(eitherCase(choices, { description }), choice(choices))

export const timeFilter = (description: string) =>
  filter<number>(
    Type.String({ format: 'date-time', description, example: '2026-01-01T00:00:00.000Z' }),
    (value) => parseTimestamp(value) ?? new ParameterProblem('format', 'must be an RFC 3339 time'),
  )

const CURRENCY_CODE = /^[A-Z]{3}$/

/** The code of a currency, which need not exist. */
export const currencyCodeFilter = filter<string>(
  Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217, in upper case', example: 'USD' }),
  (value) =>
    CURRENCY_CODE.test(value) ? value : new ParameterProblem('format', 'must be three letters in upper case'),
)

/** A page of a list: both count from 1. */
export interface ListPage {
  page: number
  limit: number
}

const DIGITS = /^-?\d+$/

export const count =
  (max: number): Read<number> =>
  (value) => {
    if (!DIGITS.test(value)) return ParameterProblem.of(NOT_WHOLE)
    const number = Number(value)
    if (number < 1) return ParameterProblem.of(belowMin(1))
    return number > max ? ParameterProblem.of(aboveMax(max)) : number
  }

/** The parameters that page a list (contract C7). */
export const pageQuery = ({ limitDefault, limitMax }: { limitDefault: number; limitMax: number }) => ({
  page: parameter<number>(
    Type.Integer({ minimum: 1, default: 1, description: 'The number of the page, from 1' }),
    count(Number.MAX_SAFE_INTEGER),
  ),
  limit: parameter<number>(
    Type.Integer({ minimum: 1, maximum: limitMax, default: limitDefault, description: 'Items per page' }),
    count(limitMax),
  ),
})

export type Direction = 'ASC' | 'DESC'
const DIRECTIONS: readonly Direction[] = ['ASC', 'DESC']

export interface Sort<Field extends string> {
  field: Field
  direction: Direction
}

/** The parameters that sort a list by a field's name (spec 4.1), the newest first by default. */
export const orderQuery = <Field extends string>(fields: readonly Field[]) => ({
  sort_by: parameter<Field>(
    oneOf<string>(fields, { default: 'created_at', description: 'The field that the list is sorted by' }),
    fieldName(fields),
  ),
  sort_order: parameter<Direction>(
    eitherCase(DIRECTIONS, { default: 'DESC', description: 'The direction, in either case' }),
    choice(DIRECTIONS),
  ),
})

/** The parameters that sort a list: a JSON object (spec 4.2), or a field's name and a direction (contract C7). */
export const sortQuery = <Field extends string>(fields: readonly Field[]) => ({
  sort: filter(
    Type.String({
      description: `A JSON object with field (${fields.join(', ')}) and direction (ASC or DESC), such as {"field":"id"}, URL-encoded; not together with sort_by or sort_order`,
    }),
    sort(fields),
  ),
  sort_by: filter(oneOf(fields, { description: 'The field that the list is sorted by' }), fieldName(fields)),
  sort_order: eitherCaseFilter(DIRECTIONS, 'The direction, in either case'),
})

/** A JSON object with the members field and direction, either of which may be left out or capitalized. */
const sort =
  <Field extends string>(fields: readonly Field[]): Read<Partial<Sort<Field>>> =>
  (value, query) => {
    if (!isWritable(value)) return new ParameterProblem('format', 'must not contain NUL')
    if (query.has('sort_by') || query.has('sort_order')) {
      return new ParameterProblem('format', 'cannot be combined with sort_by or sort_order')
    }
    const sent = parseSort(value)
    if (!sent) return new ParameterProblem('object', 'must be a JSON object with the members field and direction')
    const [sentField, sentDirection] = [
      sent.field ?? sent.Field ?? undefined,
      sent.direction ?? sent.Direction ?? undefined,
    ]
    const field = fields.find((candidate) => candidate === sentField)
    const direction = DIRECTIONS.find(
      (candidate) => typeof sentDirection === 'string' && candidate === sentDirection.toUpperCase(),
    )
    if (sentField !== undefined && !field) {
      return new ParameterProblem('enum', `must name a field that is one of ${fields.join(', ')}`)
    }
    if (sentDirection !== undefined && !direction) {
      return new ParameterProblem('enum', 'must have a direction that is ASC or DESC')
    }
    return { ...(field && { field }), ...(direction && { direction }) }
  }

const parseSort = (
  value: string,
): Partial<Record<'field' | 'Field' | 'direction' | 'Direction', unknown>> | undefined => {
  const parsed = jsonIn(value)
  return isObject(parsed) ? parsed : undefined
}

/** The order of a list; the fallback replaces what the query leaves out. */
export const sortOf = <Field extends string>(
  query: { sort?: Partial<Sort<Field>>; sort_by?: Field; sort_order?: Direction },
  fallback: Sort<Field>,
): Sort<Field> => ({
  field: query.sort?.field ?? query.sort_by ?? fallback.field,
  direction: query.sort?.direction ?? query.sort_order ?? fallback.direction,
})
