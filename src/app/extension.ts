import type { AnyElysia } from 'elysia'
import type { Additions } from '../docs/openapi.ts'
import type { HttpLayer } from '../http/http-layer.ts'
import type { Incoming } from '../http/incoming.ts'
import type { HttpObserver } from '../http/observer.ts'
import type { DomainError, Failure } from '../kernel/failure.ts'
import type { Ordering } from '../orders/orders.ts'
import type { VoucherSupply } from '../orders/supply.ts'
import type { Paying } from '../payouts/payouts.ts'
import type { ResolveAccount } from '../sessions/credentials.ts'
import type { GuardWatcher } from '../sessions/guard.ts'
import type { Session, Sessions } from '../sessions/sessions.ts'
import type { Deliveries } from '../webhooks/deliveries.ts'
import type { Deliver } from '../webhooks/outgoing.ts'
import type { Secrets } from '../webhooks/secrets.ts'
import type { DueWork } from '../work/due.ts'
import type { World } from '../work/world.ts'

/** Replaces parts of the program, and takes part before and after each request (decision 47). */
export interface Extension {
  supply: VoucherSupply
  /** Wraps the function that attempts deliveries. */
  delivering: (deliver: Deliver) => Deliver
  /** True if the clock of a world moves its payouts or its orders. */
  movesByClock: (world: World, records: 'payouts' | 'orders') => boolean
  /** The next step of the clock for a payout, if it is not the usual one. */
  stepByClock: NonNullable<Paying['stepByClock']>
  resolveAccount: ResolveAccount
  /** The request for which the extension makes another one: both come from the same address. */
  causeOf: (request: Request) => Request | undefined
  /** The name of a client in logs. */
  usernameOf: (session: Pick<Session, 'world' | 'client'>) => string
  /** The errors of a login that `resolveAccount` throws. */
  accountErrors: Record<string, Failure>
  /** The failure that a client gets for an error; undefined if the extension does not know the error. */
  failureOf: (error: unknown, incoming: Incoming) => DomainError | undefined
  observer: HttpObserver &
    GuardWatcher & {
      /** May refuse a request whose route has been found. */
      entered: (incoming: Incoming) => Promise<void> | undefined
      /** May replace a response that is about to be sent. */
      replace: (request: Request, response: Response) => Response | Promise<Response>
      /** The fault that was injected into a request, for the log. */
      faultOf: (incoming: Incoming) => string | undefined
    }
  /** Wraps what handles each request, after all else. */
  serving: (
    handle: (request: Request) => Response | Promise<Response>,
  ) => (request: Request) => Response | Promise<Response>
  /** Checks the name by which a request calls the server. @throws DomainError */
  requireHost: (request: Request) => void
  addRoutes: (program: Program) => void
  documentation: Additions
}

/** The parts of the program that an extension works on. */
export interface Program {
  app: AnyElysia
  layer: HttpLayer
  sessions: Sessions
  ordering: Ordering
  paying: Paying
  due: DueWork
  deliveries: Deliveries
  secrets: Secrets
}
