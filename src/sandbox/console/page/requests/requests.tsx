import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { VirtualList } from '../list.tsx'
import { go, type Place, worldOf } from '../place.ts'
import { type Row, store, useStore } from '../store.ts'
import { Code, clockTime, ms, Status, visible } from '../ui.tsx'
import { RequestView } from './request.tsx'

const KINDS = {
  All: () => true,
  OK: ({ head }: Row) => head.response.status >= 200 && head.response.status < 400,
  '4xx': ({ head }: Row) => Math.floor(head.response.status / 100) === 4,
  '5xx': ({ head }: Row) => head.response.status >= 500 || head.response.status === 0,
  Writes: ({ head }: Row) => head.changes.length > 0,
} satisfies Record<string, (row: Row) => boolean>
type Kind = keyof typeof KINDS

const keyOf = ({ head }: Row): string => `${head.world} ${head.id}`

/** Rows are taller where there is no room for columns. */
const useRowHeight = (): number => {
  const [narrow] = useState(() => matchMedia('(max-width: 760px)'))
  const [isNarrow, setNarrow] = useState(narrow.matches)
  useEffect(() => {
    const onChange = () => setNarrow(narrow.matches)
    narrow.addEventListener('change', onChange)
    return () => narrow.removeEventListener('change', onChange)
  }, [narrow])
  return isNarrow ? 58 : 34
}

const RowView = ({ head }: Row) => (
  <>
    <span class={`method m-${head.method.toLowerCase()}`}>{head.method}</span>
    <span class="path">{visible(head.path)}</span>
    <span class="outcome">{head.outcome === 'success' ? '' : (head.outcome ?? '')}</span>
    <span class="world">{head.world}</span>
    <span class="duration">{ms(head.duration_ms)}</span>
    <span class="at">{clockTime(head.at)}</span>
    <Status status={head.response.status} />
  </>
)

const drawRow = (row: Row) => <RowView {...row} />

/** What the requests of all worlds look like as they come, and one of them opened. */
export const Requests = ({ place }: { place: Place }) => {
  const { rows, isPaused, waiting, skipped } = useStore()
  const [search, setSearch] = useState('')
  const [kind, setKind] = useState<Kind>('All')
  const field = useRef<HTMLInputElement>(null)
  const rowHeight = useRowHeight()

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
      if (event.key === 'Escape' && place.id !== undefined) go({ page: 'requests', world: place.world })
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === '/') {
        event.preventDefault()
        field.current?.focus()
      } else if (event.key === 'p') store.pause(!store.isPaused)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [place])

  const shown = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean)
    const fits = KINDS[kind]
    return words.length === 0 && kind === 'All'
      ? rows
      : rows.filter((row) => fits(row) && words.every((word) => row.text.includes(word)))
  }, [rows, search, kind])

  const open = `${place.idWorld ?? place.world} ${place.id}`
  const selected = place.id === undefined ? -1 : shown.findIndex((row) => keyOf(row) === open)
  return (
    <div class={place.id === undefined ? 'requests' : 'requests opened'}>
      <section class="feed" aria-label="Requests">
        <div class="tools">
          <input
            ref={field}
            type="search"
            aria-label="Search requests"
            placeholder="Search path, error, world, request id  (/)"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
          <fieldset class="toggle" aria-label="Show">
            {(Object.keys(KINDS) as Kind[]).map((each) => (
              <button key={each} type="button" aria-pressed={kind === each} onClick={() => setKind(each)}>
                {each}
              </button>
            ))}
          </fieldset>
          <button type="button" aria-pressed={isPaused} title="Pause (p)" onClick={() => store.pause(!isPaused)}>
            {isPaused ? `Resume${waiting > 0 ? ` · ${waiting}` : ''}` : 'Pause'}
          </button>
          <button type="button" onClick={() => store.clear()}>
            Clear
          </button>
          <span class="soft count">
            {shown.length.toLocaleString('en')} {shown.length === 1 ? 'request' : 'requests'}
            {skipped > 0 && `, ${skipped.toLocaleString('en')} came too fast to be shown`}
          </span>
        </div>
        {shown.length === 0 ? (
          <FirstRequest isFiltered={rows.length > 0} world={worldOf(place)} />
        ) : (
          <VirtualList
            items={shown}
            label="Requests, the newest first"
            rowHeight={rowHeight}
            selected={selected}
            keyOf={keyOf}
            onSelect={({ head }) => go({ page: 'requests', world: place.world, id: head.id, idWorld: head.world })}
            draw={drawRow}
          />
        )}
      </section>
      {place.id !== undefined && (
        <RequestView key={open} id={place.id} world={place.idWorld ?? worldOf(place)} place={place} />
      )}
    </div>
  )
}

const FirstRequest = ({ isFiltered, world }: { isFiltered: boolean; world: string }) =>
  isFiltered ? (
    <p class="empty">No request fits.</p>
  ) : (
    <div class="empty">
      <p>No requests yet. Send one, and it appears here:</p>
      <Code label="A first request">
        <code>{`curl ${location.origin}/auth/login -d '{"username":"${world === 'default' ? 'sandbox' : `sbx_${world}`}","password":"sandbox"}'`}</code>
      </Code>
    </div>
  )
