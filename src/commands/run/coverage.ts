import { writeFileSync } from 'node:fs'
import type { CoverageReport } from '../../sandbox/requests/operations.ts'
import { toTable } from '../../sandbox/requests/outcomes.ts'
import { EXIT, ProgramError } from '../exit.ts'

const TO_STANDARD_ERROR = '-'

export const writeCoverage = async (file: string, report: CoverageReport): Promise<void> => {
  if (file === TO_STANDARD_ERROR) await Bun.write(Bun.stderr, toTable(report))
  else writeFileSync(file, file.endsWith('.json') ? `${JSON.stringify(report, null, 2)}\n` : toTable(report))
}

/** @throws ProgramError when fewer outcomes were exercised */
export const refuseUnder = (
  percentMin: number | undefined,
  { exercised, documented, percent }: CoverageReport,
): void => {
  if (percentMin === undefined || exercised * 100 >= percentMin * documented) return
  throw new ProgramError(
    EXIT.failed,
    `${exercised} of ${documented} documented outcomes were exercised: ${percent} % is under ${percentMin} %`,
  )
}
