import { isOfClient } from './client-headers.ts'
import type { RecordedRequest } from './operations.ts'

/** Headers that belong to one request. */
const isOwn = (name: string): boolean => isOfClient(name) || name === 'authorization' || name === 'x-request-id'

const headersOf = ({ request }: RecordedRequest): [string, string][] =>
  Object.entries(request.headers).filter(([name]) => !isOwn(name))

const isAuthorized = ({ request }: RecordedRequest): boolean => 'authorization' in request.headers

/** Undefined if the response was not JSON. */
const bodyOf = ({ response }: RecordedRequest): unknown => {
  try {
    return response.body === null ? undefined : JSON.parse(response.body)
  } catch {
    return undefined
  }
}

const nameOf = ({ method, path, response }: RecordedRequest): string =>
  `${method} ${path.split('?')[0]} answers ${response.status}`

/**
 * For `scrip run -- node --test`. An error is compared as a whole. Of a record only the members are compared, because
 * its id and times differ between runs.
 */
export const toNodeTest = (recorded: RecordedRequest): string => {
  const { method, path, request, response } = recorded
  const headers = headersOf(recorded).map(([name, value]) => `      ${literal(name)}: ${literal(value)},`)
  if (isAuthorized(recorded)) headers.unshift("      authorization: 'Bearer ' + env.SCRIP_ACCESS_TOKEN,")
  const lines = [
    `import assert from 'node:assert/strict'`,
    `import { env } from 'node:process'`,
    `import { test } from 'node:test'`,
    '',
    `test(${literal(nameOf(recorded))}, async () => {`,
    `  const response = await fetch(env.SCRIP_URL + ${literal(path)}, {`,
    `    method: ${literal(method)},`,
    ...(headers.length > 0 ? ['    headers: {', ...headers, '    },'] : []),
    ...(request.body === null ? [] : [`    body: ${literal(request.body)},`]),
    '  })',
    `  assert.equal(response.status, ${response.status})`,
  ]
  const expected = expectationOf(bodyOf(recorded))
  if (expected) lines.push('  const body = await response.json()', ...nodeAssertions(expected))
  return `${[...lines, '})'].join('\n')}\n`
}

/** For `scrip run -- pytest`, with nothing but the standard library. */
export const toPytest = (recorded: RecordedRequest): string => {
  const { method, path, request, response } = recorded
  const headers = headersOf(recorded).map(([name, value]) => `        ${literal(name)}: ${literal(value)},`)
  if (isAuthorized(recorded)) headers.unshift(`        "authorization": "Bearer " + os.environ["SCRIP_ACCESS_TOKEN"],`)
  const expected = expectationOf(bodyOf(recorded))
  const name = `${method}_${path.split('?')[0]}_answers_${response.status}`.replace(/[^A-Za-z0-9]+/g, '_').toLowerCase()
  return `${[
    ...(expected ? ['import json'] : []),
    'import os',
    'import urllib.error',
    'import urllib.request',
    '',
    '',
    `def test_${name}():`,
    '    request = urllib.request.Request(',
    `        os.environ["SCRIP_URL"] + ${literal(path)},`,
    `        method=${literal(method)},`,
    ...(request.body === null ? [] : [`        data=${literal(request.body)}.encode(),`]),
    ...(headers.length > 0 ? ['        headers={', ...headers.map((line) => `    ${line}`), '        },'] : []),
    '    )',
    '    try:',
    '        response = urllib.request.urlopen(request)',
    '    except urllib.error.HTTPError as error:',
    '        response = error',
    `    assert response.status == ${response.status}`,
    ...(expected ? ['    body = json.loads(response.read())', ...pythonAssertions(expected)] : []),
  ].join('\n')}\n`
}

/** What is the same each time: the whole of an error or of an empty list, and the members of a record or of the first of a list. */
type Expectation = { whole: unknown } | { members: string[]; isList: boolean }

/** Undefined where there is no object and no list of them. */
const expectationOf = (body: unknown): Expectation | undefined => {
  if (typeof body !== 'object' || body === null) return undefined
  if (!Array.isArray(body)) return 'error' in body ? { whole: body } : { members: Object.keys(body), isList: false }
  const [first] = body
  if (body.length === 0) return { whole: body }
  return typeof first === 'object' && first !== null ? { members: Object.keys(first), isList: true } : undefined
}

const nodeAssertions = (expected: Expectation): string[] =>
  'whole' in expected
    ? [`  assert.deepEqual(body, ${indented(expected.whole)})`]
    : [`  assert.deepEqual(Object.keys(body${expected.isList ? '[0]' : ''}), ${listOf(expected.members)})`]

const pythonAssertions = (expected: Expectation): string[] =>
  'whole' in expected
    ? [`    assert body == json.loads(${literal(JSON.stringify(expected.whole))})`]
    : [`    assert list(body${expected.isList ? '[0]' : ''}) == ${listOf(expected.members)}`]

const listOf = (names: readonly string[]): string => `[${names.map(literal).join(', ')}]`

/** A literal of JavaScript, and of Python: characters that control how a text is shown are escaped. */
const literal = (text: string): string =>
  JSON.stringify(text).replace(
    /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const indented = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
