import { useMemo, useRef, useState } from 'preact/hooks'
import type { Entry } from '../../../docs/document.ts'
import { type Searched, search, termsIn } from '../../../pages/search.ts'
import { Button, Input } from '../../../pages/ui/forms.tsx'
import { useKeys, useListener } from '../../../pages/ui/hooks.ts'
import { act } from '../../../pages/ui/notices.tsx'
import { Empty } from '../../../pages/ui/pieces.tsx'
import { ask } from './api.ts'
import { go, type Place, worldOf } from './place.ts'
import { readOperations } from './send/operations.ts'
import { store } from './store.ts'

interface Choice extends Searched {
  kind: string
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
  const [typed, setTyped] = useState('')
  const [selected, setSelected] = useState(0)
  const [operations, setOperations] = useState<readonly Entry[]>([])
  const find = (text: string): void => {
    setTyped(text)
    setSelected(0)
  }
  useListener(window, 'keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    find('')
    dialog.current?.showModal()
    void readOperations().then(setOperations)
  })
  const world = worldOf(place)
  const choices = useMemo(
    () => choicesOf({ place, pages, worlds }, world, operations),
    [place, pages, worlds, world, operations],
  )
  const found = useMemo(() => search(choices, termsIn(typed)).slice(0, SHOWN), [choices, typed])
  const choose = (choice: Choice | undefined): void => {
    if (!choice) return
    dialog.current?.close()
    choice.choose()
  }
  return (
    <dialog ref={dialog} class="palette" aria-label="Find a page, a world, an operation or an action">
      <Input
        type="search"
        aria-label="Find"
        aria-controls="found"
        aria-activedescendant={found[selected] && `found-${selected}`}
        placeholder="Find a page, a world, an operation or an action"
        value={typed}
        onText={find}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : undefined
          if (step !== undefined) {
            event.preventDefault()
            setSelected((selected + step + found.length) % Math.max(1, found.length))
          } else if (event.key === 'Enter') choose(found[selected])
        }}
      />
      <div id="found" role="listbox" aria-label="Results">
        {found.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
          <div
            key={describe(choice)}
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
      {found.length === 0 && <Empty>Nothing matches.</Empty>}
    </dialog>
  )
}

const describe = ({ kind, title }: Choice): string => `${kind} ${title}`

const choiceOf = (kind: string, title: string, choose: () => unknown): Choice => {
  return { kind, title, words: kind, text: '', choose }
}

const CLOCK_MOVES = [
  { title: 'Advance the clock by 1 minute', body: { advance: 'PT1M' } },
  { title: 'Advance the clock by 1 day', body: { advance: 'P1D' } },
  { title: 'Freeze the clock', body: { frozen: true } },
  { title: 'Let the clock run', body: { frozen: false } },
]

const choicesOf = ({ place, pages, worlds }: Props, world: string, operations: readonly Entry[]): Choice[] => {
  const action = (title: string, choose: () => unknown): Choice => choiceOf('Action', title, choose)
  return [
    ...Object.entries(pages).map(([page, title]) => choiceOf('Page', title, () => go({ page, world: place.world }))),
    ...worlds.map((name) => choiceOf('World', name, () => go({ page: place.page, world: name }))),
    ...CLOCK_MOVES.map(({ title, body }) =>
      action(`${title} in ${world}`, () => act(() => ask('POST', '/clock', { world, body }), `${title}: ${world}`)),
    ),
    action(`Remove all faults of ${world}`, () => act(() => ask('DELETE', '/faults', { world }), 'Removed all faults')),
    action(`Reset ${world}`, () => act(() => ask('POST', '/reset', { world }), `Reset ${world}`)),
    action('Pause or resume the list', () => store.pause(!store.isPaused)),
    ...operations.map(({ method, path, operation: { operationId, summary } }) =>
      choiceOf('Send', `${summary} — ${method} ${path}`, () => go({ page: 'send', world, operation: operationId })),
    ),
  ]
}

const KEYS = {
  '/': 'Search the requests',
  'j, ↓': 'Next request',
  'k, ↑': 'Previous request',
  p: 'Pause or resume the list',
  Escape: 'Close the open request',
  'Ctrl+K': 'Find a page, a world, an operation or an action',
  '?': 'Show the keys',
} as const

/** The keys of the console, at a question mark. */
export const Keys = () => {
  const dialog = useRef<HTMLDialogElement>(null)
  useKeys({ '?': () => dialog.current?.showModal() })
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
      <Button text="Close" onClick={() => dialog.current?.close()} />
    </dialog>
  )
}
