import type { Failure } from '../kernel/failure.ts'
import type { Incoming } from './incoming.ts'

export type ResponseHeaders = Headers | Readonly<Record<string, unknown>>

interface SentResponse {
  status: number
  headers: ResponseHeaders
  /** Undefined for a stream or a document that is not JSON. */
  body: string | Uint8Array | undefined
}

/** Is notified of requests and responses, and does not change them. */
export interface HttpObserver {
  arrived: (incoming: Incoming) => void
  /** The failure is that of an error response. */
  ended: (incoming: Incoming, response: SentResponse, failure?: Failure) => void
}

/** Combines several observers into one; undefined without any, so that requests skip it. */
export const combineObservers = (observers: readonly (HttpObserver | undefined)[]): HttpObserver | undefined => {
  const present = observers.filter((observer) => observer !== undefined)
  if (present.length < 2) return present[0]
  return {
    arrived: (incoming) => {
      for (const observer of present) observer.arrived(incoming)
    },
    ended: (...details) => {
      for (const observer of present) observer.ended(...details)
    },
  }
}
