/** Changes a record with an operation of the control API, and reports the change. */
export type ChangeRecord = (path: string, body: object, done: string) => Promise<boolean>

const GOOD = new Set(['DELIVERED', 'completed'])
const BAD = new Set(['FAILED', 'CANCELLED', 'failed', 'cancelled', 'expired'])
/** The colour of the status of an order or payout. */
export const kindOf = (status: string): string => (GOOD.has(status) ? 'good' : BAD.has(status) ? 'bad' : 'info')
