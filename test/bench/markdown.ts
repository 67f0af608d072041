/** Tables of Markdown, as the formatter aligns them. */

export type Table = readonly (readonly string[])[]

const ROW = /^\|.*\|$/
const DASHES = /^[-:| ]+$/

/** Where the first table after a heading begins and ends. */
const boundsOf = (lines: readonly string[], heading: string): [begin: number, end: number] => {
  const from = lines.indexOf(heading)
  const begin = from === -1 ? -1 : lines.findIndex((line, at) => at > from && ROW.test(line))
  if (begin === -1) throw new Error(`no table under ${heading}`)
  const length = lines.slice(begin).findIndex((line) => !ROW.test(line))
  return [begin, length === -1 ? lines.length : begin + length]
}

/** The cells of the first table after a heading, those of its head first. */
export const tableUnder = (text: string, heading: string): Table => {
  const lines = text.split('\n')
  const rows = lines.slice(...boundsOf(lines, heading)).filter((line) => !DASHES.test(line))
  return rows.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

/** The text with another table in the place of the first one after a heading. Numbers stand to the right. */
export const withTable = (text: string, heading: string, table: Table): string => {
  const lines = text.split('\n')
  const [begin, end] = boundsOf(lines, heading)
  const widths = (table[0] ?? []).map((_, column) => Math.max(4, ...table.map((cells) => cells[column]?.length ?? 0)))
  const lineOf = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '')[column === 0 ? 'padEnd' : 'padStart'](width)).join(' | ')} |`
  const dashes = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  const [head = [], ...rows] = table
  return lines.toSpliced(begin, end - begin, ...[head, dashes, ...rows].map(lineOf)).join('\n')
}

/** Some rows and columns of a table; a column that was not measured is left out. */
export const excerpt = (table: Table, rows: readonly string[], columns: readonly string[]): Table => {
  const [head = [], ...body] = table
  const places = columns.map((name) => head.indexOf(name)).filter((place) => place !== -1)
  const chosen = rows.map((name) => body.find(([first]) => first === name) ?? [])
  return [head, ...chosen].map((cells) => [cells[0] ?? '', ...places.map((place) => cells[place] ?? '')])
}
