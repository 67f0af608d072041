import { useMemo, useState } from 'preact/hooks'
import { ask, get } from '../api.ts'
import type { DocumentedError, Rule } from '../types.ts'
import { act, Card, Empty, Status, Tag, useLoaded } from '../ui.tsx'

const SHOWN_ERRORS = 8

/** Every documented error by name, on and off. */
export const Faults = ({ world }: { world: string }) => {
  const { value: errors = [] } = useLoaded(() => get<DocumentedError[]>('/errors'), [])
  const rules = useLoaded(() => get<Rule[]>('/faults', { world }), [world])
  const [search, setSearch] = useState('')
  const [isOnce, setOnce] = useState(true)
  const [isAfter, setAfter] = useState(false)
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean)
    return errors.filter(({ name, status, method, path }) => {
      const text = `${name} ${status} ${method} ${path}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
  }, [errors, search])
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await act(work, done)) rules.reload()
  }
  const turnOn = ({ name, method, path }: DocumentedError) => {
    const limits = { ...(isOnce && { times: 1 }), ...(isAfter && { when: 'after' }) }
    const body = { error: name, match: { method, path }, ...limits }
    return change(() => ask('POST', '/faults', { world, body }), `${name} is on`)
  }
  return (
    <Card
      title={`Faults of ${world}`}
      aside={
        (rules.value?.length ?? 0) > 0 && (
          <button
            type="button"
            class="danger"
            onClick={() => change(() => ask('DELETE', '/faults', { world }), 'No fault is left')}
          >
            All off
          </button>
        )
      }
    >
      {rules.value?.length === 0 && <Empty>None is on: requests get what they deserve.</Empty>}
      <ul class="items">
        {(rules.value ?? []).map((rule) => (
          <li key={rule.id}>
            <RuleView rule={rule} />
            <button
              type="button"
              aria-label={`Off: ${effectOf(rule)}`}
              onClick={() => change(() => ask('DELETE', `/faults/${rule.id}`, { world }), `${effectOf(rule)} is off`)}
            >
              Off
            </button>
          </li>
        ))}
      </ul>
      <div class="line">
        <input
          type="search"
          aria-label="Search errors"
          placeholder={`Search ${errors.length} errors`}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <label>
          <input type="checkbox" checked={isOnce} onChange={(event) => setOnce(event.currentTarget.checked)} /> once
        </label>
        <label>
          <input type="checkbox" checked={isAfter} onChange={(event) => setAfter(event.currentTarget.checked)} /> after
          the work
        </label>
      </div>
      <ul class="items found">
        {found.slice(0, SHOWN_ERRORS).map((error) => (
          <li key={`${error.name} ${error.method} ${error.path}`}>
            <span class="error">
              <Status status={error.status} /> <span>{error.name}</span>
              <span class="soft mono">
                {error.method} {error.path}
              </span>
            </span>
            <button
              type="button"
              aria-label={`On: ${error.name} for ${error.method} ${error.path}`}
              onClick={() => turnOn(error)}
            >
              On
            </button>
          </li>
        ))}
      </ul>
      {found.length > SHOWN_ERRORS && <p class="soft">{found.length - SHOWN_ERRORS} more: search for them</p>}
    </Card>
  )
}

const RuleView = ({ rule }: { rule: Rule }) => {
  const { match, when, times_left, probability } = rule
  const where = [match.type, match.method, match.path].filter(Boolean).join(' ') || 'every request'
  const limits = [
    when === 'after' && 'after the work',
    times_left !== null && (times_left === 0 ? 'used up' : `${times_left} left`),
    probability < 1 && `${Math.round(probability * 100)} % of them`,
  ].filter(Boolean)
  return (
    <span>
      <Tag kind={times_left === 0 ? '' : 'bad'}>{effectOf(rule)}</Tag> <span class="mono">{where}</span>{' '}
      <span class="soft">{limits.join(', ')}</span>
    </span>
  )
}

const effectOf = ({ error, status, webhook, drop, delay_ms }: Rule): string =>
  error ??
  (webhook
    ? `webhook: ${webhook}`
    : status
      ? `gateway ${status}`
      : drop
        ? 'drop'
        : delay_ms
          ? `delay ${delay_ms} ms`
          : 'slow or cut body')
