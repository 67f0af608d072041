import busyMonth from '../../../seed/scenarios/busy-month.yaml' with { type: 'text' }
import everyPayout from '../../../seed/scenarios/every-payout.yaml' with { type: 'text' }
import noMoney from '../../../seed/scenarios/no-money.yaml' with { type: 'text' }
import partialDelivery from '../../../seed/scenarios/partial-delivery.yaml' with { type: 'text' }
import pendingOrders from '../../../seed/scenarios/pending-orders.yaml' with { type: 'text' }
import refunds from '../../../seed/scenarios/refunds.yaml' with { type: 'text' }
import severalClients from '../../../seed/scenarios/several-clients.yaml' with { type: 'text' }
import soldOut from '../../../seed/scenarios/sold-out.yaml' with { type: 'text' }
import tightLimits from '../../../seed/scenarios/tight-limits.yaml' with { type: 'text' }
import unreliable from '../../../seed/scenarios/unreliable.yaml' with { type: 'text' }

/** The scenarios that come with the program, as YAML, by name. */
export const SHIPPED: ReadonlyMap<string, string> = new Map([
  ['busy-month', busyMonth],
  ['every-payout', everyPayout],
  ['no-money', noMoney],
  ['partial-delivery', partialDelivery],
  ['pending-orders', pendingOrders],
  ['refunds', refunds],
  ['several-clients', severalClients],
  ['sold-out', soldOut],
  ['tight-limits', tightLimits],
  ['unreliable', unreliable],
])
