/** Figures as people read them. */

const MIB = 1_048_576

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[sorted.length >> 1] ?? Number.NaN
  const lower = sorted[(sorted.length - 1) >> 1] ?? Number.NaN
  return (lower + upper) / 2
}

export const count = (value: number): string => Math.round(value).toLocaleString('en')
export const ratio = (value: number): string => value.toFixed(2)
export const share = (value: number): string => `${Math.round(value * 100)} %`
export const milliseconds = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`
export const mebibytes = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`

/** Lines of equal columns: the first to the left, figures to the right. */
export const aligned = (rows: readonly (readonly string[])[], between = '  '): string[] => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const padded = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)
  return rows.map((row) => row.map(padded).join(between).trimEnd())
}

/** The same as Markdown, to be pasted into docs/internals/performance.md. */
export const markdown = ([head = [], ...rows]: readonly (readonly string[])[]): string => {
  const dashes = head.map((name, column) => (column === 0 ? '---' : `${'-'.repeat(Math.max(3, name.length - 1))}:`))
  return aligned([head, dashes, ...rows], ' | ')
    .map((line) => `| ${line} |`)
    .join('\n')
}
