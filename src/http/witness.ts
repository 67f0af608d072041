import type { Failure } from '../kernel/failure.ts'
import type { RenderedError } from './errors.ts'

/** Who looks on as requests come and go, without touching them. */
export interface Witness {
  arrived: (request: Request) => void
  /** The route is the one that serves the path; none where none does. */
  refused: (request: Request, route: string | undefined, failure: Failure, error: RenderedError) => void
  /** The value is what the route answered: an object, JSON text, or nothing. */
  answered: (request: Request, status: number, headers: Record<string, unknown>, value: unknown) => void
}
