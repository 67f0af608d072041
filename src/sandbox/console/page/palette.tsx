import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ask } from './api.ts'
import { go, type Place, worldOf } from './place.ts'
import { type Operation, readOperations } from './send/operations.ts'
import { store } from './store.ts'
import { act, whenKeyIsPressed } from './ui.tsx'

interface Choice {
  kind: string
  title: string
  choose: () => unknown
}

const SHOWN = 12

interface Props {
  place: Place
  pages: Record<string, string>
  worlds: readonly string[]
}

/** Ctrl+K: finds pages, worlds, operations and actions by a part of their names. */
export const Palette = ({ place, pages, worlds }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const [search, setSearch] = useState('')
  const [selected, setSelected] = useState(0)
  const [operations, setOperations] = useState<readonly Operation[]>([])
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setSearch('')
      setSelected(0)
      dialog.current?.showModal()
      void readOperations().then(setOperations)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const world = worldOf(place)
  const choices = useMemo(
    () => choicesOf({ place, pages, worlds }, world, operations),
    [place, pages, worlds, world, operations],
  )
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean)
    const fits = ({ kind, title }: Choice) => words.every((word) => `${kind} ${title}`.toLowerCase().includes(word))
    return choices.filter(fits).slice(0, SHOWN)
  }, [choices, search])
  const choose = (choice: Choice | undefined): void => {
    if (!choice) return
    dialog.current?.close()
    choice.choose()
  }
  return (
    <dialog ref={dialog} class="palette" aria-label="Find a page, a world, an operation or an action">
      <input
        type="search"
        aria-label="Find"
        aria-controls="found"
        aria-activedescendant={found[selected] && `found-${selected}`}
        placeholder="Find a page, a world, an operation or an action"
        value={search}
        onInput={(event) => {
          setSearch(event.currentTarget.value)
          setSelected(0)
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : undefined
          if (step !== undefined) {
            event.preventDefault()
            setSelected((selected + step + found.length) % Math.max(1, found.length))
          } else if (event.key === 'Enter') choose(found[selected])
        }}
      />
      <div id="found" role="listbox" aria-label="What was found">
        {found.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
          <div
            key={`${choice.kind} ${choice.title}`}
            id={`found-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === selected}
            onClick={() => choose(choice)}
          >
            <span class="soft">{choice.kind}</span> {choice.title}
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="empty">Nothing matches.</p>}
    </dialog>
  )
}

const choicesOf = ({ place, pages, worlds }: Props, world: string, operations: readonly Operation[]): Choice[] => [
  ...Object.entries(pages).map(([page, title]) => ({
    kind: 'Page',
    title,
    choose: () => go({ page, world: place.world }),
  })),
  ...worlds.map((name) => ({ kind: 'World', title: name, choose: () => go({ page: place.page, world: name }) })),
  ...[
    ['Advance the clock by 1 minute', { advance: 'PT1M' }] as const,
    ['Advance the clock by 1 day', { advance: 'P1D' }] as const,
    ['Freeze the clock', { frozen: true }] as const,
    ['Let the clock run', { frozen: false }] as const,
  ].map(([title, body]) => ({
    kind: 'Action',
    title: `${title} in ${world}`,
    choose: () => act(() => ask('POST', '/clock', { world, body }), `${title}: ${world}`),
  })),
  {
    kind: 'Action',
    title: `Remove all faults of ${world}`,
    choose: () => act(() => ask('DELETE', '/faults', { world }), 'Removed all faults'),
  },
  {
    kind: 'Action',
    title: `Reset ${world}`,
    choose: () => act(() => ask('POST', '/reset', { world }), `Reset ${world}`),
  },
  { kind: 'Action', title: 'Pause or resume the list', choose: () => store.pause(!store.isPaused) },
  ...operations.map(({ id, method, path, summary }) => ({
    kind: 'Send',
    title: `${summary} — ${method} ${path}`,
    choose: () => go({ page: 'send', world, operation: id }),
  })),
]

const KEYS = {
  '/': 'Search the requests',
  'j, ↓': 'Next request',
  'k, ↑': 'Previous request',
  '←, →': 'Close or open all groups',
  p: 'Pause or resume the list',
  Escape: 'Close the open request',
  'Ctrl+K': 'Find a page, a world, an operation or an action',
  '?': 'Show the keys',
} as const

/** The keys of the console, at a question mark. */
export const Keys = () => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => whenKeyIsPressed({ '?': () => dialog.current?.showModal() }), [])
  return (
    <dialog ref={dialog} class="keys" aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {Object.entries(KEYS).map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  )
}
