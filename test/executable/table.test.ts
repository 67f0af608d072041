import { expect, test } from 'bun:test'
import { tableOf } from '../../src/commands/terminal/table.ts'

/** Lists for people, of any length. */

test('a table of many rows is made a part at a time, each with its own widths below its own names', () => {
  function* rows() {
    for (let id = 1; id <= 150_000; id++) yield { id, text: id === 10_001 ? 'a longer text' : 'text' }
  }
  let read = 0
  const lines: string[] = []
  for (const line of tableOf({ columns: ['id', 'text'], rows: rows() })) {
    read += 1
    if (read < 3 || line.includes('id') || line.includes('longer')) lines.push(line)
  }
  expect(read).toBe(150_015)
  expect(lines.slice(0, 4)).toEqual(['   id  text\n', '    1  text\n', '   id  text\n', '10001  a longer text\n'])
  expect([...tableOf({ columns: ['id'], rows: [] })]).toEqual(['(none)\n'])
})
