import { readFileSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { CoverageReport } from '../../../sandbox/requests/coverage.ts'
import { toTable } from '../../../sandbox/requests/outcomes.ts'
import { unusable } from '../../exit.ts'

type Outcome = CoverageReport['outcomes'][number]

/** By operation, the names of some outcomes: `POST /auth/login` has `auth.credentials_wrong`. */
export type OutcomeNames = ReadonlyMap<string, readonly string[]>

const namesOf = (outcomes: readonly Outcome[]): OutcomeNames =>
  new Map(
    [...Map.groupBy(outcomes, ({ method, path }) => `${method} ${path}`)].map(([operation, ofIt]) => [
      operation,
      ofIt.map(({ name }) => name),
    ]),
  )

export const notMet = ({ outcomes }: CoverageReport): OutcomeNames =>
  namesOf(outcomes.filter(({ count }) => count === 0))

export const shareOf = ({ exercised, documented, percent }: CoverageReport): string =>
  `${exercised} of ${documented} outcomes of the API, ${percent} %`

export const eventShareOf = ({ events }: CoverageReport): string => {
  const happened = events.filter(({ count }) => count > 0)
  const delivered = events.filter((event) => event.delivered > 0)
  return `${happened.length} of ${events.length} types of events, ${delivered.length} of them delivered`
}

/** The parts that are read from the report of another branch, which an older release may have written. */
const Base = Type.Pick(CoverageReport, ['outcomes'])
type Base = Static<typeof Base>

/** @throws ProgramError */
export const readBase = (file: string): Base => {
  try {
    return Value.Parse(Base, JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    throw unusable(
      `${file} is not a coverage report: ${what}\nName a file that scrip run --coverage FILE.json has written.`,
    )
  }
}

export interface Comparison {
  /** How many outcomes of the base were met and are still documented. */
  baseCount: number
  newlyMet: OutcomeNames
  noLongerMet: OutcomeNames
}

export const comparisonOf = (report: CoverageReport, base: Base): Comparison => {
  const [now, before] = [metIn(report), metIn(base)]
  return {
    baseCount: report.outcomes.filter((outcome) => before.has(keyOf(outcome))).length,
    newlyMet: namesOf(report.outcomes.filter((outcome) => now.has(keyOf(outcome)) && !before.has(keyOf(outcome)))),
    noLongerMet: namesOf(report.outcomes.filter((outcome) => before.has(keyOf(outcome)) && !now.has(keyOf(outcome)))),
  }
}

const metIn = ({ outcomes }: Base): Set<string> => new Set(outcomes.filter(({ count }) => count > 0).map(keyOf))

const keyOf = ({ method, path, name }: Outcome): string => `${method} ${path} ${name}`

interface Covered {
  report: CoverageReport
  comparison: Comparison | undefined
}

/** JSON for a name that ends in `.json`, otherwise a table with a comparison to the base. */
export const coverageText = (file: string | undefined, { report, comparison }: Covered): string => {
  if (file !== undefined && isJson(file)) return `${JSON.stringify(report, null, 2)}\n`
  return comparison ? `${toTable(report)}\n${comparisonText(comparison)}` : toTable(report)
}

const isJson = (file: string): boolean => file.endsWith('.json')

/** Whether the coverage report of a run is a text, which has the comparison. */
export const hasComparison = (file: string | undefined): boolean => file !== undefined && !isJson(file)

/** Only names of this version: others are no longer documented. */
export const comparisonText = ({ newlyMet, noLongerMet }: Comparison): string =>
  [...listed('Met, but not in the base', newlyMet), ...listed('Not met, but in the base', noLongerMet)]
    .map((line) => `${line}\n`)
    .join('')

const listed = (heading: string, names: OutcomeNames): string[] => [
  names.size === 0 ? `${heading}: none` : `${heading}:`,
  ...[...names].map(([operation, ofIt]) => `  ${operation}: ${ofIt.join(', ')}`),
]

interface Wanted {
  coveragePercentMin: number | undefined
  coverageNoLess: boolean
}

/** Why the coverage is too low; undefined if it is not. */
export const shortfallOf = (
  { report: { exercised, documented, percent }, comparison }: Covered,
  { coveragePercentMin: percentMin, coverageNoLess }: Wanted,
): string | undefined => {
  if (percentMin !== undefined && exercised * 100 < percentMin * documented)
    return `${exercised} of ${documented} documented outcomes were exercised: ${percent} % is under ${percentMin} %`
  if (coverageNoLess && comparison && exercised < comparison.baseCount)
    return `fewer documented outcomes were exercised than in the base: ${exercised}, not ${comparison.baseCount}`
  return undefined
}
