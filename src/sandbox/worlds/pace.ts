import { worldPart } from '../../worlds/world.ts'

/** `auto`: the clock moves open records. `manual`: only a request does (contract C15). */
export const PACES = ['auto', 'manual'] as const
export type Pace = (typeof PACES)[number]

export const pace = worldPart<{ payouts: Pace; orders: Pace }>(() => ({ payouts: 'auto', orders: 'auto' }))
