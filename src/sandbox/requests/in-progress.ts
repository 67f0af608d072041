import type { RequestTarget } from '../../http/request-id.ts'
import { DomainError, invalid } from '../../kernel/failure.ts'
import type { Session } from '../../sessions/sessions.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { isControl } from '../control/access.ts'
import { unknownIn } from '../control/strict.ts'
import { usernameIn, worldOfBearer } from '../worlds/accounts.ts'
import { plainName } from '../worlds/query.ts'
import type { SandboxWorlds } from '../worlds/worlds.ts'
import { ObservedRequest } from './request-log.ts'

/** The requests in progress, with the facts known of each so far, above all its world. */
export class RequestsInProgress {
  readonly #observed = new WeakMap<Request, ObservedRequest>()

  constructor(
    private readonly worlds: SandboxWorlds,
    private readonly strict: boolean,
  ) {}

  arrived = (request: Request): void => {
    if (!this.#observed.has(request)) this.#observed.set(request, new ObservedRequest(request.headers))
  }

  /** Names the world of a replayed request: the access token that would name it is redacted. */
  expect(request: Request, world: World): void {
    this.arrived(request)
    this.belongs(request, world)
  }

  belongs(request: Request, world: World): void {
    const observed = this.#observed.get(request)
    if (observed) observed.world = world
  }

  identified = (request: Request, { client, world }: Session): void => {
    const observed = this.#observed.get(request)
    if (!observed) return
    observed.client = usernameIn(world, client.username)
    observed.world = world
  }

  of(request: Request): ObservedRequest | undefined {
    return this.#observed.get(request)
  }

  ended(request: Request): void {
    this.#observed.delete(request)
  }

  /** The world that a request is about, as far as that is known. */
  worldOf(request: Request): World | undefined {
    return this.of(request)?.world ?? worldOfBearer(this.worlds, request)
  }

  /** The name of {@link worldOf}; for any other request the name that it asks for, or that of the default world. */
  worldNameOf(request: Request): string {
    return this.worldOf(request)?.name ?? plainName(new URL(request.url).searchParams.get('world') ?? DEFAULT_WORLD)
  }

  /** The fault of a request, as logs show it. */
  faultOf = (request: Request): string | undefined => this.of(request)?.injected?.fault.name

  /**
   * Refuses names that an operation does not document: always in the control API, with `--strict` in the API (decision 47).
   *
   * @throws DomainError validation, body_unreadable
   */
  refuseUnknown = async ({ request, route, operation }: RequestTarget): Promise<void> => {
    const observed = this.#observed.get(request)
    if (!observed || !operation || !(this.strict || isControl(route))) return
    const violations = await unknownIn(operation, request)
    if (violations.length === 0) return
    observed.refusedStrictly = true
    throw new DomainError(invalid(violations))
  }
}
