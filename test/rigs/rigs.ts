import { consolePages } from './console.ts'
import { deliveries } from './deliveries.ts'
import { fairness } from './fairness.ts'
import { hostile } from './hostile.ts'
import { kill } from './kill.ts'
import { postgres } from './postgres.ts'
import { power } from './power.ts'
import type { Rig } from './report.ts'
import { soak } from './soak.ts'
import { year } from './year.ts'

/** Every rig by its name, with its default number of rounds. */
export const RIGS: Record<string, { rig: Rig; rounds: number }> = {
  kill: { rig: kill, rounds: 200 },
  power: { rig: power, rounds: 500 },
  hostile: { rig: hostile, rounds: 100 },
  soak: { rig: soak, rounds: 50 },
  fairness: { rig: fairness, rounds: 3 },
  deliveries: { rig: deliveries, rounds: 200 },
  postgres: { rig: postgres, rounds: 50 },
  year: { rig: year, rounds: 1 },
  console: { rig: consolePages, rounds: 1 },
}
