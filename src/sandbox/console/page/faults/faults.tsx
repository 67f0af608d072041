import { useMemo, useState } from 'preact/hooks'
import { ask, get } from '../api.ts'
import { type Place, worldOf } from '../place.ts'
import { useNews } from '../store.ts'
import type { DocumentedError, Rule } from '../types.ts'
import { act, Card, Empty, Failed, Status, useLoaded } from '../ui.tsx'
import { NETWORK_FAULTS, type NetworkFault } from './network.ts'
import { effectOf, RuleView } from './rule.tsx'

const SHOWN_ERRORS = 30
const TIMES = { '1': 'once', '3': 'three times', '': 'until removed' } as const

/** Faults of a world: those that are active, those of the network, and every documented error. */
export const Faults = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const news = useNews()
  const { value: errors = [] } = useLoaded(() => get<DocumentedError[]>('/errors'), [])
  const rules = useLoaded(() => get<Rule[]>('/faults', { world }), [world, news])
  const [operation, setOperation] = useState('')
  const [times, setTimes] = useState<string>('1')
  const operations = useMemo(() => [...new Set(errors.map(({ method, path }) => `${method} ${path}`))].sort(), [errors])
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await act(work, done)) rules.reload()
  }
  const limit = times === '' ? {} : { times: Number(times) }
  const inject = ({ title, body, isDelivery }: NetworkFault) => {
    const [method, path] = operation.split(' ')
    const match = isDelivery || operation === '' ? {} : { match: { method, path } }
    return change(() => ask('POST', '/faults', { world, body: { ...body, ...match, ...limit } }), `Active: ${title}`)
  }
  return (
    <div class="stack">
      <Failed error={rules.error} />
      <Card
        title={`Active faults of ${world}`}
        aside={
          (rules.value?.length ?? 0) > 0 && (
            <button
              type="button"
              class="danger"
              onClick={() => change(() => ask('DELETE', '/faults', { world }), 'Removed all faults')}
            >
              Remove all
            </button>
          )
        }
      >
        {rules.value?.length === 0 && <Empty>No active faults.</Empty>}
        <ul class="items">
          {(rules.value ?? []).map((rule) => (
            <li key={rule.id}>
              <RuleView rule={rule} />
              <button
                type="button"
                aria-label={`Remove: ${effectOf(rule)}`}
                onClick={() =>
                  change(() => ask('DELETE', `/faults/${rule.id}`, { world }), `Removed: ${effectOf(rule)}`)
                }
              >
                Remove
              </button>
            </li>
          ))}
        </ul>
      </Card>
      <Card title="Network faults">
        <div class="line scope">
          <label>
            Requests{' '}
            <select value={operation} onChange={(event) => setOperation(event.currentTarget.value)}>
              <option value="">of any operation</option>
              {operations.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label>
            How often{' '}
            <select value={times} onChange={(event) => setTimes(event.currentTarget.value)}>
              {Object.entries(TIMES).map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        </div>
        <ul class="choices">
          {NETWORK_FAULTS.map((fault) => (
            <li key={fault.title}>
              <h3>{fault.title}</h3>
              <p>{fault.about}</p>
              <button type="button" aria-label={`Inject: ${fault.title}`} onClick={() => inject(fault)}>
                Inject
              </button>
            </li>
          ))}
        </ul>
      </Card>
      <DocumentedErrors
        errors={errors}
        onInject={({ name, method, path }, isAfter) => {
          const when = isAfter ? { when: 'after' } : {}
          const body = { error: name, match: { method, path }, ...when, ...limit }
          return change(() => ask('POST', '/faults', { world, body }), `Active: ${name}`)
        }}
      />
    </div>
  )
}

interface ErrorsProps {
  errors: readonly DocumentedError[]
  onInject: (error: DocumentedError, isAfter: boolean) => void
}

/** Every documented error, behind a search: there are hundreds. */
const DocumentedErrors = ({ errors, onInject }: ErrorsProps) => {
  const [search, setSearch] = useState('')
  const [isAfter, setAfter] = useState(false)
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return []
    return errors.filter(({ name, status, method, path }) => {
      const text = `${name} ${status} ${method} ${path}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
  }, [errors, search])
  return (
    <Card title="Documented errors">
      <div class="line">
        <input
          type="search"
          aria-label="Search errors"
          placeholder={`Search ${errors.length} errors: balance, 404, orders`}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <label>
          <input type="checkbox" checked={isAfter} onChange={(event) => setAfter(event.currentTarget.checked)} /> after
          the work
        </label>
      </div>
      {found.length === 0 && (
        <Empty>
          {search === ''
            ? 'Type a name, a status or a path to find an error that the reference documents.'
            : 'No documented error matches.'}
        </Empty>
      )}
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
              aria-label={`Inject: ${error.name} for ${error.method} ${error.path}`}
              onClick={() => onInject(error, isAfter)}
            >
              Inject
            </button>
          </li>
        ))}
      </ul>
      {found.length > SHOWN_ERRORS && <p class="soft">{found.length - SHOWN_ERRORS} more: search for them</p>}
    </Card>
  )
}
