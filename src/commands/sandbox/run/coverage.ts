import type { CoverageReport } from '../../../sandbox/requests/coverage.ts'
import { toTable } from '../../../sandbox/requests/outcomes.ts'

/** JSON for a name that ends in `.json`, otherwise a table. */
export const coverageText = (file: string, report: CoverageReport): string =>
  file.endsWith('.json') ? `${JSON.stringify(report, null, 2)}\n` : toTable(report)

/** Why the coverage is too low; undefined if it is not. */
export const shortfallOf = (
  { exercised, documented, percent }: CoverageReport,
  percentMin: number | undefined,
): string | undefined =>
  percentMin !== undefined && exercised * 100 < percentMin * documented
    ? `${exercised} of ${documented} documented outcomes were exercised: ${percent} % is under ${percentMin} %`
    : undefined
