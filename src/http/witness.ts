import type { Failure } from '../kernel/failure.ts'

/** The headers of an answer, as they are at hand. */
export type AnswerHeaders = Headers | Readonly<Record<string, unknown>>

/** Who looks on as requests come and go, without touching them. */
export interface Witness {
  arrived: (request: Request) => void
  /** The route is the one that serves the path; none where none does. */
  refused: (
    request: Request,
    route: string | undefined,
    failure: Failure,
    error: { status: number; headers: AnswerHeaders; body: string },
  ) => void
  /** The body is the text or the bytes that are sent. */
  answered: (
    request: Request,
    status: number,
    headers: AnswerHeaders,
    body: string | Uint8Array | undefined,
    route: string,
  ) => void
}

/** One witness for several; none for none, so that nothing is done for nobody. */
export const allOf = (witnesses: readonly (Witness | undefined)[]): Witness | undefined => {
  const present = witnesses.filter((witness) => witness !== undefined)
  if (present.length < 2) return present[0]
  return {
    arrived: (request) => {
      for (const witness of present) witness.arrived(request)
    },
    refused: (...seen) => {
      for (const witness of present) witness.refused(...seen)
    },
    answered: (...seen) => {
      for (const witness of present) witness.answered(...seen)
    },
  }
}
