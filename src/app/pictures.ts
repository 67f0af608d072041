import { ORDER_TRANSITIONS } from '../orders/states.ts'
import { attemptsPicture } from '../pages/attempts-picture.ts'
import type { Picture } from '../pages/drawing.ts'
import { statePicture } from '../pages/state-picture.ts'
import { TRANSITIONS } from '../payouts/states.ts'
import { PAUSES_MS } from '../webhooks/attempt.ts'

/** The pictures that the reference and the guides show, by the names of their records. */
export const PICTURES = {
  orders: { heading: 'States', drawn: statePicture('The states of an order', 'PENDING', ORDER_TRANSITIONS) },
  payouts: { heading: 'States', drawn: statePicture('The states of a payout', 'created', TRANSITIONS) },
  webhooks: { heading: 'Attempts', drawn: attemptsPicture('The attempts to deliver an event', PAUSES_MS) },
} as const satisfies Record<string, Picture>
