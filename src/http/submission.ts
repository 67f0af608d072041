import type { ErrorFormat } from './errors.ts'
import type { JsonObject } from './json.ts'
import { documentedRoute, pathOf } from './target.ts'

/**
 * The body of a write that an Idempotency-Key makes happen once: it is parsed and checked in the transaction of the write,
 * so that a refusal is stored with the key (contract C14).
 */
export class Submission<Input, out Output> {
  /** What the write returns, for the compiler alone. */
  declare readonly output: Output

  constructor(
    readonly request: Request,
    readonly text: string,
    readonly operation: ErrorFormat & { success: { status: number } },
    /** @throws DomainError validation */
    readonly read: (sent: JsonObject) => Input,
  ) {}

  /** The path that it was posted to, which the key belongs to. */
  get path(): string {
    return documentedRoute(pathOf(this.request.url))
  }
}
