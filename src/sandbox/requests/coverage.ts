import { type World, worldPart } from '../../worlds/world.ts'
import type { Catalogue, Outcome } from './outcomes.ts'

/** How often each outcome has occurred. */
type Counts = Map<Outcome, number>

const counts = worldPart<Counts>(() => new Map())

/** One documented outcome, and how often it was met. */
export interface CoveredOutcome extends Outcome {
  count: number
}

export interface CoverageReport {
  documented: number
  exercised: number
  /** Rounded down to one decimal, so that 100 means all. */
  percent: number
  outcomes: CoveredOutcome[]
}

/** Which documented outcomes requests have exercised: of a world, and of all worlds since the start. */
export class Coverage {
  readonly #all: Counts = new Map()

  constructor(private readonly catalogue: () => Catalogue) {}

  count(world: World, outcome: Outcome): void {
    for (const kept of [this.#all, world.of(counts)]) kept.set(outcome, (kept.get(outcome) ?? 0) + 1)
  }

  /** The report of a world, or of all of them, those that are gone included. */
  report(world: World | undefined): CoverageReport {
    const kept = world ? world.of(counts) : this.#all
    const outcomes = this.catalogue()
      .outcomes()
      .map((outcome) => ({ ...outcome, count: kept.get(outcome) ?? 0 }))
    const exercised = outcomes.filter(({ count }) => count > 0).length
    return {
      documented: outcomes.length,
      exercised,
      percent: Math.floor((exercised * 1_000) / outcomes.length) / 10,
      outcomes,
    }
  }
}

const MARKS = { met: '+', open: '-' }

/** The report as a person reads it: a line for each outcome, by endpoint, and the sum. */
export const toTable = ({ documented, exercised, percent, outcomes }: CoverageReport): string => {
  const lines: string[] = []
  let heading = ''
  for (const { method, path, status, name, count } of outcomes) {
    const endpoint = `${method} ${path}`
    if (endpoint !== heading) lines.push('', endpoint)
    heading = endpoint
    lines.push(
      `  ${count > 0 ? MARKS.met : MARKS.open} ${status} ${name.padEnd(44)} ${count > 0 ? count : ''}`.trimEnd(),
    )
  }
  return `${lines.join('\n').trimStart()}\n\n${exercised} of ${documented} documented outcomes, ${percent} %\n`
}
