import { aligned } from '../bench/table.ts'

/** The parameters of a rig. */
export interface Options {
  /** Its length, in a unit of its own. */
  rounds: number
  seed: number
  /** Only a part of its work, as a test of the rig itself. */
  isShort: boolean
  /** Called with the progress of a long run. */
  progress: (line: string) => void
}

/** The results of a rig. */
export interface Report {
  /** Each with a line of headings. */
  tables: readonly (readonly (readonly string[])[])[]
  /** Violations of promises; each is a defect. */
  findings: readonly string[]
}

export type Rig = (options: Options) => Promise<Report>

const FINDINGS_SHOWN = 30

export const printed = ({ tables, findings }: Report): string =>
  [
    ...tables.map((table) => `${aligned(table).join('\n')}\n`),
    findings.length === 0 ? 'No finding.' : `${findings.length} findings:`,
    ...findings.slice(0, FINDINGS_SHOWN).map((finding) => `- ${finding}`),
  ].join('\n')

/** The value that this share of all values does not exceed. */
export const percentile = (values: readonly number[], part: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}
