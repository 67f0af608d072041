import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { get, keepToken, whenTokenIsMissing } from './api.ts'
import { CoveragePage } from './coverage.tsx'
import { Events } from './events/events.tsx'
import { JsonPage } from './json.tsx'
import { Money } from './money/money.tsx'
import { ALL_WORLDS, go, hrefOf, openAddress, type Place, usePlace } from './place.ts'
import { Requests } from './requests/requests.tsx'
import { store, useStore } from './store.ts'
import { Theme } from './theme.tsx'
import type { World } from './types.ts'
import { Notices, useLoaded } from './ui.tsx'
import { Worlds } from './worlds/worlds.tsx'

const PAGES = {
  requests: 'Requests',
  worlds: 'Worlds',
  money: 'Money',
  events: 'Events',
  coverage: 'Coverage',
} as const
type Page = keyof typeof PAGES

const Shown = ({ place }: { place: Place }) => {
  switch (place.page as Page | 'json') {
    case 'json':
      return <JsonPage path={place.path ?? '/_sandbox'} />
    case 'worlds':
      return <Worlds place={place} />
    case 'money':
      return <Money place={place} />
    case 'events':
      return <Events place={place} />
    case 'coverage':
      return <CoveragePage place={place} />
    default:
      return <Requests place={place} />
  }
}

const CONNECTIONS = { connecting: 'Connecting', live: 'Live', lost: 'Connecting again' } as const

const Connection = () => {
  const { connection } = useStore()
  return <span class={`connection ${connection}`}>{CONNECTIONS[connection]}</span>
}

/** Which world is looked at. Worlds come and go, so the list is read again when it is opened. */
const WorldChoice = ({ place }: { place: Place }) => {
  const { value: worlds = [], reload } = useLoaded(() => get<World[]>('/worlds'), [place.page])
  const names = worlds.map(({ name }) => name)
  const isListed = place.world === ALL_WORLDS || names.includes(place.world)
  return (
    <select
      aria-label="World"
      class="world-choice"
      value={place.world}
      onFocus={reload}
      onChange={(event) => go({ page: place.page, world: event.currentTarget.value })}
    >
      <option value={ALL_WORLDS}>All worlds</option>
      {(isListed ? names : [place.world, ...names]).map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}

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
  useEffect(() => {
    document.title = `${PAGES[place.page as Page] ?? 'Answer'} · Scrip console`
  }, [place.page])
  if (needsToken) return <TokenForm onKept={() => setNeedsToken(false)} />
  if (!isOpen) return null
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        To the content
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
          <WorldChoice place={place} />
          <Connection />
          <Theme />
        </div>
      </header>
      <main id="main" tabIndex={-1} class={`page-${place.page}`}>
        <h1 class="hidden">{PAGES[place.page as Page] ?? 'Answer'}</h1>
        <Shown place={place} />
      </main>
      <Notices />
    </>
  )
}

openAddress()
const root = document.getElementById('console')
if (root) render(<Console />, root)
