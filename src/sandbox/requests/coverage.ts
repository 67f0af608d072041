import { type World, worldPart } from '../../worlds/world.ts'
import type { CoverageReport } from './operations.ts'
import type { Outcome, OutcomeRegistry } from './outcomes.ts'

/** How often each outcome has occurred. */
type Counts = Map<Outcome, number>

const counts = worldPart<Counts>(() => new Map())

/** Which documented outcomes requests have met: in each world, and in all worlds since the start. */
export class Coverage {
  readonly #all: Counts = new Map()

  constructor(private readonly registry: OutcomeRegistry) {}

  count(world: World, outcome: Outcome): void {
    for (const kept of [this.#all, world.of(counts)]) kept.set(outcome, (kept.get(outcome) ?? 0) + 1)
  }

  /** The report of one world, or of all worlds, dropped ones included. */
  report(world: World | undefined): CoverageReport {
    const kept = world ? world.of(counts) : this.#all
    const outcomes = this.registry.ofApi().map((outcome) => ({ ...outcome, count: kept.get(outcome) ?? 0 }))
    const exercised = outcomes.filter(({ count }) => count > 0).length
    return {
      documented: outcomes.length,
      exercised,
      percent: Math.floor((exercised * 1_000) / outcomes.length) / 10,
      outcomes,
    }
  }
}

/** The report for people: the outcomes by endpoint, one line each, then the total. */
export const toTable = ({ documented, exercised, percent, outcomes }: CoverageReport): string => {
  const lines: string[] = []
  let heading = ''
  for (const { method, path, status, name, count } of outcomes) {
    const endpoint = `${method} ${path}`
    if (endpoint !== heading) lines.push('', endpoint)
    heading = endpoint
    const [mark, times] = count > 0 ? ['+', count] : ['-', '']
    lines.push(`  ${mark} ${status} ${name.padEnd(44)} ${times}`.trimEnd())
  }
  return `${lines.join('\n').trimStart()}\n\n${exercised} of ${documented} documented outcomes, ${percent} %\n`
}
