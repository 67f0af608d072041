import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { counted } from '../../../../kernel/counted.ts'
import { Button, Input } from '../../../../pages/ui/forms.tsx'
import { useKeys, useLoaded } from '../../../../pages/ui/hooks.ts'
import { act, saveFile } from '../../../../pages/ui/notices.tsx'
import { Code } from '../../../../pages/ui/pieces.tsx'
import { go, hrefOf, keepPlace, type Place } from '../../../../pages/ui/place.ts'
import { askText, get } from '../api.ts'
import { ALL_WORLDS, worldOf } from '../place.ts'
import { REQUESTS_MAX, store, useNews, useStore } from '../store.ts'
import type { RequestHead } from '../types.ts'
import { FIELDS, filterOf, unknownFieldIn, wordsIn } from './filter.ts'
import { List } from './list.tsx'
import { RequestView } from './request.tsx'

/** The filters with a button. */
const FILTERS = { All: '', OK: 'status:ok', '4xx': 'status:4xx', '5xx': 'status:5xx', Writes: 'changed:any' } as const

const keyOf = ({ world, id }: RequestHead): string => `${world} ${id}`

/** Sends a key to the list, wherever the focus is. */
const toList = (key: string): void => {
  const list = document.querySelector<HTMLElement>('.list')
  list?.focus()
  list?.dispatchEvent(new KeyboardEvent('keydown', { key }))
}

/** The requests as they arrive, and the open one. */
export const Requests = ({ place }: { place: Place }) => {
  const { requests, isRead, isPaused, waiting } = useStore()
  const { id, of = worldOf(place), q: filter = '' } = place
  const [typed, setTyped] = useState(filter)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setTyped(filter), [place])
  const bodies = useBodies(typed, place)
  const shown = useMemo(
    () => requests.filter(filterOf(typed, (word, request) => bodies?.get(word)?.has(keyOf(request)) ?? false)),
    [requests, typed, bodies],
  )
  const look = (changed: Partial<Place>): void => go({ ...place, q: typed, ...changed })
  const close = (): void => look({ id: undefined, of: undefined })
  const filterBy = (text: string): void => {
    setTyped(text)
    keepPlace({ ...place, q: text })
  }
  useKeys(
    {
      '/': () => field.current?.focus(),
      p: () => store.pause(!store.isPaused),
      ...Object.fromEntries(['j', 'k', 'ArrowDown', 'ArrowUp'].map((key) => [key, () => toList(key)])),
      ...(id !== undefined && { Escape: close }),
    },
    [place, typed],
  )
  const all = `${requests.length === REQUESTS_MAX ? 'the newest ' : ''}${counted(requests.length, 'request')}`
  return (
    <div class={`requests ${id === undefined ? '' : 'opened'}`}>
      <section class="feed" aria-label="Requests">
        <div class="line tools">
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
            {Object.entries(FIELDS).map(([name, { about }]) => (
              <option key={name} value={`${name}:`}>
                {about}
              </option>
            ))}
          </datalist>
          <fieldset class="line" aria-label="Show">
            {Object.entries(FILTERS).map(([name, q]) => (
              <Button key={name} text={name} aria-pressed={typed === q} onClick={() => look({ q })} />
            ))}
          </fieldset>
          <Button
            text={isPaused && waiting > 0 ? `Resume · ${waiting}` : isPaused ? 'Resume' : 'Pause'}
            aria-pressed={isPaused}
            title="Pause (p)"
            onClick={() => store.pause(!isPaused)}
          />
          <Button text="Clear" onClick={() => store.clear()} />
          <Button text="Save as scenario" disabled={shown.length === 0} onClick={() => saveScenario(shown)} />
          <span class="soft" title="The log of each world keeps its last 1,000 requests, of at most 4 MiB together.">
            {shown.length === requests.length ? all : `${shown.length.toLocaleString('en')} of ${all}`}
          </span>
        </div>
        {shown.length > 0 ? (
          <List
            requests={shown}
            selected={id === undefined ? -1 : shown.findIndex((request) => keyOf(request) === `${of} ${id}`)}
            onSelect={(request) => look({ id: String(request.id), of: request.world })}
          />
        ) : requests.length > 0 ? (
          <NoMatch filter={typed} />
        ) : (
          <NoRequests isRead={isRead} world={worldOf(place)} />
        )}
      </section>
      {id !== undefined && <RequestView key={`${of} ${id}`} id={id} world={of} place={place} onClose={close} />}
    </div>
  )
}

/** Saves the scenario that makes the records of these requests again, in a fresh world. */
const saveScenario = (shown: readonly RequestHead[]): Promise<boolean> =>
  act(async () => {
    const [world = '', ...others] = new Set(shown.map((request) => request.world))
    if (others.length > 0) throw new Error('A scenario is of one world. Choose the world, or filter by it: world:NAME')
    const ids = shown.map(({ id }) => id).join(',')
    const text = await askText('GET', '/requests', {
      world,
      query: { format: 'scenario', ids, limit: String(REQUESTS_MAX) },
    })
    saveFile(`${world}.json`, new Blob([text], { type: 'application/json' }))
  }, 'Saved as a scenario, for --scenario')

/** The keys of the requests whose bodies contain a word of the filter, by word. */
const useBodies = (filter: string, { world = ALL_WORLDS }: Place): Map<string, Set<string>> | undefined => {
  const newest = useNews(() => (store.requests[0] ? keyOf(store.requests[0]) : ''))
  const keysOf = async (text: string): Promise<[string, Set<string>]> => {
    const query = { limit: String(REQUESTS_MAX), bodies: 'false', search: text }
    return [text, new Set((await get<RequestHead[]>('/requests', { world, query })).map(keyOf))]
  }
  const load = async () => new Map(await Promise.all(wordsIn(filter).map(keysOf)))
  return useLoaded(load, [filter, world, newest]).value
}

const NoMatch = ({ filter }: { filter: string }) => {
  const unknown = unknownFieldIn(filter)
  const fields = unknown && ` There is no field ${unknown}: the fields are ${Object.keys(FIELDS).join(', ')}.`
  return <p class="lost">No request matches the filter.{fields}</p>
}

const NoRequests = ({ isRead, world }: { isRead: boolean; world: string }) => {
  if (!isRead) return <p class="lost">Reading…</p>
  return (
    <div class="lost">
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
