export { type Direction, type Page, parseId, type Sort } from './parameters.ts'

import { parseTimestamp } from '../kernel/clock.ts'
import type { Resource } from '../kernel/failure.ts'
import { DomainError, type Rule, type Violation } from '../kernel/failure.ts'
import { type Direction, type Page, parseId, type Sort } from './parameters.ts'
import { isWritable } from './validation.ts'

const DIGITS = /^-?\d+$/
const CURRENCY_CODE = /^[A-Z]{3}$/

/** The id in a path. @throws DomainError invalid_id */
export const pathId = (segment: string | undefined, resource: Resource): number => {
  const id = segment === undefined ? undefined : parseId(segment)
  if (id === undefined) throw new DomainError({ code: 'invalid_id', resource })
  return id
}

/**
 * Reads the query of one request, collects what is wrong with it, and refuses it all at once (contract C7).
 * Parameters that nobody asks for are ignored.
 */
export class QueryReader {
  readonly #params: URLSearchParams
  readonly #violations: Violation[] = []

  constructor(url: string) {
    const start = url.indexOf('?')
    this.#params = new URLSearchParams(start === -1 ? '' : url.slice(start + 1))
  }

  page({ limitDefault, limitMax }: { limitDefault: number; limitMax: number }): Page {
    return {
      page: this.#count('page', 1, Number.MAX_SAFE_INTEGER),
      limit: this.#count('limit', limitDefault, limitMax),
    }
  }

  /** One of some words, in either case. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.#single(name)
    if (value === undefined) return undefined
    const choice = choices.find((candidate) => candidate.toLowerCase() === value.toLowerCase())
    if (!choice) this.refuse(name, 'enum', `must be one of ${choices.join(', ')}`)
    return choice
  }

  id(name: string): number | undefined {
    const value = this.#single(name)
    const id = value === undefined ? undefined : parseId(value)
    if (value !== undefined && id === undefined) this.refuse(name, 'integer', 'must be a positive whole number')
    return id
  }

  /** The Unix milliseconds of an RFC 3339 time. */
  timestamp(name: string): number | undefined {
    const value = this.#single(name)
    const timeMs = value === undefined ? undefined : parseTimestamp(value)
    if (value !== undefined && timeMs === undefined) this.refuse(name, 'format', 'must be an RFC 3339 time')
    return timeMs
  }

  text(name: string): string | undefined {
    const value = this.#single(name)
    if (value !== undefined && !isWritable(value)) this.refuse(name, 'format', 'must not hold NUL')
    return value
  }

  /** The code of a currency; whether there is such a one is another question. */
  currencyCode(name: string): string | undefined {
    const value = this.#single(name)
    if (value !== undefined && !CURRENCY_CODE.test(value)) {
      this.refuse(name, 'format', 'must be three letters in upper case')
    }
    return value
  }

  has(name: string): boolean {
    return this.#params.has(name)
  }

  refuse(field: string, rule: Rule, problem: string): void {
    this.#violations.push({ field, rule, problem })
  }

  /** @throws DomainError validation when anything that was read is wrong */
  finish(): void {
    if (this.#violations.length > 0) throw new DomainError({ code: 'validation', violations: this.#violations })
  }

  #count(name: string, fallback: number, max: number): number {
    const value = this.#single(name)
    if (value === undefined) return fallback
    if (!DIGITS.test(value)) this.refuse(name, 'integer', 'must be a whole number')
    else if (Number(value) < 1) this.refuse(name, 'min', 'must be at least 1')
    else if (Number(value) > max) this.refuse(name, 'max', `must be at most ${max}`)
    return Number(value)
  }

  #single(name: string): string | undefined {
    const values = this.#params.getAll(name)
    if (values.length > 1) this.refuse(name, 'format', 'must be given once')
    return values[0]
  }
}

export const DIRECTIONS: readonly Direction[] = ['ASC', 'DESC']

/**
 * The order of a list, by `sort` (spec 4.2) or by `sort_by` and `sort_order` (contract C7), not by both. Whatever is left
 * out is the fallback's.
 */
export const readSort = <Field extends string>(
  query: QueryReader,
  fields: readonly Field[],
  fallback: Sort<Field>,
): Sort<Field> => {
  const text = query.text('sort')
  const field = query.choice('sort_by', fields)
  const direction = query.choice('sort_order', DIRECTIONS)
  if (text === undefined) return { field: field ?? fallback.field, direction: direction ?? fallback.direction }
  if (query.has('sort_by') || query.has('sort_order')) {
    query.refuse('sort', 'format', 'must not come with sort_by or sort_order')
    return fallback
  }
  return sortOf(text, query, fields, fallback)
}

/** A JSON object with the members field and direction, either of which may be left out, both also written in capitals. */
const sortOf = <Field extends string>(
  text: string,
  query: QueryReader,
  fields: readonly Field[],
  fallback: Sort<Field>,
): Sort<Field> => {
  const sort = parseSort(text)
  if (!sort) {
    query.refuse('sort', 'object', 'must be a JSON object with the members field and direction')
    return fallback
  }
  const wantedField = sort.field ?? sort.Field ?? fallback.field
  const wantedDirection = sort.direction ?? sort.Direction ?? fallback.direction
  const field = fields.find((candidate) => candidate === wantedField)
  const direction = DIRECTIONS.find(
    (candidate) => typeof wantedDirection === 'string' && candidate === wantedDirection.toUpperCase(),
  )
  if (!field) query.refuse('sort', 'enum', `must name a field that is one of ${fields.join(', ')}`)
  else if (!direction) query.refuse('sort', 'enum', 'must have a direction that is ASC or DESC')
  return { field: field ?? fallback.field, direction: direction ?? fallback.direction }
}

const parseSort = (
  text: string,
): { field?: unknown; direction?: unknown; Field?: unknown; Direction?: unknown } | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
