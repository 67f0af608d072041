import { fairness } from './fairness.ts'
import type { Rig } from './report.ts'

/** Every rig by its name, with the rounds that it goes when nobody says how many. */
export const RIGS: Record<string, { rig: Rig; rounds: number }> = {
  fairness: { rig: fairness, rounds: 5 },
}
