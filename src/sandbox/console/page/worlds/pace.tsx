import { ask, get } from '../api.ts'
import { act, Card, useLoaded } from '../ui.tsx'

interface Pace {
  payouts: 'auto' | 'manual'
  orders: 'auto' | 'manual'
}

/** Whether the clock moves orders and payouts, or a person. */
export const PaceCard = ({ world }: { world: string }) => {
  const pace = useLoaded(() => get<Pace>('/pace', { world }), [world])
  return (
    <Card title={`Pace of ${world}`}>
      {(['orders', 'payouts'] as const).map((records) => (
        <div class="line" key={records}>
          <span class="name">{records}</span>
          <fieldset class="toggle" aria-label={`What moves ${records}`}>
            {(['auto', 'manual'] as const).map((value) => (
              <button
                key={value}
                type="button"
                aria-pressed={pace.value?.[records] === value}
                onClick={async () => {
                  if (await act(() => ask('PUT', '/pace', { world, body: { [records]: value } }))) pace.reload()
                }}
              >
                {value === 'auto' ? 'by the clock' : 'by hand'}
              </button>
            ))}
          </fieldset>
        </div>
      ))}
    </Card>
  )
}
