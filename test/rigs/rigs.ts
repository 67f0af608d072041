import { clients } from './clients.ts'
import { consolePages } from './console.ts'
import { deliveries } from './deliveries.ts'
import { deskPages } from './desk.ts'
import { fairness } from './fairness.ts'
import { fence } from './fence.ts'
import { hostile } from './hostile.ts'
import { kill } from './kill.ts'
import { postgres } from './postgres.ts'
import { power } from './power.ts'
import { proxies } from './proxies.ts'
import type { Rig } from './report.ts'
import { snapshot } from './snapshot.ts'
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
  snapshot: { rig: snapshot, rounds: 20_000 },
  fence: { rig: fence, rounds: 200 },
  year: { rig: year, rounds: 1 },
  clients: { rig: clients, rounds: 1 },
  console: { rig: consolePages, rounds: 1 },
  desk: { rig: deskPages, rounds: 1 },
  proxies: { rig: proxies, rounds: 1 },
}
