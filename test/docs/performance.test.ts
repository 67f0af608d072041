import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { excerpt, tableUnder, withTable } from '../bench/markdown.ts'
import { HEADINGS, PERFORMANCE, README, ROWS, SHOWN } from '../bench/shown.ts'

const [page, readme] = [PERFORMANCE, README].map((file) => readFileSync(file, 'utf8')) as [string, string]

test('README.md shows the figures of docs/performance.md, and the page those of all rows', () => {
  const table = tableUnder(page, HEADINGS.requests)
  expect(table.slice(1).map(([row]) => row)).toEqual(ROWS)
  expect(tableUnder(readme, HEADINGS.readme)).toEqual(excerpt(table, SHOWN.rows, SHOWN.columns))
})

test('a table is written as it is read, in the place of the one that stands there, and nothing else changes', () => {
  const table = [
    ['µs', 'live', 'floor'],
    ['countries', '10.5', '9'],
  ]
  const text = '# A\n\n## B\n\nWords.\n\n| old | one |\n| --- | --- |\n| 1   | 2   |\n\nMore.\n'
  const written = withTable(text, '## B', table)
  expect(written).toBe(
    '# A\n\n## B\n\nWords.\n\n| µs        | live | floor |\n| --------- | ---: | ----: |\n| countries | 10.5 |     9 |\n\nMore.\n',
  )
  expect(tableUnder(written, '## B')).toEqual(table)
  expect(() => withTable(text, '## C', table)).toThrow('no table under ## C')
})
