import type { RecordedRequest } from './operations.ts'

/** Headers that a test leaves to its library, or that belong to one request. */
const OWN = new Set([
  'host',
  'content-length',
  'connection',
  'accept',
  'accept-encoding',
  'accept-language',
  'user-agent',
  'authorization',
  'x-request-id',
  'x-sandbox-token',
])
const isOwn = (name: string): boolean => OWN.has(name) || name.startsWith('sec-')

const headersOf = ({ request }: RecordedRequest): [string, string][] =>
  Object.entries(request.headers).filter(([name]) => !isOwn(name))

const isAuthorized = ({ request }: RecordedRequest): boolean => 'authorization' in request.headers

/** Undefined if the response was not JSON. */
const answerOf = ({ response }: RecordedRequest): unknown => {
  try {
    return response.body === null ? undefined : JSON.parse(response.body)
  } catch {
    return undefined
  }
}

const nameOf = ({ method, path, response }: RecordedRequest): string =>
  `${method} ${path.split('?')[0]} answers ${response.status}`

/** For `scrip run -- node --test`. Responses are compared by status, because ids and times differ from run to run. */
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
  const error = errorIn(answerOf(recorded))
  if (error !== undefined)
    lines.push('  const body = await response.json()', `  assert.deepEqual(body, ${indented(error)})`)
  return `${[...lines, '})'].join('\n')}\n`
}

/** For `scrip run -- pytest`, with nothing but the standard library. */
export const toPytest = (recorded: RecordedRequest): string => {
  const { method, path, request, response } = recorded
  const headers = headersOf(recorded).map(([name, value]) => `        ${literal(name)}: ${literal(value)},`)
  if (isAuthorized(recorded)) headers.unshift(`        "authorization": "Bearer " + os.environ["SCRIP_ACCESS_TOKEN"],`)
  const error = errorIn(answerOf(recorded))
  const name = `${method}_${path.split('?')[0]}_answers_${response.status}`.replace(/[^A-Za-z0-9]+/g, '_').toLowerCase()
  return `${[
    ...(error === undefined ? [] : ['import json']),
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
    ...(error === undefined
      ? []
      : [`    assert json.loads(response.read()) == json.loads(${literal(JSON.stringify(error))})`]),
  ].join('\n')}\n`
}

/** An error is the same each time; a record has an id and times of its own. */
const errorIn = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'error' in body ? body : undefined

/** A literal of JavaScript, and of Python: characters that control how a text is shown are escaped. */
const literal = (text: string): string =>
  JSON.stringify(text).replace(
    /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const indented = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
