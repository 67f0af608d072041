import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { counted } from '../../../../pages/amounts.ts'
import { Button, Input } from '../../../../pages/ui/forms.tsx'
import { useKeys, useLoaded } from '../../../../pages/ui/hooks.ts'
import { Code } from '../../../../pages/ui/pieces.tsx'
import { get } from '../api.ts'
import { List } from '../list.tsx'
import { go, hrefOf, keepPlace, type Place, worldOf } from '../place.ts'
import { REQUESTS_MAX, type Row, store, useNews, useStore } from '../store.ts'
import type { RequestHead } from '../types.ts'
import { FIELDS, filterOf, unknownFieldIn, valueIn, withValue, wordsIn } from './filter.ts'
import { RequestView } from './request.tsx'
import { Headings, RowView } from './row.tsx'

/** The filters with a button. */
const KINDS = {
  OK: { field: 'status', value: 'ok' },
  '4xx': { field: 'status', value: '4xx' },
  '5xx': { field: 'status', value: '5xx' },
  Writes: { field: 'changed', value: 'any' },
} as const

const keyOfHead = ({ world, id }: RequestHead): string => `${world} ${id}`
const keyOf = ({ head }: Row): string => keyOfHead(head)

/** Sends a key to the list, wherever the focus is. */
const toList = (key: string): void => {
  const list = document.querySelector<HTMLElement>('.list')
  list?.focus()
  list?.dispatchEvent(new KeyboardEvent('keydown', { key }))
}

/** The requests as they arrive, and the open one. */
export const Requests = ({ place }: { place: Place }) => {
  const { rows, isRead, isPaused, waiting } = useStore()
  const filter = place.filter ?? ''
  const [typed, setTyped] = useState(filter)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setTyped(filter), [place])

  const bodies = useBodies(typed, place)
  const shown = useMemo(() => {
    if (typed === '') return rows
    return rows.filter(filterOf(typed, (word, row) => bodies?.get(word)?.has(keyOf(row)) ?? false))
  }, [rows, typed, bodies])

  const look = (changed: Partial<Place>): void => go({ ...place, filter: typed, ...changed })
  const close = (): void => look({ id: undefined, idWorld: undefined })
  const filterBy = (text: string): void => {
    setTyped(text)
    keepPlace({ ...place, filter: text })
  }
  useKeys(
    {
      '/': () => field.current?.focus(),
      p: () => store.pause(!store.isPaused),
      ...Object.fromEntries(['j', 'k', 'ArrowDown', 'ArrowUp'].map((key) => [key, () => toList(key)])),
      ...(place.id !== undefined && { Escape: close }),
    },
    [place, typed],
  )
  const open = `${place.idWorld ?? place.world} ${place.id}`
  const selected = place.id === undefined ? -1 : shown.findIndex((row) => keyOf(row) === open)
  const list = (
    <section class="feed" aria-label="Requests">
      <div class="tools">
        <Input
          ref={field}
          type="search"
          aria-label="Search requests"
          placeholder="status:4xx path:/orders world:a  (/)"
          list="filters"
          value={typed}
          onText={filterBy}
          onKeyDown={({ key }) => {
            if (key === 'ArrowDown' || key === 'Enter') toList('ArrowDown')
          }}
        />
        <datalist id="filters">
          {Object.entries(FIELDS).map(([name, about]) => (
            <option key={name} value={`${name}:`}>
              {about}
            </option>
          ))}
        </datalist>
        <fieldset class="toggle" aria-label="Show">
          <Button text="All" aria-pressed={typed === ''} onClick={() => look({ filter: undefined })} />
          {Object.entries(KINDS).map(([name, { field: of, value }]) => {
            const isSet = valueIn(typed, of) === value
            const turned = withValue(typed, of, isSet ? undefined : value)
            return <Button key={name} text={name} aria-pressed={isSet} onClick={() => look({ filter: turned })} />
          })}
        </fieldset>
        <Button
          text={isPaused ? `Resume${waiting > 0 ? ` · ${waiting}` : ''}` : 'Pause'}
          aria-pressed={isPaused}
          title="Pause (p)"
          onClick={() => store.pause(!isPaused)}
        />
        <Button text="Clear" onClick={() => store.clear()} />
        <Count shown={shown} rows={rows} />
      </div>
      {shown.length === 0 ? (
        <Nothing isRead={isRead} filter={rows.length > 0 ? typed : undefined} world={worldOf(place)} />
      ) : (
        <>
          <Headings />
          <List
            items={shown}
            label="Requests, the newest first"
            selected={selected}
            keyOf={keyOf}
            onSelect={({ head: { id, world } }) => look({ id, idWorld: world })}
            draw={RowView}
          />
        </>
      )}
    </section>
  )
  return (
    <div class={`requests ${place.id === undefined ? '' : 'opened'}`}>
      {list}
      {place.id !== undefined && (
        <RequestView key={open} id={place.id} world={place.idWorld ?? worldOf(place)} place={place} onClose={close} />
      )}
    </div>
  )
}

/** The keys of the requests whose bodies contain a word of the filter, by word. */
const useBodies = (filter: string, { world }: Place): Map<string, Set<string>> | undefined => {
  const newest = useNews(() => (store.rows[0] ? keyOf(store.rows[0]) : ''))
  const keysOf = async (text: string): Promise<[string, Set<string>]> => {
    const query = { limit: String(REQUESTS_MAX), bodies: 'false', text }
    const heads = await get<RequestHead[]>('/requests', { world, query })
    return [text, new Set(heads.map(keyOfHead))]
  }
  const load = async () => new Map(await Promise.all(wordsIn(filter).map(keysOf)))
  return useLoaded(load, [filter, world, newest]).value
}

/** The number of shown requests, and of all. */
const Count = ({ shown, rows }: { shown: readonly Row[]; rows: readonly Row[] }) => {
  const all = `${rows.length === REQUESTS_MAX ? 'the newest ' : ''}${counted(rows.length, 'request')}`
  return (
    <span class="soft count" title="The log of each world keeps its last 1,000 requests, of at most 4 MiB together.">
      {shown.length === rows.length ? all : `${shown.length.toLocaleString('en')} of ${all}`}
    </span>
  )
}

interface NothingProps {
  isRead: boolean
  filter: string | undefined
  world: string
}

const Nothing = ({ isRead, filter, world }: NothingProps) => {
  if (filter !== undefined) {
    const unknown = unknownFieldIn(filter)
    const fields = unknown && ` There is no field ${unknown}: the fields are ${Object.keys(FIELDS).join(', ')}.`
    return <p class="empty">No request matches the filter.{fields}</p>
  }
  if (!isRead) return <p class="empty">Reading…</p>
  return (
    <div class="empty">
      <p>No requests yet. Send one, and it appears here:</p>
      <Code label="A first request">
        <code>{`curl ${location.origin}/auth/login -d '{"username":"${world === 'default' ? 'sandbox' : `sbx_${world}`}","password":"sandbox"}'`}</code>
      </Code>
      <p>
        Or <a href={hrefOf({ page: 'send', world })}>send one from here</a>.
      </p>
    </div>
  )
}
