import { useMemo, useState } from 'preact/hooks'
import { addressOf, ask, askText, get } from './api.ts'
import { ALL_WORLDS, go, type Place } from './place.ts'
import type { Clock, DocumentedError, Rule, World } from './types.ts'
import { act, Card, Empty, Failed, say, Tag, time, useLoaded, visible } from './ui.tsx'

/** Everything that can be done to worlds: the list of all, and what belongs to the one that is chosen. */
export const Worlds = ({ place }: { place: Place }) => {
  const world = place.world === ALL_WORLDS ? 'default' : place.world
  const worlds = useLoaded(() => get<World[]>('/worlds'), [])
  const choose = (name: string) => go({ page: 'worlds', world: name })
  return (
    <div class="cards">
      <WorldList worlds={worlds.value ?? []} chosen={world} onChoose={choose} onChanged={worlds.reload} />
      <ClockCard key={`clock ${world}`} world={world} />
      <Snapshots world={world} onRestored={worlds.reload} />
      <Faults key={`faults ${world}`} world={world} />
      <PaceCard key={`pace ${world}`} world={world} />
      <ScenarioCard world={world} />
      <Failed error={worlds.error} />
    </div>
  )
}

interface ListProps {
  worlds: readonly World[]
  chosen: string
  onChoose: (name: string) => void
  onChanged: () => void
}

const WorldList = ({ worlds, chosen, onChoose, onChanged }: ListProps) => {
  const [name, setName] = useState('')
  const [from, setFrom] = useState('')
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await act(work, done)) onChanged()
  }
  const make = async () => {
    const made = await act(
      () => ask('PUT', `/worlds/${encodeURIComponent(name)}`, { body: from ? { from } : {} }),
      `Made ${name}`,
    )
    if (!made) return
    onChanged()
    onChoose(name)
    setName('')
  }
  return (
    <Card title="Worlds" aside={<span class="soft">{worlds.length}</span>}>
      <ul class="items">
        {worlds.map((world) => (
          <li key={world.name} class={world.name === chosen ? 'chosen' : ''}>
            <button
              type="button"
              class="plain"
              aria-pressed={world.name === chosen}
              onClick={() => onChoose(world.name)}
            >
              <strong>{world.name}</strong>
              <span class="soft">
                {world.username} · {time(world.now)}
              </span>
            </button>
            <button
              type="button"
              aria-label={`Reset ${world.name}`}
              onClick={() => change(() => ask('POST', '/reset', { world: world.name }), `Reset ${world.name}`)}
            >
              Reset
            </button>
            {world.name !== 'default' && (
              <button
                type="button"
                class="danger"
                aria-label={`Drop ${world.name}`}
                onClick={async () => {
                  await change(() => ask('DELETE', `/worlds/${world.name}`), `Dropped ${world.name}`)
                  if (world.name === chosen) onChoose('default')
                }}
              >
                Drop
              </button>
            )}
          </li>
        ))}
      </ul>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <input
          aria-label="Name of the new world"
          placeholder="New world"
          required
          pattern="[a-z0-9_\-]{1,64}"
          title="Lower-case letters, digits, - and _"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <select aria-label="Copy of" value={from} onChange={(event) => setFrom(event.currentTarget.value)}>
          <option value="">fresh</option>
          {worlds.map((world) => (
            <option key={world.name} value={world.name}>
              copy of {world.name}
            </option>
          ))}
        </select>
        <button type="submit" class="primary">
          Make
        </button>
      </form>
    </Card>
  )
}

interface Due {
  at: string
  what: string
}
interface Dated {
  id: number | string
  status: string
  due_at: string | null
}

const STEPS = { '+1 min': 'PT1M', '+1 h': 'PT1H', '+1 day': 'P1D', '+7 days': 'P7D' } as const
const DUE_SHOWN = 6

