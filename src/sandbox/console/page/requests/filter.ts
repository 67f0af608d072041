import type { RequestHead } from '../types.ts'

/**
 * The filter of requests: `status:4xx path:/orders world:a`, and words that may appear anywhere. All parts have to
 * match; a value with spaces is quoted.
 */

interface Field {
  about: string
  fits: (request: RequestHead, value: string) => boolean
}

const includes = (text: string | null | undefined, part: string): boolean => text?.toLowerCase().includes(part) ?? false

const statusFits = ({ response: { status } }: RequestHead, value: string): boolean => {
  if (value === 'lost') return status === 0
  if (value === 'ok') return status >= 200 && status < 400
  // For a client, a lost response is a failure of the server.
  return (value === '5xx' && status === 0) || String(status).startsWith(value.replaceAll('x', ''))
}

export const FIELDS = {
  status: { about: '404, 4xx, ok or lost', fits: statusFits },
  path: { about: 'a part of the path', fits: ({ path }, value) => includes(path, value) },
  method: { about: 'GET, POST, ...', fits: ({ method }, value) => method.toLowerCase() === value },
  error: {
    about: 'a part of the name or the message of an error',
    fits: ({ outcome, message }, value) =>
      outcome !== 'success' && (includes(outcome, value) || includes(message, value)),
  },
  world: { about: 'the name of a world', fits: ({ world }, value) => world === value },
  test: {
    about: 'a part of X-Test-Name',
    fits: ({ request }, value) => includes(request.headers['x-test-name'], value),
  },
  client: { about: 'a part of the username', fits: ({ client }, value) => includes(client, value) },
  fault: {
    about: 'any, or a part of its name',
    fits: ({ fault }, value) => fault !== null && (value === 'any' || includes(fault, value)),
  },
  dry_run: { about: 'true or false', fits: ({ dry_run }, value) => String(dry_run) === value },
  changed: {
    about: 'a table, or any',
    fits: ({ changes }, value) => changes.some(({ table }) => value === 'any' || table === value),
  },
} as const satisfies Record<string, Field>
type FieldName = keyof typeof FIELDS

interface Part {
  field: FieldName | undefined
  value: string
}

const PART = /(?:(\w+):)?("[^"]*"|\S+)/g
const isField = (name: string | undefined): name is FieldName => name !== undefined && Object.hasOwn(FIELDS, name)

const partsOf = (filter: string): Part[] =>
  [...filter.matchAll(PART)].map(([text, name, typed = '']) => {
    const value = typed.replaceAll('"', '').toLowerCase()
    return isField(name) ? { field: name, value } : { field: undefined, value: text.toLowerCase() }
  })

/** The first name before a colon that is not a field. */
export const unknownFieldIn = (filter: string): string | undefined =>
  [...filter.matchAll(PART)].map(([, name]) => name).find((name) => name !== undefined && !isField(name))

/** The words that may appear anywhere. */
export const wordsIn = (filter: string): string[] =>
  partsOf(filter).flatMap(({ field, value }) => (field === undefined ? [value] : []))

/** The texts in which a word is looked for. */
const textOf = ({ request, response, changes, events, ...head }: RequestHead): string =>
  [...Object.values(head), response.status, request.headers['x-test-name']].join(' ').toLowerCase()

/** @param isInBodies true if a word is in the bodies of a request, which the list does not hold */
export const filterOf = (filter: string, isInBodies: (word: string, request: RequestHead) => boolean) => {
  const parts = partsOf(filter)
  return (request: RequestHead): boolean =>
    parts.every(({ field, value }) =>
      field === undefined
        ? textOf(request).includes(value) || isInBodies(value, request)
        : FIELDS[field].fits(request, value),
    )
}
