import type { Row } from '../store.ts'

/**
 * The filter of requests: `status:4xx path:/orders world:a`, and words that may appear anywhere. All parts have to
 * match; a value with spaces is quoted.
 */

export const FIELDS = {
  status: '404, 4xx, ok or lost',
  path: 'a part of the path',
  method: 'GET, POST, ...',
  error: 'a part of the name or the message of an error',
  world: 'the name of a world',
  test: 'a part of X-Test-Name',
  client: 'a part of the username',
  fault: 'any, or a part of its name',
  dry_run: 'true or false',
  changed: 'a table, or any',
} as const
export type Field = keyof typeof FIELDS

type Fits = (row: Row) => boolean
/** Returns true if a word is in the bodies of a request, which rows do not hold. */
type IsInBodies = (word: string, row: Row) => boolean

interface Part {
  field: Field | undefined
  value: string
  text: string
}

const PART = /(?:(\w+):)?("[^"]*"|\S+)/g
const isField = (name: string | undefined): name is Field => name !== undefined && Object.hasOwn(FIELDS, name)

const partsOf = (filter: string): Part[] =>
  [...filter.matchAll(PART)].map(([text, name, given = '']) => {
    const value = given.replaceAll('"', '').toLowerCase()
    return isField(name) ? { field: name, value, text } : { field: undefined, value: text.toLowerCase(), text }
  })

/** The first name before a colon that is not a field. */
export const unknownFieldIn = (filter: string): string | undefined =>
  [...filter.matchAll(PART)].map(([, name]) => name).find((name) => name !== undefined && !isField(name))

/** The value of a field, to show whether it is set. */
export const valueIn = (filter: string, field: Field): string | undefined =>
  partsOf(filter).find((part) => part.field === field)?.value

/** The same filter with another value of a field, or without it. */
export const withValue = (filter: string, field: Field, value: string | undefined): string => {
  const kept = partsOf(filter).filter((part) => part.field !== field)
  const added = value === undefined ? [] : [`${field}:${/\s/.test(value) ? `"${value}"` : value}`]
  return [...kept.map(({ text }) => text), ...added].join(' ')
}

/** The words that may appear anywhere. */
export const wordsIn = (filter: string): string[] =>
  partsOf(filter).flatMap(({ field, value }) => (field === undefined ? [value] : []))

export const filterOf = (filter: string, isInBodies: IsInBodies): Fits => {
  const fits = partsOf(filter).map((part) => fitsPart(part, isInBodies))
  return (row) => fits.every((each) => each(row))
}

const includes = (text: string | null | undefined, part: string): boolean => text?.toLowerCase().includes(part) ?? false

const fitsPart = ({ field, value }: Part, isInBodies: IsInBodies): Fits => {
  switch (field) {
    case undefined:
      return (row) => row.text.includes(value) || isInBodies(value, row)
    case 'status':
      return statusFits(value)
    case 'method':
      return ({ head }) => head.method.toLowerCase() === value
    case 'path':
      return ({ head }) => includes(head.path, value)
    case 'world':
      return ({ head }) => head.world === value
    case 'test':
      return ({ test }) => includes(test, value)
    case 'client':
      return ({ head }) => includes(head.client, value)
    case 'error':
      return ({ head }) =>
        head.outcome !== 'success' && (includes(head.outcome, value) || includes(head.message, value))
    case 'fault':
      return ({ head }) => head.fault !== null && (value === 'any' || includes(head.fault, value))
    case 'dry_run':
      return ({ head }) => String(head.dry_run) === value
    case 'changed':
      return ({ head }) => head.changes.some(({ table }) => value === 'any' || table === value)
  }
}

const statusFits = (value: string): Fits => {
  if (value === 'lost') return ({ head }) => head.response.status === 0
  if (value === 'ok') return ({ head }) => head.response.status >= 200 && head.response.status < 400
  // For a client, a lost response is a failure of the server.
  if (value === '5xx') return ({ head }) => head.response.status >= 500 || head.response.status === 0
  const pattern = value.replaceAll('x', '')
  return ({ head }) => String(head.response.status).startsWith(pattern)
}
