import { useMemo, useState } from 'preact/hooks'
import { get } from './api.ts'
import type { Place } from './place.ts'
import type { Coverage } from './types.ts'
import { Card, Failed, useLoaded } from './ui.tsx'

type Outcome = Coverage['outcomes'][number]

/** Which documented outcomes have been met: a map of operations, with a field for each outcome. */
export const CoveragePage = ({ place }: { place: Place }) => {
  const {
    value: report,
    error,
    reload,
  } = useLoaded(() => get<Coverage>('/coverage', { world: place.world }), [place.world])
  const [onlyMissed, setOnlyMissed] = useState(false)
  const operations = useMemo(() => {
    const byOperation = new Map<string, Outcome[]>()
    for (const outcome of report?.outcomes ?? []) {
      const key = `${outcome.method} ${outcome.path}`
      byOperation.set(key, [...(byOperation.get(key) ?? []), outcome])
    }
    return [...byOperation].filter(([, outcomes]) => !onlyMissed || outcomes.some(({ count }) => count === 0))
  }, [report, onlyMissed])
  return (
    <div class="cards">
      <div class="wide">
        <Card
          title="Coverage"
          aside={
            <div class="line">
              <button type="button" aria-pressed={onlyMissed} onClick={() => setOnlyMissed(!onlyMissed)}>
                With gaps
              </button>
              <button type="button" onClick={reload}>
                Refresh
              </button>
            </div>
          }
        >
          <Failed error={error} />
          {report && (
            <>
              <p class="big">
                {report.percent} %{' '}
                <span class="soft">
                  {report.exercised} of {report.documented} outcomes met
                </span>
              </p>
              <progress max={report.documented} value={report.exercised} aria-label="Outcomes met" />
            </>
          )}
        </Card>
      </div>
      {operations.map(([name, outcomes]) => (
        <section class="card map" key={name} aria-label={name}>
          <h2>
            <span class={`method m-${outcomes[0]?.method.toLowerCase()}`}>{outcomes[0]?.method}</span>{' '}
            <span class="mono">{outcomes[0]?.path}</span>
          </h2>
          <ul class="outcomes">
            {outcomes.map(({ name: outcome, status, count }) => (
              <li key={outcome} class={count > 0 ? 'met' : ''}>
                <span class="mono">{status}</span> {outcome}{' '}
                <span class="times">{count > 0 ? `× ${count}` : 'not met'}</span>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {report && (
        <section class="card map" aria-label="Events">
          <h2>Events</h2>
          <ul class="outcomes">
            {report.events.map(({ type, count, delivered }) => (
              <li key={type} class={count > 0 ? 'met' : ''}>
                {type} <span class="times">{count > 0 ? `× ${count}, ${delivered} delivered` : 'not met'}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}
