import { render } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button, Field, Form, named, Select } from '../../../pages/ui/forms.tsx'
import { useLoaded } from '../../../pages/ui/hooks.ts'
import { Notices } from '../../../pages/ui/notices.tsx'
import { Theme } from '../../../pages/ui/theme.tsx'
import { get, keepToken, whenTokenIsMissing } from './api.ts'
import { CoveragePage } from './coverage.tsx'
import { Events } from './events/events.tsx'
import { Faults } from './faults/faults.tsx'
import { ActiveFaults } from './faults/rule.tsx'
import { Money } from './money/money.tsx'
import { Keys, Palette } from './palette.tsx'
import { ALL_WORLDS, go, hrefOf, type Place, showsAll, usePlace } from './place.ts'
import { Requests } from './requests/requests.tsx'
import { Send } from './send/send.tsx'
import { store, useStore } from './store.ts'
import type { World } from './types.ts'
import { Worlds } from './worlds/worlds.tsx'

const PAGES: Record<string, string> = {
  requests: 'Requests',
  faults: 'Faults',
  events: 'Webhooks',
  money: 'Orders & money',
  worlds: 'Worlds',
  send: 'Send',
  coverage: 'Coverage',
}

const Shown = ({ place }: { place: Place }) => {
  switch (place.page) {
    case 'worlds':
      return <Worlds place={place} />
    case 'faults':
      return <Faults key={place.world} place={place} />
    case 'money':
      return <Money place={place} />
    case 'events':
      return <Events place={place} />
    case 'send':
      return <Send place={place} />
    case 'coverage':
      return <CoveragePage place={place} />
    default:
      return <Requests place={place} />
  }
}

const CONNECTIONS = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting' } as const

/** On a narrow screen it scrolls sideways to the page that is shown. */
const Menu = ({ place: { page: shown, world } }: { place: Place }) => {
  const menu = useRef<HTMLElement>(null)
  useLayoutEffect(() => menu.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }), [shown])
  return (
    <nav aria-label="Console" ref={menu}>
      {Object.entries(PAGES).map(([page, name]) => (
        <a key={page} href={hrefOf({ page, world })} aria-current={page === shown ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  )
}

interface WorldsProps {
  place: Place
  worlds: readonly string[]
  /** Called when the choice is opened: worlds come and go. */
  onLook: () => void
}

/** The choice of the world. Its list is read again when it is opened. */
const WorldChoice = ({ place: { page, world }, worlds, onLook }: WorldsProps) => {
  const isListed = world === ALL_WORLDS || worlds.includes(world)
  const all = showsAll(page) ? ([[ALL_WORLDS, 'All worlds']] as const) : []
  return (
    <Select
      aria-label="World"
      class="world-choice"
      value={world}
      options={[...all, ...named(isListed ? worlds : [world, ...worlds])]}
      onFocus={onLook}
      onChoose={(name) => go({ page, world: name })}
    />
  )
}

/** The page of a world that does not exist yet, or was dropped. */
const UnknownWorld = ({ place: { world }, worlds, onLook }: WorldsProps) => (
  <div class="lost">
    <h2>There is no world {world}</h2>
    <p>A world is made when a client logs in as sbx_{world}, or on the page of worlds.</p>
    <p class="line">
      <Button text="Check again" onClick={onLook} />
      <a href={hrefOf({ page: 'worlds', world: 'default' })}>All {worlds.length} worlds</a>
    </p>
  </div>
)

const TokenForm = ({ onKept }: { onKept: () => void }) => {
  const [token, setToken] = useState('')
  const keep = () => {
    keepToken(token)
    onKept()
  }
  return (
    <main class="lost">
      <h1>This sandbox has a token</h1>
      <p>It is what the server was started with as --sandbox-token. It is kept for this tab only.</p>
      <Form class="form" onSubmit={keep}>
        <Field label="Token" type="password" autocomplete="off" required value={token} onText={setToken} />
        <button type="submit" class="primary">
          Open the console
        </button>
      </Form>
    </main>
  )
}

const Console = () => {
  const place = usePlace()
  const [needsToken, setNeedsToken] = useState(false)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    whenTokenIsMissing(() => setNeedsToken(true))
    if (needsToken) return
    get('').then(
      () => setOpen(true),
      () => undefined,
    )
  }, [needsToken])
  const { connection } = useStore()
  const { value: listed, reload } = useLoaded(
    async () => (isOpen ? (await get<World[]>('/worlds')).map(({ name }) => name) : undefined),
    [isOpen, place.page, place.world, connection],
  )
  const worlds = listed ?? []
  const isUnknown = place.world !== ALL_WORLDS && !worlds.includes(place.world)
  useEffect(() => {
    if (listed !== undefined) store.open(isUnknown ? undefined : place.world)
  }, [listed, isUnknown, place.world])
  const title = (Object.hasOwn(PAGES, place.page) && PAGES[place.page]) || 'Requests'
  useEffect(() => {
    document.title = `${title} · Scrip console`
  }, [title])
  if (needsToken) return <TokenForm onKept={() => setNeedsToken(false)} />
  if (listed === undefined) return null
  return (
    <>
      <Button text="Skip to content" class="skip" onClick={() => document.getElementById('main')?.focus()} />
      <header class="top">
        <a class="brand" href="/">
          Scrip
        </a>
        <Menu place={place} />
        <div class="side">
          {!isUnknown && <ActiveFaults place={place} />}
          <WorldChoice place={place} worlds={worlds} onLook={reload} />
          {!isUnknown && (
            <span class={`connection ${connection}`} role="status">
              {CONNECTIONS[connection]}
            </span>
          )}
          <Theme />
        </div>
      </header>
      <main id="main" tabIndex={-1} class={`page-${place.page}`}>
        <h1 class="hidden">{title}</h1>
        {isUnknown ? <UnknownWorld place={place} worlds={worlds} onLook={reload} /> : <Shown place={place} />}
      </main>
      <Palette place={place} pages={PAGES} worlds={worlds} />
      <Keys />
      <Notices />
    </>
  )
}

const root = document.getElementById('console')
if (root) render(<Console />, root)
