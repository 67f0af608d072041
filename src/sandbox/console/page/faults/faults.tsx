import { useMemo, useState } from 'preact/hooks'
import { messageOf } from '../../../../http/error-message.ts'
import { type Searched, search, termsIn } from '../../../../pages/search.ts'
import { Button, Input, named, Select } from '../../../../pages/ui/forms.tsx'
import { useLoaded } from '../../../../pages/ui/hooks.ts'
import { Card, Empty, Failed } from '../../../../pages/ui/pieces.tsx'
import { ask, get } from '../api.ts'
import { type Place, worldOf } from '../place.ts'
import { useNews } from '../store.ts'
import { Status } from '../tags.tsx'
import type { DocumentedError, Rule } from '../types.ts'
import { NETWORK_FAULTS, type NetworkFault } from './network.ts'
import { effectOf, RuleView } from './rule.tsx'

const SHOWN_ERRORS = 30
/** The default operation of a fault. One for any operation would affect the login of a client first. */
const PURCHASE = 'POST /api/v1/orders'
const TIMES = { '1': 'once', '3': 'three times', '': 'until removed' } as const

/** The faults of a world: active ones, network faults, and every documented error. */
export const Faults = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const news = useNews()
  const { value: errors = [] } = useLoaded(() => get<DocumentedError[]>('/errors'), [])
  const { value: rules, error, change } = useLoaded(() => get<Rule[]>('/faults', { world }), [world, news])
  const [operation, setOperation] = useState(PURCHASE)
  const [times, setTimes] = useState('1')
  const operations = useMemo(() => [...new Set(errors.map(({ method, path }) => `${method} ${path}`))].sort(), [errors])
  const add = (rule: object, title: string) => {
    const body = { ...rule, ...(times !== '' && { times: Number(times) }) }
    return change(() => ask('POST', '/faults', { world, body }), `Active: ${title}`)
  }
  const inject = ({ title, body, isDelivery }: NetworkFault) => {
    const [method, path] = operation.split(' ')
    return add({ ...body, ...(!isDelivery && operation !== '' && { match: { method, path } }) }, title)
  }
  const remove = (under: string, done: string) => change(() => ask('DELETE', `/faults${under}`, { world }), done)
  const removeAll = <Button text="Remove all" class="danger" onClick={() => remove('', 'Removed all faults')} />
  return (
    <div class="stack">
      <Failed error={error} />
      <Card title={`Active faults of ${world}`} aside={rules && rules.length > 0 && removeAll}>
        {rules?.length === 0 && <Empty>No active faults.</Empty>}
        <ul class="items">
          {(rules ?? []).map((rule) => (
            <li key={rule.id}>
              <RuleView rule={rule} />
              <Button
                text="Remove"
                aria-label={`Remove: ${effectOf(rule)}`}
                onClick={() => remove(`/${rule.id}`, `Removed: ${effectOf(rule)}`)}
              />
            </li>
          ))}
        </ul>
      </Card>
      <Card title="Network faults">
        <div class="line scope">
          <label>
            Requests{' '}
            <Select
              value={operation}
              options={[['', 'of any operation'], ...named(operations)]}
              onChoose={setOperation}
            />
          </label>
          <label>
            How often <Select value={times} options={Object.entries(TIMES)} onChoose={setTimes} />
          </label>
        </div>
        <ul class="choices">
          {NETWORK_FAULTS.map((fault) => (
            <li key={fault.title}>
              <h3>{fault.title}</h3>
              <p>{fault.about}</p>
              <Button text="Inject" aria-label={`Inject: ${fault.title}`} onClick={() => inject(fault)} />
            </li>
          ))}
        </ul>
      </Card>
      <DocumentedErrors
        errors={errors}
        onInject={({ name, method, path }, isAfter) =>
          add({ error: name, match: { method, path }, ...(isAfter && { when: 'after' }) }, name)
        }
      />
    </div>
  )
}

interface ErrorsProps {
  errors: readonly DocumentedError[]
  onInject: (error: DocumentedError, isAfter: boolean) => unknown
}

/** Every documented error, behind a search: there are hundreds. */
const DocumentedErrors = ({ errors, onInject }: ErrorsProps) => {
  const [typed, setTyped] = useState('')
  const [isAfter, setAfter] = useState(false)
  const entries = useMemo(() => errors.map(searched), [errors])
  const found = typed.trim() === '' ? [] : search(entries, termsIn(typed))
  return (
    <Card title="Documented errors">
      <div class="line">
        <Input
          type="search"
          aria-label="Search errors"
          placeholder={`Search ${errors.length} errors: balance, 404, orders`}
          value={typed}
          onText={setTyped}
        />
        <label>
          <input type="checkbox" checked={isAfter} onChange={(event) => setAfter(event.currentTarget.checked)} /> after
          the work
        </label>
      </div>
      {found.length === 0 && (
        <Empty>
          {typed === ''
            ? 'Type a name, a status or a path to find an error that the reference documents.'
            : 'No documented error matches.'}
        </Empty>
      )}
      <ul class="items found">
        {found.slice(0, SHOWN_ERRORS).map(({ error }) => (
          <li key={describe(error)}>
            <span class="error">
              <Status status={error.status} /> <span>{error.name}</span>
              <span class="soft mono">
                {error.method} {error.path}
              </span>
            </span>
            <Button
              text="Inject"
              aria-label={`Inject: ${error.name} for ${error.method} ${error.path}`}
              onClick={() => onInject(error, isAfter)}
            />
          </li>
        ))}
      </ul>
      {found.length > SHOWN_ERRORS && <p class="soft">{found.length - SHOWN_ERRORS} more: search for them</p>}
    </Card>
  )
}

const describe = ({ name, status, method, path }: DocumentedError): string => `${name} ${status} ${method} ${path}`

const searched = (error: DocumentedError): Searched & { error: DocumentedError } => {
  return { title: error.name, words: describe(error), text: messageOf(error.body) ?? '', error }
}
