/** Changes a record by an operation of the control API, and says what was done. */
export type ChangeRecord = (path: string, body: object, done: string) => Promise<boolean>

const GOOD = new Set(['DELIVERED', 'completed'])
const BAD = new Set(['FAILED', 'CANCELLED', 'failed', 'cancelled', 'expired'])
/** How the status of an order or payout is coloured. */
export const kindOf = (status: string): string => (GOOD.has(status) ? 'good' : BAD.has(status) ? 'bad' : 'info')
