import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')
const tableUnder = (file: string, heading: string): string =>
  /^\|.*\|$(?:\n\|.*\|$)*/m.exec(readFileSync(join(root, file), 'utf8').split(`\n## ${heading}\n`)[1] ?? '')?.[0] ?? ''

test('README.md shows the figures of docs/internals/performance.md', () => {
  const table = tableUnder('docs/internals/performance.md', 'What a request costs')
  expect(table).toContain('| µs ')
  expect(tableUnder('README.md', 'Performance')).toBe(table)
})
