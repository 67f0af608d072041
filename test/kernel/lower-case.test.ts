import { expect, test } from 'bun:test'
import { lowerCase, searchForm } from '../../src/kernel/lower-case.ts'

/** The form by which texts compare (contract C7). */

/** Every letter that has a mark, as a base and a mark of its own. */
const MARKED = Array.from({ length: 0x1e944 }, (_, code) => String.fromCodePoint(code).normalize('NFD')).filter(
  (text) => /^\p{L}\p{M}+$/u.test(text),
)

test('a letter with a mark is one text, composed or not, in either case', () => {
  expect(MARKED.length).toBeGreaterThan(900)
  const different = MARKED.filter((text) => {
    const [letter = '', ...marks] = text
    const [upper, lower] = [letter.toUpperCase(), letter.toLowerCase()]
    // The long s is another letter than s, and both have the same capital.
    const cases = [upper.toLowerCase() === lower ? upper : lower, lower].map((one) => one + marks.join(''))
    const forms = cases.flatMap((one) => [one.normalize('NFC'), one.normalize('NFD')])
    return new Set(forms.map(searchForm)).size > 1
  })
  expect(different).toEqual([])
})

test.each([
  ['H\u0331', '\u1e96'],
  ['J\u030c', '\u01f0'],
  ['\u0130', 'i\u0307'],
  ['\u212b', 'å'],
])('%j compares as %j', (text, form) => {
  expect(lowerCase(text)).toBe(form)
  expect(lowerCase(form)).toBe(form)
})
