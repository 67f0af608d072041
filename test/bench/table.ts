/** Figures as text: tables, and the units that are easiest to compare. */

const MIB = 1_048_576

/** The middle of some figures; of an even number of them the mean of the two in the middle. */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
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
export const aligned = (rows: readonly (readonly string[])[]): string[] => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}
