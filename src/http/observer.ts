import type { Failure } from '../kernel/failure.ts'

export type ResponseHeaders = Headers | Readonly<Record<string, unknown>>

/** Is notified of requests and responses, and does not change them. */
export interface HttpObserver {
  arrived: (request: Request) => void
  /** `route` is the pattern of the path; undefined if no route matches. */
  refused: (
    request: Request,
    route: string | undefined,
    failure: Failure,
    error: { status: number; headers: ResponseHeaders; body: string },
  ) => void
  answered: (
    request: Request,
    status: number,
    headers: ResponseHeaders,
    body: string | Uint8Array | undefined,
    route: string,
  ) => void
}

/** One observer for several; undefined if there is none, so that requests skip it. */
export const combineObservers = (observers: readonly (HttpObserver | undefined)[]): HttpObserver | undefined => {
  const present = observers.filter((observer) => observer !== undefined)
  if (present.length < 2) return present[0]
  return {
    arrived: (request) => {
      for (const observer of present) observer.arrived(request)
    },
    refused: (...details) => {
      for (const observer of present) observer.refused(...details)
    },
    answered: (...details) => {
      for (const observer of present) observer.answered(...details)
    },
  }
}
