export const EVENT_TYPES = [
  'order.created',
  'order.processing',
  'order.delivered',
  'order.partially_delivered',
  'order.failed',
  'order.cancelled',
  'order.refunded',
  'payout.created',
  'payout.queued',
  'payout.processing',
  'payout.submitted',
  'payout.settling',
  'payout.action_required',
  'payout.completed',
  'payout.failed',
  'payout.cancelled',
  'payout.expired',
  'payout.returned',
  'wallet.credited',
  'wallet.debited',
  'wallet.low',
  'ping',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** A filter selects all events, those of a kind of record, or one type. SQLite matches it with GLOB. */
export const EVENT_PATTERNS = ['*', 'order.*', 'payout.*', 'wallet.*', ...EVENT_TYPES] as const
export type EventPattern = (typeof EVENT_PATTERNS)[number]

export const matches = (patterns: readonly string[], type: string): boolean =>
  patterns.some((pattern) => pattern === type || pattern === '*' || pattern === `${type.split('.')[0]}.*`)
