import { ORDER_TRANSITIONS } from '../orders/states.ts'
import { statePicture } from '../pages/state-picture.ts'
import { TRANSITIONS } from '../payouts/states.ts'

/** The state machines that the reference and docs/architecture.md show, by the names of their records. */
export const STATE_PICTURES = {
  orders: statePicture('The states of an order', 'PENDING', ORDER_TRANSITIONS),
  payouts: statePicture('The states of a payout', 'created', TRANSITIONS),
}
