import { fairness } from './fairness.ts'
import { kill } from './kill.ts'
import type { Rig } from './report.ts'

/** Every rig by its name, with the rounds that it goes when nobody says how many. */
export const RIGS: Record<string, { rig: Rig; rounds: number }> = {
  kill: { rig: kill, rounds: 200 },
  fairness: { rig: fairness, rounds: 5 },
}
