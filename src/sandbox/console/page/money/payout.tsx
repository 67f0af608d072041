import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { amount } from '../../../requests/amounts.ts'
import { Button } from '../forms.tsx'
import { MadeBy } from '../requests/made-by.tsx'
import type { Payout } from '../types.ts'
import { Tag } from '../ui.tsx'
import { type ChangeRecord, kindOf, nextStep, Timeline } from './timeline.tsx'

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
export const PayoutView = ({ payout, world, onChange }: { payout: Payout; world: string; onChange: ChangeRecord }) => {
  const { status, returned } = payout
  const { first_name, last_name, email } = payout.beneficiary
  const actions = (PAYOUT_ACTIONS[status] ?? []).filter((action) => action !== 'return' || !returned)
  const act = (action: string, body: object, done: string) => onChange(`/payouts/${payout.id}/${action}`, body, done)
  const past = payout.events.map((event) => ({ at: event.created_at, name: event.event_type, note: event.message }))
  const next = nextStep(payout.due_at, payout.due_event === 'expired' ? 'expires if nothing moves it' : undefined)
  return (
    <li class="record" id={`payout-${payout.id}`} tabIndex={-1}>
      <p>
        <Tag kind={returned ? 'warn' : kindOf(status)}>{returned ? 'returned' : status}</Tag>{' '}
        <strong>{amount(payout.amount, payout.currency)}</strong>{' '}
        <span class="soft">{visible(payout.reference_id)}</span>{' '}
        <MadeBy world={world} made={{ table: 'payouts', key: payout.id }} />
      </p>
      <p>
        to {visible([first_name, last_name].filter(Boolean).join(' '))}{' '}
        <span class="soft">{visible(email ?? 'erased')}</span>
      </p>
      <Timeline steps={[...past, ...next]} />
      {actions.length > 0 && (
        <div class="line">
          {actions.map((action) => (
            <Button
              key={action}
              text={ACTION_NAMES[action] ?? action}
              class={action === 'advance' ? '' : 'danger'}
              onClick={() => act(action, {}, `Payout ${payout.reference_id}: ${action}`)}
            />
          ))}
          {status === 'settling' && (
            <Button
              text="Action required"
              onClick={() => act('advance', { to: 'action_required' }, 'Needs an action')}
            />
          )}
        </div>
      )}
    </li>
  )
}
