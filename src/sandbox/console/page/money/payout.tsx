import { MadeBy } from '../requests/made-by.tsx'
import { amount, Tag, visible } from '../ui.tsx'
import { type Change, kindOf } from './change.ts'
import { nextStep, Timeline } from './timeline.tsx'

export interface Payout {
  id: string
  client_id: number
  reference_id: string
  status: string
  amount: number
  currency: string
  beneficiary: { email: string | null; first_name: string | null; last_name: string | null }
  events: { event_type: string; actor_type: string; message: string | null; created_at: string }[]
  submitted: boolean
  returned: boolean
  due_at: string | null
  due_event: string | null
}

/** What may happen next to a payout by hand (docs/architecture.md, How a payout moves). */
const PAYOUT_ACTIONS: Record<string, readonly string[]> = {
  created: ['advance'],
  queued: ['advance'],
  processing: ['advance', 'fail'],
  settling: ['advance', 'fail'],
  action_required: ['advance'],
  completed: ['return'],
}
const ACTION_NAMES: Record<string, string> = { advance: 'Advance', fail: 'Fail', return: 'Return' }

/** A payout with its events, and what may happen to it by hand. */
export const PayoutView = ({ payout, world, onChange }: { payout: Payout; world: string; onChange: Change }) => {
  const { first_name, last_name, email } = payout.beneficiary
  const actions = (PAYOUT_ACTIONS[payout.status] ?? []).filter((action) => action !== 'return' || !payout.returned)
  return (
    <li class="record" id={`payout-${payout.id}`} tabIndex={-1}>
      <p>
        <Tag kind={payout.returned ? 'warn' : kindOf(payout.status)}>
          {payout.returned ? 'returned' : payout.status}
        </Tag>{' '}
        <strong>{amount(payout.amount, payout.currency)}</strong>{' '}
        <span class="soft">{visible(payout.reference_id)}</span>
        <MadeBy world={world} made={{ table: 'payouts', key: payout.id }} />
      </p>
      <p>
        to {visible([first_name, last_name].filter(Boolean).join(' '))}{' '}
        <span class="soft">{visible(email ?? 'erased')}</span>
      </p>
      <Timeline
        steps={[
          ...payout.events.map(({ created_at, event_type, message }) => ({
            at: created_at,
            name: event_type,
            note: message,
          })),
          ...nextStep(payout.due_at, payout.due_event === 'expired' ? 'expires if nothing moves it' : undefined),
        ]}
      />
      {actions.length > 0 && (
        <div class="line">
          {actions.map((action) => (
            <button
              key={action}
              type="button"
              class={action === 'advance' ? '' : 'danger'}
              onClick={() =>
                onChange(`/payouts/${payout.id}/${action}`, {}, `Payout ${payout.reference_id}: ${action}`)
              }
            >
              {ACTION_NAMES[action]}
            </button>
          ))}
          {payout.status === 'settling' && (
            <button
              type="button"
              onClick={() => onChange(`/payouts/${payout.id}/advance`, { to: 'action_required' }, 'Needs an action')}
            >
              Action required
            </button>
          )}
        </div>
      )}
    </li>
  )
}
