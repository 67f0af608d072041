import { useState } from 'preact/hooks'
import { Button } from '../../../pages/ui/forms.tsx'
import { useLoaded } from '../../../pages/ui/hooks.ts'
import { Card, Failed } from '../../../pages/ui/pieces.tsx'
import type { Place } from '../../../pages/ui/place.ts'
import { get } from './api.ts'
import { ALL_WORLDS } from './place.ts'
import { Method } from './requests/tags.tsx'
import type { Coverage } from './types.ts'

/** The documented outcomes that were met: a map of operations, with a field for each outcome. */
export const CoveragePage = ({ place: { world = ALL_WORLDS } }: { place: Place }) => {
  const { value, error, reload } = useLoaded(() => get<Coverage>('/coverage', { world }), [world])
  const [onlyMissed, setOnlyMissed] = useState(false)
  const operations = Map.groupBy(value?.outcomes ?? [], ({ method, path }) => `${method} ${path}`)
  const shown = [...operations].filter(([, outcomes]) => !onlyMissed || outcomes.some(({ count }) => count === 0))
  const aside = (
    <div class="line">
      <Button text="With gaps" aria-pressed={onlyMissed} onClick={() => setOnlyMissed(!onlyMissed)} />
      <Button text="Refresh" onClick={reload} />
    </div>
  )
  return (
    <div class="cards">
      <div class="wide">
        <Card title="Coverage" aside={aside}>
          <Failed error={error} />
          {value && (
            <>
              <p class="big">
                {value.percent} %{' '}
                <span class="soft">
                  {value.exercised} of {value.documented} outcomes met
                </span>
              </p>
              <progress max={value.documented} value={value.exercised} aria-label="Outcomes met" />
            </>
          )}
        </Card>
      </div>
      {shown.map(([name, outcomes]) => (
        <section class="card map box" key={name} aria-label={name}>
          <h2>
            <Method method={outcomes[0]?.method ?? ''} /> <span class="mono">{outcomes[0]?.path}</span>
          </h2>
          <ul class="line">
            {outcomes.map(({ name: outcome, status, count }) => (
              <li key={outcome} class={count > 0 ? 'tag good' : 'tag'}>
                <span class="mono">{status}</span> {outcome}{' '}
                <span class={count > 0 ? '' : 'hidden'}>{count > 0 ? `× ${count}` : 'not met'}</span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}
