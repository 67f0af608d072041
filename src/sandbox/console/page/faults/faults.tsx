import { useMemo, useState } from 'preact/hooks'
import { messageOf } from '../../../../http/error-message.ts'
import { counted } from '../../../../kernel/counted.ts'
import { type Searched, search, termsIn } from '../../../../pages/search.ts'
import { Button, Input, named, Select } from '../../../../pages/ui/forms.tsx'
import { useLoaded } from '../../../../pages/ui/hooks.ts'
import { List, type Row } from '../../../../pages/ui/list.tsx'
import { act } from '../../../../pages/ui/notices.tsx'
import { Card, Empty, Failed } from '../../../../pages/ui/pieces.tsx'
import { hrefOf, type Place } from '../../../../pages/ui/place.ts'
import { ask, get } from '../api.ts'
import { worldOf } from '../place.ts'
import { useNews } from '../store.ts'
import type { DocumentedError, Rule } from '../types.ts'
import { NETWORK_FAULTS, type NetworkFault } from './network.ts'

const SHOWN_MAX = 30
/** The default operation of a fault. One for any operation would affect the login of a client first. */
const PURCHASE = 'POST /api/v1/orders'
const TIMES = { '1': 'once', '3': 'three times', '': 'until removed' } as const

interface Choice extends Searched {
  /** The rule, without the requests that it affects and how often. */
  rule: object
  /** The operation of a documented error; empty for a fault of deliveries, undefined for one of any operation. */
  operation?: string
}

const networkChoice = ({ title, about, body }: NetworkFault): Choice => {
  return { title, words: 'network', text: about, rule: body, ...('webhook' in body && { operation: '' }) }
}

const errorChoice = ({ name, status, method, path, body }: DocumentedError): Choice => {
  const operation = `${method} ${path}`
  return { title: name, words: `${status} ${operation}`, text: messageOf(body) ?? '', rule: { error: name }, operation }
}

/** The faults of a world: the active ones, and all that can be injected. */
export const Faults = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const news = useNews()
  const { value: rules, error } = useLoaded(() => get<Rule[]>('/faults', { world }), [world, news])
  const remove = (under: string, done: string) => act(() => ask('DELETE', `/faults${under}`, { world }), done)
  const removeAll = (
    <Button text={`Remove all from ${world}`} class="danger" onClick={() => remove('', 'Removed all faults')} />
  )
  return (
    <div class="stack">
      <Failed error={error} />
      <List
        title={`Active faults of ${world}`}
        list={rules && { columns: ['effect', 'requests', 'limits'], rows: rules.map(ruleRow) }}
        empty="No active faults."
        aside={rules && rules.length > 0 && removeAll}
        after={({ id, effect }) => (
          <Button
            text="Remove"
            aria-label={`Remove: ${effect}`}
            onClick={() => remove(`/${id}`, `Removed: ${effect}`)}
          />
        )}
      />
      <Choices key={place.q} world={world} sought={place.q ?? ''} />
    </div>
  )
}

/** Faults of the network and of deliveries, and behind a search every documented error: there are hundreds. */
const Choices = ({ world, sought }: { world: string; sought: string }) => {
  const { value: errors = [] } = useLoaded(() => get<DocumentedError[]>('/errors'), [])
  const [typed, setTyped] = useState(sought)
  const [scope, setScope] = useState(PURCHASE)
  const [times, setTimes] = useState('1')
  const [isAfter, setAfter] = useState(false)
  const network = NETWORK_FAULTS.map(networkChoice)
  const documented = useMemo(() => errors.map(errorChoice), [errors])
  const operations = useMemo(() => [...new Set(documented.map(({ operation = '' }) => operation))].sort(), [documented])
  const found = typed.trim() === '' ? network : search([...network, ...documented], termsIn(typed))
  const inject = ({ title, rule, operation = scope }: Choice) => {
    const [method, path] = operation.split(' ')
    const body = {
      ...rule,
      ...('error' in rule && isAfter && { when: 'after' }),
      ...(path && { match: { method, path } }),
      ...(times !== '' && { times: Number(times) }),
    }
    return act(() => ask('POST', '/faults', { world, body }), `Active in ${world}: ${title}`)
  }
  return (
    <Card title={`Inject a fault into ${world}`}>
      <div class="line">
        <Input
          type="search"
          aria-label="Search faults"
          placeholder={`Search ${errors.length} documented errors: balance, 404, orders`}
          value={typed}
          onText={setTyped}
        />
        <label>
          Requests{' '}
          <Select value={scope} options={[['', 'of any operation'], ...named(operations)]} onChoose={setScope} />
        </label>
        <label>
          How often <Select value={times} options={Object.entries(TIMES)} onChoose={setTimes} />
        </label>
        <label>
          <input type="checkbox" checked={isAfter} onChange={(event) => setAfter(event.currentTarget.checked)} /> errors
          after the work
        </label>
      </div>
      {found.length === 0 && <Empty>No fault matches.</Empty>}
      <ul class="items choices">
        {found.slice(0, SHOWN_MAX).map((choice) => (
          <li key={`${choice.title} ${choice.words}`} class="line">
            <span>
              <strong>{choice.title}</strong> {choice.operation && <span class="soft mono">{choice.words}</span>}{' '}
              <span class="soft">{choice.text}</span>
            </span>
            <Button
              text={`Inject into ${world}`}
              aria-label={`Inject into ${world}: ${choice.title}${choice.operation ? ` for ${choice.operation}` : ''}`}
              onClick={() => inject(choice)}
            />
          </li>
        ))}
      </ul>
      {found.length > SHOWN_MAX && <p class="soft">{found.length - SHOWN_MAX} more: search for them</p>}
    </Card>
  )
}

const isUsedUp = ({ times_left }: Rule): boolean => times_left === 0

/** A rule: its effect, its conditions, and how often it applies. */
const ruleRow = (rule: Rule): Row => {
  const { id, match, when, times_left, probability, webhook } = rule
  const requests = [match.type, match.method, match.path].filter(Boolean).join(' ')
  const limits = [
    when === 'after' && 'after the work',
    times_left !== null && (isUsedUp(rule) ? 'used up' : `${times_left} left`),
    probability < 1 && `${Math.round(probability * 100)} % of them`,
  ].filter(Boolean)
  return { id, effect: effectOf(rule), requests: requests || (webhook ? 'every event' : 'every request'), limits }
}

const effectOf = (rule: Rule): string => {
  const { error, status, webhook, drop, delay_ms, cut_after_bytes, bytes_per_second } = rule
  if (error !== null) return error
  if (webhook) return `webhook: ${webhook}`
  if (status !== null) return `gateway ${status}`
  if (drop) return 'connection closed'
  if (cut_after_bytes !== null) return `cut after ${cut_after_bytes} bytes`
  if (bytes_per_second !== null) return `${bytes_per_second} bytes a second`
  return `delay ${delay_ms} ms`
}

/** The number of active faults in the present world, for the header. */
export const ActiveFaults = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const news = useNews()
  const { value: rules = [] } = useLoaded(() => get<Rule[]>('/faults', { world }), [world, news, place])
  const count = rules.filter((rule) => !isUsedUp(rule)).length
  if (count === 0) return null
  return (
    <a class="tag bad" href={hrefOf({ page: 'faults', world })}>
      {counted(count, 'fault')} active in {world}
    </a>
  )
}
