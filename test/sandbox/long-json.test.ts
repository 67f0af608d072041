import { describe, expect, test } from 'bun:test'
import { ScenarioFault } from '../../src/sandbox/scenario/loading.ts'
import { parseInPieces } from '../../src/sandbox/scenario/long-json.ts'

/** Long documents are read in pieces, and nobody can tell from what is read (decision 92). */

const inPieces = (text: string): { value: unknown; steps: number } => {
  const pieces = parseInPieces(text)
  for (let steps = 0; ; steps++) {
    const { done, value } = pieces.next()
    if (done) return { value, steps }
  }
}

const resultOf = (read: () => unknown): string => {
  try {
    return JSON.stringify(read())
  } catch (error) {
    return (error as Error).name
  }
}

const problemIn = (text: string): unknown => {
  try {
    return inPieces(text).value
  } catch (error) {
    return error instanceof ScenarioFault ? error.problems[0] : error
  }
}

/** More than is read at once. */
const LONG = ' '.repeat(70_000)

describe('A long text is read as JSON.parse reads it', () => {
  test.each([
    '{"a":[1,2,{"b":[3,"],[",4]}],"c":"x","d":[]}',
    '{"a":[],"b":[ ],"c":[[]],"d":[{}]}',
    '{"a":[[1],[2,[3]]],"b":{"c":[1,2]},"d":[{"x":1},{"y":[{},{}]}]}',
    '{"a\\"b":[1,2],"c":["\\"],{"]}',
    '{"__proto__":[1],"constructor":[2]}',
    '{"a":[1],"a":[2]}',
    '{"a":[1],"a":3}',
    '{"a":3,"a":[1]}',
    '{"\\u0061":[1],"a":[2]}',
  ])('%s', (text) => {
    for (const long of [text + LONG, LONG + text, text.replaceAll(',', `,${LONG}`) + LONG]) {
      expect(resultOf(() => inPieces(long).value)).toBe(JSON.stringify(JSON.parse(long)))
    }
  })

  test.each([
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{"a":[1,,2]}',
    '{"a":[1 2]}',
    '{"a":[1}',
    '{"a":[1]',
    '{"a":[1]]}',
    '{"a":[1]}}',
    '{"a":[1]} x',
    '{"a" [1]}',
    '{"a":[1]"b":[2]}',
    '{"b":[1] [2]}',
    '{["a",1]}',
    '{"a":["]}',
  ])('or refused like it: %s', (text) => {
    for (const long of [text + LONG, LONG + text]) expect(resultOf(() => inPieces(long).value)).toBe('SyntaxError')
  })
})

test.each(['[1,[2]]', '"[1]"', 'null', ''])('A long text is refused if it is no object: %s', (text) => {
  for (const long of [text + LONG, LONG + text]) expect(problemIn(long)).toEqual({ path: '', what: 'expected object' })
})

test('A long text has at most 100 levels and 100 lists, and its parts at most 2 MiB', () => {
  const levels = (count: number) => `{"a":${'['.repeat(count - 1)}${']'.repeat(count - 1)}}${LONG}`
  expect(inPieces(levels(100)).value).toBeObject()
  expect(problemIn(levels(101))).toEqual({ path: '', what: 'is nested too deep' })
  const lists = (count: number) => `{${Array.from({ length: count }, (_, index) => `"${index}":[]`)}}${LONG}`
  expect(inPieces(lists(100)).value).toBeObject()
  expect(problemIn(lists(101))).toEqual({ path: '', what: 'has too many lists' })
  const text = (length: number) => JSON.stringify('x'.repeat(length - 2))
  expect(inPieces(`{"a":[1,${text(2_097_152)}]}`).value).toBeObject()
  expect(problemIn(`{"a":[1,${text(2_097_153)}]}`)).toEqual({ path: '/a/1', what: 'is too long' })
  expect(problemIn(`{"a":[],"b":${text(2_097_152)}}`)).toEqual({ path: '', what: 'is too long' })
})

test('A list of a mebibyte is read in many steps', () => {
  const document = {
    note: 'first',
    orders: Array.from({ length: 10_000 }, (_, id) => ({ id, email: 'ada@example.com' })),
  }
  const text = JSON.stringify({ ...document, more: 'x'.repeat(700_000) })
  const { value, steps } = inPieces(text)
  expect(value).toEqual(JSON.parse(text))
  expect(steps).toBeGreaterThan(20)
})