/** The clock of a world, and what it would move next. */
const ClockCard = ({ world }: { world: string }) => {
  const clock = useLoaded(() => get<Clock>('/clock', { world }), [world])
  const due = useLoaded(async (): Promise<Due[]> => {
    const [orders, payouts] = await Promise.all([
      get<Dated[]>('/orders', { world }),
      get<Dated[]>('/payouts', { world }),
    ])
    const all = [
      ...orders.map((order) => ({ kind: 'Order', ...order })),
      ...payouts.map((payout) => ({ kind: 'Payout', ...payout })),
    ]
    return all
      .flatMap(({ kind, id, status, due_at }) =>
        due_at === null ? [] : [{ at: due_at, what: `${kind} ${id}, now ${status}` }],
      )
      .sort((a, b) => (a.at < b.at ? -1 : 1))
  }, [world])
  const [happened, setHappened] = useState<Clock['happened']>()
  const [to, setTo] = useState('')
  const move = (body: object, done?: string) =>
    act(async () => {
      const moved = await ask<Clock>('POST', '/clock', { world, body })
      setHappened(moved.happened)
      clock.reload()
      due.reload()
    }, done)
  const frozen = clock.value?.frozen ?? false
  return (
    <Card
      title={`Clock of ${world}`}
      aside={
        <button
          type="button"
          aria-pressed={frozen}
          onClick={() => move({ frozen: !frozen }, frozen ? 'The clock runs' : 'The clock stands still')}
        >
          {frozen ? 'Frozen' : 'Freeze'}
        </button>
      }
    >
      <Failed error={clock.error} />
      <p class="big" aria-live="polite">
        {clock.value ? time(clock.value.now) : '…'}
      </p>
      <div class="line">
        {Object.entries(STEPS).map(([name, advance]) => (
          <button
            key={name}
            type="button"
            aria-label={`Advance the clock by ${name.slice(1)}`}
            onClick={() => move({ advance })}
          >
            {name}
          </button>
        ))}
        <button
          type="button"
          aria-label="Now: read the clock again"
          onClick={() => {
            clock.reload()
            due.reload()
          }}
        >
          Now
        </button>
      </div>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault()
          void move({ now: to })
        }}
      >
        <input
          aria-label="Set the clock to"
          placeholder="2030-01-01T12:00:00Z"
          required
          value={to}
          onInput={(event) => setTo(event.currentTarget.value)}
        />
        <button type="submit">Set</button>
      </form>
      <h3>Falls due next</h3>
      {due.value?.length ? (
        <ul class="rows-small">
          {due.value.slice(0, DUE_SHOWN).map(({ at, what }) => (
            <li key={`${at} ${what}`}>
              <span class="mono">{time(at)}</span> {what}
            </li>
          ))}
        </ul>
      ) : (
        <Empty>Nothing waits for the clock.</Empty>
      )}
      {happened && (
        <>
          <h3>Happened by the last move</h3>
          {happened.length === 0 ? (
            <Empty>Nothing</Empty>
          ) : (
            <ul class="rows-small">
              {happened.slice(0, 20).map((event) => (
                <li key={event.id}>
                  <span class="mono">{time(event.created_at)}</span> {event.type} {String(event.data.id ?? '')}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </Card>
  )
}

const Snapshots = ({ world, onRestored }: { world: string; onRestored: () => void }) => {
  const { value: snapshots = [], reload } = useLoaded(() => get<{ name: string }[]>('/snapshots'), [])
  const [name, setName] = useState('')
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await act(work, done)) reload()
  }
  return (
    <Card title="Snapshots">
      {snapshots.length === 0 && <Empty>None is kept.</Empty>}
      <ul class="items">
        {snapshots.map((snapshot) => (
          <li key={snapshot.name}>
            <strong>{snapshot.name}</strong>
            <button
              type="button"
              aria-label={`Restore into ${world}: ${snapshot.name}`}
              onClick={async () => {
                await change(
                  () => ask('POST', `/snapshots/${snapshot.name}/restore`, { world }),
                  `${world} is as in ${snapshot.name}`,
                )
                onRestored()
              }}
            >
              Restore into {world}
            </button>
            <button
              type="button"
              class="danger"
              aria-label={`Delete ${snapshot.name}`}
              onClick={() => change(() => ask('DELETE', `/snapshots/${snapshot.name}`), `Deleted ${snapshot.name}`)}
            >
              Delete
            </button>
          </li>
        ))}
      </ul>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault()
          void change(() => ask('PUT', `/snapshots/${encodeURIComponent(name)}`, { world }), `Kept ${world} as ${name}`)
          setName('')
        }}
      >
        <input
          aria-label="Name of the snapshot"
          placeholder={`Name for ${world} as it is now`}
          required
          pattern="[a-z0-9_\-]{1,64}"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit">Keep</button>
      </form>
    </Card>
  )
}

const SHOWN_ERRORS = 8

const effectOf = ({ error, status, webhook, drop, delay_ms }: Rule): string =>
  error ??
  (webhook
    ? `webhook: ${webhook}`
    : status
      ? `gateway ${status}`
      : drop
        ? 'drop'
        : delay_ms
          ? `delay ${delay_ms} ms`
          : 'slow or cut body')

/** Every documented error by name, on and off. */
const Faults = ({ world }: { world: string }) => {
  const { value: errors = [] } = useLoaded(() => get<DocumentedError[]>('/errors'), [])
  const rules = useLoaded(() => get<Rule[]>('/faults', { world }), [world])
  const [search, setSearch] = useState('')
  const [once, setOnce] = useState(true)
  const [after, setAfter] = useState(false)
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean)
    return errors.filter(({ name, status, method, path }) => {
      const text = `${name} ${status} ${method} ${path}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
  }, [errors, search])
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await act(work, done)) rules.reload()
  }
  return (
    <Card
      title={`Faults of ${world}`}
      aside={
        (rules.value?.length ?? 0) > 0 && (
          <button
            type="button"
            class="danger"
            onClick={() => change(() => ask('DELETE', '/faults', { world }), 'No fault is left')}
          >
            All off
          </button>
        )
      }
    >
      <ul class="items">
        {(rules.value ?? []).map((rule) => (
          <li key={rule.id}>
            <span>
              <Tag kind={rule.times_left === 0 ? '' : 'bad'}>{effectOf(rule)}</Tag>{' '}
              <span class="soft">
                {rule.match.method ?? ''} {rule.match.path ?? ''} {rule.when === 'after' && 'after the work'}{' '}
                {rule.times_left !== null && `${rule.times_left} left`}
              </span>
            </span>
          </li>
        ))}
      </ul>
      <div class="line">
        <input
          type="search"
          aria-label="Search errors"
          placeholder={`Search ${errors.length} errors`}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <label>
          <input type="checkbox" checked={once} onChange={(event) => setOnce(event.currentTarget.checked)} /> once
        </label>
        <label>
          <input type="checkbox" checked={after} onChange={(event) => setAfter(event.currentTarget.checked)} /> after
          the work
        </label>
      </div>
      <ul class="items found">
        {found.slice(0, SHOWN_ERRORS).map(({ name, status, method, path }) => (
          <li key={`${name} ${method} ${path}`}>
            <span>
              <span class={`status s${Math.floor(status / 100)}`}>{status}</span> {name}{' '}
              <span class="soft mono">
                {method} {path}
              </span>
            </span>
            <button
              type="button"
              aria-label={`On: ${name} for ${method} ${path}`}
              onClick={() =>
                change(
                  () =>
                    ask('POST', '/faults', {
                      world,
                      body: {
                        error: name,
                        match: { method, path },
                        ...(once && { times: 1 }),
                        ...(after && { when: 'after' }),
                      },
                    }),
                  `${name} is on`,
                )
              }
            >
              On
            </button>
          </li>
        ))}
      </ul>
      {found.length > SHOWN_ERRORS && <p class="soft">{found.length - SHOWN_ERRORS} more: search</p>}
    </Card>
  )
}

interface Pace {
  payouts: 'auto' | 'manual'
  orders: 'auto' | 'manual'
}

const PaceCard = ({ world }: { world: string }) => {
  const pace = useLoaded(() => get<Pace>('/pace', { world }), [world])
  return (
    <Card title={`Pace of ${world}`}>
      {(['orders', 'payouts'] as const).map((records) => (
        <div class="line" key={records}>
          <span class="name">{records}</span>
          <fieldset class="toggle" aria-label={`What moves ${records}`}>
            {(['auto', 'manual'] as const).map((value) => (
              <button
                key={value}
                type="button"
                aria-pressed={pace.value?.[records] === value}
                onClick={async () => {
                  if (await act(() => ask('PUT', '/pace', { world, body: { [records]: value } }))) pace.reload()
                }}
              >
                {value === 'auto' ? 'by the clock' : 'by hand'}
              </button>
            ))}
          </fieldset>
        </div>
      ))}
    </Card>
  )
}

const ScenarioCard = ({ world }: { world: string }) => {
  const download = () =>
    act(async () => {
      const text = await askText('GET', '/scenario', { world, headers: { accept: 'application/yaml' } })
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }))
      link.download = `${world}.yaml`
      link.click()
      URL.revokeObjectURL(link.href)
    }, `Downloaded ${world}.yaml`)
  const upload = async (file: File | undefined) => {
    if (!file) return
    const type = file.name.endsWith('.json') ? 'application/json' : 'application/yaml'
    await act(
      async () => ask('PUT', '/scenario', { world, text: await file.text(), headers: { 'content-type': type } }),
      `${world} is as in ${visible(file.name)}`,
    )
  }
  return (
    <Card title={`Scenario of ${world}`}>
      <p class="soft">The world as one document: clients, wallets, products, orders, payouts, faults and clock.</p>
      <div class="line">
        <button type="button" onClick={download}>
          Download
        </button>
        <label class="file">
          Load a file
          <input
            type="file"
            accept=".yaml,.yml,.json"
            onChange={(event) => {
              void upload(event.currentTarget.files?.[0])
              event.currentTarget.value = ''
            }}
          />
        </label>
        <a href={addressOf('/_sandbox/scenario', { world })} onClick={() => say('Opened as JSON')}>
          Look at it
        </a>
      </div>
    </Card>
  )
}
