import type { ClientName, State } from './model.ts'

/** Events in the model (contract C16): the expected number of each type. */

/** An event of a client. */
export interface Happening {
  client: ClientName
  type: string
  at: number
}

const KEPT_MS = 30 * 86_400_000
/** More than any request takes. */
const LEEWAY_MS = 60_000

export const fits = (filter: readonly string[], type: string): boolean =>
  filter.some((pattern) => pattern === '*' || pattern === type || pattern === `${type.split('.')[0]}.*`)

/** An event was written. */
export const happened = (state: State, client: ClientName, type: string): void => {
  state.happenings.push({ client, type, at: state.present })
}

/** The number of a client's events that fit a filter: those certainly kept at a time, and those possibly kept. */
export const countHappenings = (
  { happenings }: State,
  client: ClientName,
  filter: string,
  now: { lo: number; hi: number },
): { lo: number; hi: number } => {
  const fitting = happenings.filter((each) => each.client === client && fits([filter], each.type))
  return {
    lo: fitting.filter(({ at }) => at + KEPT_MS > now.hi + LEEWAY_MS).length,
    hi: fitting.filter(({ at }) => at + KEPT_MS > now.lo - LEEWAY_MS).length,
  }
}
