/** CSV as others write it: records and their cells. */

/** A text, and the number of its first line. */
export type Numbered = readonly [text: string, line: number]

/** The lines of a text, without their ends. */
export const linesIn = (text: string): Numbered[] =>
  text.split('\n').map((line, index) => [line.replace(/\r$/, ''), index + 1])

/** Records with the numbers of their first lines. A record ends with its line, unless the line ends inside quotes. */
export function* recordsIn(text: string): Generator<Numbered> {
  const lines = text.split('\n')
  let start = 0
  let isOpen = false
  for (const [index, line] of lines.entries()) {
    if (line.split('"').length % 2 === 0) isOpen = !isOpen
    if (isOpen && index < lines.length - 1) continue
    const record = lines.slice(start, index + 1).join('\n')
    yield [record.replace(/\r$/, ''), start + 1]
    start = index + 1
  }
}

export const SEPARATORS = [',', ';', '\t'] as const
export type Separator = (typeof SEPARATORS)[number]

const cellPattern = (separator: Separator): RegExp =>
  new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}]*))(${separator}|$)`, 'y')
const CELLS: Readonly<Record<Separator, RegExp>> = {
  ',': cellPattern(','),
  ';': cellPattern(';'),
  '\t': cellPattern('\t'),
}

/** The cells of a record; undefined if its quotes are wrong. */
export const cellsIn = (record: string, separator: Separator = ','): string[] | undefined => {
  if (!record.includes('"')) return record.split(separator)
  const cells: string[] = []
  const cell = CELLS[separator]
  cell.lastIndex = 0
  for (;;) {
    const found = cell.exec(record)
    if (!found) return undefined
    const [, quoted, plain = '', end] = found
    cells.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '') return cells
  }
}
