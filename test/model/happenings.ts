import type { ClientName, State } from './model.ts'

/** Events and webhooks as the model knows them (contract C16): how many of each type there must be, and where they go. */

/** An event of a client. */
export interface Happening {
  client: ClientName
  type: string
  at: number
}

export interface Webhook {
  id: string
  client: ClientName
  name: string
  url: string
  events: readonly string[]
  signing: string
  active: boolean
  /** Its receiver takes everything at once: an inbox of its own world that nobody has told otherwise. */
  isSure: boolean
  /** The inbox that receives for it alone. */
  inbox: string
  /** How many events that inbox must have received, once all is delivered; unknown after a change. */
  due: number | undefined
}

const KEPT_MS = 30 * 86_400_000
/** More than any request takes. */
const LEEWAY_MS = 60_000

export const fits = (filter: readonly string[], type: string): boolean =>
  filter.some((pattern) => pattern === '*' || pattern === type || pattern === `${type.split('.')[0]}.*`)

/** An event was written, and waits for each active webhook whose filter it fits, or for one alone. */
export const happened = (state: State, client: ClientName, type: string, alone?: Webhook): void => {
  state.happenings.push({ client, type, at: state.present })
  for (const webhook of alone ? [alone] : state.webhooks) {
    const isMeant = alone !== undefined || (webhook.client === client && webhook.active && fits(webhook.events, type))
    if (isMeant && webhook.due !== undefined) webhook.due += 1
  }
}

/** How many events of a client fit a filter: those that are surely kept at a time, and those that may be. */
export const countHappenings = (
  { happenings }: State,
  client: ClientName,
  filter: string,
  now: { lo: number; hi: number },
): { lo: number; hi: number } => {
  const own = happenings.filter((each) => each.client === client && fits([filter], each.type))
  return {
    lo: own.filter(({ at }) => at + KEPT_MS > now.hi + LEEWAY_MS).length,
    hi: own.filter(({ at }) => at + KEPT_MS > now.lo - LEEWAY_MS).length,
  }
}
