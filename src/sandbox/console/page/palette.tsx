import { useRef } from 'preact/hooks'
import { type Choice, Finder } from '../../../pages/ui/finder.tsx'
import { Button } from '../../../pages/ui/forms.tsx'
import { useKeys } from '../../../pages/ui/hooks.ts'
import { act } from '../../../pages/ui/notices.tsx'
import { go, type Place } from '../../../pages/ui/place.ts'
import { ask } from './api.ts'
import { NETWORK_FAULTS } from './faults/network.ts'
import { worldFor, worldOf } from './place.ts'
import { readOperations } from './send/operations.ts'
import { store } from './store.ts'

interface Props {
  place: Place
  pages: Readonly<Record<string, { title: string }>>
  worlds: readonly string[]
}

/** Finds pages, worlds, operations and actions by a part of their names. */
export const Palette = (props: Props) => (
  <Finder label="Find a page, a world, an operation, a fault or an action" load={() => choicesOf(props)} />
)

/** The actions of a world: an operation of the control API, and its body. */
const ACTIONS: readonly (readonly [title: string, method: string, path: string, body?: object])[] = [
  ['Advance the clock by 1 minute', 'POST', '/clock', { advance: 'PT1M' }],
  ['Advance the clock by 1 day', 'POST', '/clock', { advance: 'P1D' }],
  ['Freeze the clock', 'POST', '/clock', { frozen: true }],
  ['Let the clock run', 'POST', '/clock', { frozen: false }],
  ['Remove all faults', 'DELETE', '/faults'],
  ['Reset the world', 'POST', '/reset'],
]

const choicesOf = async ({ place, pages, worlds }: Props): Promise<Choice[]> => {
  const world = worldOf(place)
  const operations = await readOperations()
  const choice = (kind: string, title: string, choose: () => unknown): Choice => {
    return { kind, title, words: kind, text: '', choose }
  }
  return [
    ...Object.entries(pages).map(([page, { title }]) =>
      choice('Page', title, () => go({ page, world: worldFor(page, place) })),
    ),
    ...worlds.map((name) => choice('World', name, () => go({ page: place.page, world: name }))),
    ...ACTIONS.map(([title, method, path, body]) =>
      choice('Action', `${title} in ${world}`, () =>
        act(() => ask(method, path, { world, body }), `${title}: ${world}`),
      ),
    ),
    ...NETWORK_FAULTS.map(({ title, about }) => ({
      kind: `Fault for ${world}`,
      title,
      words: 'fault inject',
      text: about,
      choose: () => go({ page: 'faults', world, q: title }),
    })),
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
  'Ctrl+K': 'Find a page, a world, an operation, a fault or an action',
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
