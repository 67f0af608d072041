import { counted } from './counted.ts'
import { DataFault } from './exit.ts'

/** A message that lists problems below its first line: `the catalog has 2 problems:`. */
export const problemList = (beginning: string, problems: readonly string[]): string =>
  [`${beginning} ${counted(problems.length, 'problem')}:`, ...problems].join('\n')

const BEGINNINGS = {
  catalog: 'the catalog has',
  rates: 'the exchange rates have',
  codes: 'the codes have',
  payouts: 'the payouts have',
} as const

/** The problems of a file that a person wrote, with their positions. Nothing of the file is imported. Codes are never quoted. */
export class FileFault extends DataFault {
  constructor(
    readonly file: keyof typeof BEGINNINGS,
    readonly problems: readonly string[],
  ) {
    super(problemList(BEGINNINGS[file], problems))
  }
}
