import { worldPart } from '../../worlds/world.ts'

/** Whether the clock moves open records, or only a client that asks for it (contract C15). */
export const PACES = ['auto', 'manual'] as const
export type Pace = (typeof PACES)[number]

export const pace = worldPart<{ payouts: Pace; orders: Pace }>(() => ({ payouts: 'auto', orders: 'auto' }))
