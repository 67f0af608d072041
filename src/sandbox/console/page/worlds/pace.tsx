import { ask, get } from '../api.ts'
import { Toggle } from '../forms.tsx'
import { useLoaded } from '../hooks.ts'
import type { Pace } from '../types.ts'
import { Card } from '../ui.tsx'

const MOVERS = { auto: 'by the clock', manual: 'by hand' } as const

/** Whether the clock moves orders and payouts, or a person. */
export const PaceCard = ({ world }: { world: string }) => {
  const { value, change } = useLoaded(() => get<Pace>('/pace', { world }), [world])
  const set = (records: string, mover: string) =>
    change(() => ask('PUT', '/pace', { world, body: { [records]: mover } }))
  return (
    <Card title={`Pace of ${world}`}>
      {(['orders', 'payouts'] as const).map((records) => (
        <div class="line" key={records}>
          <span class="name">{records}</span>
          <Toggle
            label={`What moves ${records}`}
            value={value?.[records]}
            options={Object.entries(MOVERS)}
            onChoose={(mover) => set(records, mover)}
          />
        </div>
      ))}
    </Card>
  )
}
