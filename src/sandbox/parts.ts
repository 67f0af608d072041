import type { Program } from '../app/extension.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Reference } from '../reference/reference.ts'
import type { World } from '../worlds/world.ts'
import type { Faulted } from './faults/faults.ts'
import type { Coverage } from './requests/coverage.ts'
import type { LoggedRequest } from './requests/model.ts'
import type { Outcomes } from './requests/outcomes.ts'
import type { Snapshots } from './worlds/snapshots.ts'
import type { SandboxWorlds } from './worlds/worlds.ts'

/** What the routes of the sandbox work on. */
export interface Parts extends Program {
  worlds: SandboxWorlds
  snapshots: Snapshots
  catalog: Catalog
  reference: Reference
  version: string
  publicUrl: string
  outcomes: () => Outcomes
  coverage: Coverage
  /** Refuses requests that may not use the control surface. @throws DomainError */
  gate: (request: Request) => void
  /** Refuses what an operation does not document. @throws DomainError validation */
  refuseUnknown: (asked: Faulted) => Promise<void>
  /** Sends a request again, as the same client. */
  replay: (world: World, logged: LoggedRequest) => Promise<Response>
}
