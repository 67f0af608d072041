import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button, Field, Form, named, Select } from '../../../pages/ui/forms.tsx'
import { useLoaded } from '../../../pages/ui/hooks.ts'
import { Tag } from '../../../pages/ui/pieces.tsx'
import { go, hrefOf } from '../../../pages/ui/place.ts'
import { Shell } from '../../../pages/ui/shell.tsx'
import { get, keepToken, whenTokenIsMissing } from './api.ts'
import { CoveragePage } from './coverage.tsx'
import { Events } from './events/events.tsx'
import { ActiveFaults, Faults } from './faults/faults.tsx'
import { Money } from './money.tsx'
import { Keys, Palette } from './palette.tsx'
import { ALL_WORLDS, keepWorld, showsAll, useShown, worldFor } from './place.ts'
import { Requests } from './requests/requests.tsx'
import { Send } from './send/send.tsx'
import { store, useStore } from './store.ts'
import type { World } from './types.ts'
import { Worlds } from './worlds/worlds.tsx'

const PAGES = {
  requests: { title: 'Requests', View: Requests },
  faults: { title: 'Faults', View: Faults },
  events: { title: 'Webhooks', View: Events },
  money: { title: 'Orders & money', View: Money },
  worlds: { title: 'Worlds', View: Worlds },
  send: { title: 'Send', View: Send },
  coverage: { title: 'Coverage', View: CoveragePage },
} as const
type PageName = keyof typeof PAGES

const CONNECTIONS = {
  connecting: { text: 'Connecting', kind: '' },
  live: { text: 'Live', kind: 'good' },
  lost: { text: 'Reconnecting', kind: 'bad' },
} as const

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
  const place = useShown()
  const { world = ALL_WORLDS } = place
  const page: PageName = Object.hasOwn(PAGES, place.page) ? (place.page as PageName) : 'requests'
  const [needsToken, setNeedsToken] = useState(false)
  useEffect(() => whenTokenIsMissing(() => setNeedsToken(true)), [])
  const { connection } = useStore()
  const { value: worlds, reload } = useLoaded(async () => {
    store.worlds = (await get<World[]>('/worlds')).map(({ name }) => name)
    return store.worlds
  }, [needsToken, page, world, connection])
  const isKnown = world === ALL_WORLDS || worlds?.includes(world) === true
  useEffect(() => {
    if (worlds) store.open(isKnown ? world : undefined)
  }, [worlds, isKnown, world])
  useEffect(() => {
    if (worlds) keepWorld(place)
  }, [worlds, place])
  const { title, View } = PAGES[page]
  if (needsToken) return <TokenForm onKept={() => setNeedsToken(false)} />
  if (!worlds) return null
  const { text, kind } = CONNECTIONS[connection]
  return (
    <>
      <Shell
        name="Console"
        home="/"
        menu={Object.entries(PAGES).map(([name, { title }]) => {
          return { title, href: hrefOf({ page: name, world: worldFor(name, place) }), isCurrent: name === page }
        })}
        title={title}
        aside={
          <>
            {isKnown && <ActiveFaults place={place} />}
            <Select
              aria-label="World"
              value={world}
              options={[
                ...(showsAll(page) ? ([[ALL_WORLDS, 'All worlds']] as const) : []),
                ...named(isKnown ? worlds : [world, ...worlds]),
              ]}
              // Worlds come and go: the list is read again when it is opened.
              onFocus={reload}
              onChoose={(name) => go({ page, world: name === ALL_WORLDS ? undefined : name })}
            />
            {isKnown && (
              <span role="status">
                <Tag kind={kind}>{text}</Tag>
              </span>
            )}
          </>
        }
      >
        {isKnown ? (
          <View key={`${page} ${world}`} place={place} />
        ) : (
          <div class="lost">
            <h2>There is no world {world}</h2>
            <p>A world is created when a client logs in as sbx_{world}, or on the page of worlds.</p>
            <p class="line">
              <Button text="Check again" onClick={reload} />
              <a href={hrefOf({ page: 'worlds', world: 'default' })}>All worlds: {worlds.length}</a>
            </p>
          </div>
        )}
      </Shell>
      <Palette place={place} pages={PAGES} worlds={worlds} />
      <Keys />
    </>
  )
}

const root = document.getElementById('console')
if (root) render(<Console />, root)
