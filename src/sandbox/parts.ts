import type { Program } from '../app/extension.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { BaseRates } from '../charges/rates.ts'
import type { Incoming } from '../http/incoming.ts'
import type { Reference } from '../reference/reference.ts'
import type { World } from '../work/world.ts'
import type { Feed } from './feed/feed.ts'
import type { SentRequest } from './requests/contract.ts'
import type { OutcomeRegistry } from './requests/outcomes.ts'
import type { RecordingListener } from './requests/request-log.ts'
import type { Stage } from './scenario/scenario.ts'
import type { Waiting } from './waiting.ts'
import type { SandboxWorlds } from './worlds/worlds.ts'

/** A request that the control API sends in a world. */
export interface Sent extends Omit<SentRequest, 'method' | 'headers'> {
  method: string
  headers?: Record<string, string> | undefined
}

/** The parts of the program that the routes of the sandbox use. */
export interface Parts extends Program {
  worlds: SandboxWorlds
  catalog: Catalog
  reference: Reference
  /** The exchange rates that a world begins with. */
  initialRates: () => BaseRates | undefined
  /** Plays scenarios. */
  stage: Stage
  version: string
  publicUrl: string
  outcomes: OutcomeRegistry
  feed: Feed
  waiting: Waiting
  /** Calls back with each request when it is recorded, until it is disposed of. */
  onRecorded: (listener: RecordingListener) => Disposable
  /** Refuses requests that may not use the control API. @throws DomainError */
  requireAccess: (request: Request) => void
  /** Refuses names that an operation does not document. @throws DomainError validation */
  refuseUnknown: (incoming: Incoming) => Promise<void>
  /** Sends a request because of another one. */
  send: (world: World, sent: Sent, cause: Request) => Promise<Response>
}
