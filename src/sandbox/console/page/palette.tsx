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
  choose: () => unknown
}

const SHOWN = 12
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

interface Props {
  place: Place
  pages: Readonly<Record<string, { title: string }>>
  worlds: readonly string[]
}

/** Ctrl+K: finds pages, worlds, operations and actions by a part of their names. */
export const Palette = (props: Props) => {
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
  const choices = useMemo(() => choicesOf(props, operations), [props, operations])
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
          const step = STEPS[event.key]
          if (event.key === 'Enter') choose(found[selected])
          if (step === undefined) return
          event.preventDefault()
          setSelected((selected + step + found.length) % Math.max(1, found.length))
        }}
      />
      <div id="found" role="listbox" aria-label="Results">
        {found.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
          <div
            key={`${choice.words} ${choice.title}`}
            id={`found-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === selected}
            onClick={() => choose(choice)}
          >
            <span class="soft">{choice.words}</span> {choice.title}
          </div>
        ))}
      </div>
      {found.length === 0 && <Empty>Nothing matches.</Empty>}
    </dialog>
  )
}

/** The actions of a world: an operation of the control API, and its body. */
const ACTIONS: readonly (readonly [title: string, method: string, path: string, body?: object])[] = [
  ['Advance the clock by 1 minute', 'POST', '/clock', { advance: 'PT1M' }],
  ['Advance the clock by 1 day', 'POST', '/clock', { advance: 'P1D' }],
  ['Freeze the clock', 'POST', '/clock', { frozen: true }],
  ['Let the clock run', 'POST', '/clock', { frozen: false }],
  ['Remove all faults', 'DELETE', '/faults'],
  ['Reset the world', 'POST', '/reset'],
]

const choicesOf = ({ place, pages, worlds }: Props, operations: readonly Entry[]): Choice[] => {
  const world = worldOf(place)
  const choice = (words: string, title: string, choose: () => unknown): Choice => ({ title, words, text: '', choose })
  return [
    ...Object.entries(pages).map(([page, { title }]) => choice('Page', title, () => go({ page, world: place.world }))),
    ...worlds.map((name) => choice('World', name, () => go({ page: place.page, world: name }))),
    ...ACTIONS.map(([title, method, path, body]) =>
      choice('Action', `${title} (${world})`, () =>
        act(() => ask(method, path, { world, body }), `${title}: ${world}`),
      ),
    ),
    choice('Action', 'Pause or resume the list', () => store.pause(!store.isPaused)),
    ...operations.map(({ method, path, operation: { operationId, summary } }) =>
      choice('Send', `${summary} — ${method} ${path}`, () => go({ page: 'send', world, operation: operationId })),
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
