import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { get, keepToken, whenTokenIsMissing } from './api.ts'
import { CoveragePage } from './coverage.tsx'
import { Events } from './events/events.tsx'
import { Faults } from './faults/faults.tsx'
import { ActiveFaults } from './faults/rule.tsx'
import { JsonPage } from './json.tsx'
import { Money } from './money/money.tsx'
import { Keys, Palette } from './palette.tsx'
import { ALL_WORLDS, go, hrefOf, openAddress, type Place, showsAll, usePlace, worldOf } from './place.ts'
import { RequestView } from './requests/request.tsx'
import { Requests } from './requests/requests.tsx'
import { Send } from './send/send.tsx'
import { store, useStore } from './store.ts'
import { Theme } from './theme.tsx'
import { useTitle } from './title.ts'
import type { World } from './types.ts'
import { Notices, useLoaded } from './ui.tsx'
import { Worlds } from './worlds/worlds.tsx'

const PAGES = {
  requests: 'Requests',
  faults: 'Faults',
  events: 'Webhooks',
  money: 'Money',
  worlds: 'Worlds',
  send: 'Send',
  coverage: 'Coverage',
} as const
type Page = keyof typeof PAGES

const Shown = ({ place }: { place: Place }) => {
  switch (place.page as Page | 'json' | 'request') {
    case 'json':
      return <JsonPage key={place.path} path={place.path ?? '/_sandbox'} />
    case 'request':
      return (
        <div class="single">
          <RequestView key={place.id} id={place.id ?? 0} world={worldOf(place)} place={place} />
        </div>
      )
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

const titleOf = (page: string): string =>
  page === 'request' ? 'Request' : page === 'json' ? 'Response' : (PAGES[page as Page] ?? 'Requests')

const CONNECTIONS = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting' } as const

const Connection = () => {
  const { connection } = useStore()
  return (
    <span class={`connection ${connection}`} role="status">
      {CONNECTIONS[connection]}
    </span>
  )
}

interface ChoiceProps {
  place: Place
  worlds: readonly string[]
  onOpen: () => void
}

/** Which world is looked at. Worlds come and go, so the list is read again when it is opened. */
const WorldChoice = ({ place, worlds, onOpen }: ChoiceProps) => {
  const isListed = place.world === ALL_WORLDS || worlds.includes(place.world)
  return (
    <select
      aria-label="World"
      class="world-choice"
      value={place.world}
      onFocus={onOpen}
      onChange={(event) => go({ page: place.page, world: event.currentTarget.value })}
    >
      {showsAll(place.page) && <option value={ALL_WORLDS}>All worlds</option>}
      {(isListed ? worlds : [place.world, ...worlds]).map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}

/** A world that nobody has made yet, or that was dropped. */
const UnknownWorld = ({ place, worlds, onLook }: { place: Place; worlds: readonly string[]; onLook: () => void }) => (
  <div class="lost">
    <h2>There is no world {place.world}</h2>
    <p>A world is made when a client logs in as sbx_{place.world}, or on the page of worlds.</p>
    <p>
      {worlds.slice(0, WORLDS_OFFERED).map((name) => (
        <a key={name} href={hrefOf({ page: place.page, world: name })}>
          {name}
        </a>
      ))}
    </p>
    <p class="line">
      <button type="button" onClick={onLook}>
        Check again
      </button>
      <a href={hrefOf({ page: 'worlds', world: 'default' })}>All {worlds.length} worlds</a>
    </p>
  </div>
)

const WORLDS_OFFERED = 20

const TokenForm = ({ onKept }: { onKept: () => void }) => {
  const [token, setToken] = useState('')
  return (
    <main class="lost">
      <h1>This sandbox has a token</h1>
      <p>It is what the server was started with as --sandbox-token. It is kept for this tab only.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          keepToken(token)
          onKept()
        }}
      >
        <label>
          Token
          <input
            type="password"
            autocomplete="off"
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">
          Open the console
        </button>
      </form>
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
  useEffect(() => {
    if (isOpen) store.open(place.world)
  }, [isOpen, place.world])
  const { connection } = useStore()
  const { value: listed, reload } = useLoaded(
    async () => (isOpen ? (await get<World[]>('/worlds')).map(({ name }) => name) : undefined),
    [isOpen, place.page, place.world, connection],
  )
  const worlds = listed ?? []
  const isUnknown = listed !== undefined && place.world !== ALL_WORLDS && !worlds.includes(place.world)
  useTitle(titleOf(place.page))
  if (needsToken) return <TokenForm onKept={() => setNeedsToken(false)} />
  if (!isOpen) return null
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <a class="brand" href="/">
          Scrip
        </a>
        <nav aria-label="Console">
          {Object.entries(PAGES).map(([page, title]) => (
            <a
              key={page}
              href={hrefOf({ page, world: place.world })}
              aria-current={place.page === page ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        <div class="side">
          {!isUnknown && <ActiveFaults place={place} />}
          <WorldChoice place={place} worlds={worlds} onOpen={reload} />
          <Connection />
          <Theme />
        </div>
      </header>
      <main id="main" tabIndex={-1} class={`page-${place.page}`}>
        <h1 class="hidden">{titleOf(place.page)}</h1>
        {isUnknown ? <UnknownWorld place={place} worlds={worlds} onLook={reload} /> : <Shown place={place} />}
      </main>
      <Palette place={place} pages={PAGES} worlds={worlds} />
      <Keys />
      <Notices />
    </>
  )
}

openAddress()
const root = document.getElementById('console')
if (root) render(<Console />, root)
