import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Form, Input, Select, Toggle } from '../../../../pages/ui/forms.tsx'
import { type Change, useLoaded } from '../../../../pages/ui/hooks.ts'
import { Card, Empty, Failed, time } from '../../../../pages/ui/pieces.tsx'
import { ask, get } from '../api.ts'
import { go, type Place, worldOf } from '../place.ts'
import type { Pace, World } from '../types.ts'
import { ClockCard } from './clock.tsx'

/** The list of all worlds with their actions, and the settings of the chosen one. */
export const Worlds = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const worlds = useLoaded(() => get<World[]>('/worlds'), [])
  const choose = (name: string) => go({ page: 'worlds', world: name })
  return (
    <div class="cards">
      <WorldList worlds={worlds.value ?? []} chosen={world} onChoose={choose} change={worlds.change} />
      <ClockCard key={`clock ${world}`} world={world} />
      <Snapshots world={world} onRestored={worlds.reload} />
      <PaceCard key={`pace ${world}`} world={world} />
      <Failed error={worlds.error} />
    </div>
  )
}

interface ListProps {
  worlds: readonly World[]
  chosen: string
  onChoose: (name: string) => void
  change: Change
}

/** The list of all worlds, with buttons to open, make, copy, reset and drop them. */
const WorldList = ({ worlds, chosen, onChoose, change }: ListProps) => {
  const [from, setFrom] = useState('')
  const make = async (name: string): Promise<boolean> => {
    const path = `/worlds/${encodeURIComponent(name)}`
    const isMade = await change(() => ask('PUT', path, { body: from ? { from } : {} }), `Made ${name}`)
    if (isMade) onChoose(name)
    return isMade
  }
  const reset = (name: string) => change(() => ask('POST', '/reset', { world: name }), `Reset ${name}`)
  const drop = async (name: string): Promise<void> => {
    const isDropped = await change(() => ask('DELETE', `/worlds/${name}`), `Dropped ${name}`)
    if (isDropped && name === chosen) onChoose('default')
  }
  return (
    <Card title="Worlds" aside={<span class="soft">{worlds.length}</span>}>
      <ul class="items tall">
        {worlds.map(({ name, username, now }) => (
          <li key={name} class={name === chosen ? 'chosen' : ''}>
            <button type="button" class="plain" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
              <strong>{name}</strong>
              <span class="soft">
                log in as {username} · {time(now)}
              </span>
            </button>
            <Button text="Reset" aria-label={`Reset ${name}`} onClick={() => reset(name)} />
            {name !== 'default' && (
              <Button text="Drop" class="danger" aria-label={`Drop ${name}`} onClick={() => drop(name)} />
            )}
          </li>
        ))}
      </ul>
      <NameForm label="Name of the new world" placeholder="New world" button="Create" onNamed={make}>
        <Select
          aria-label="Copy of"
          value={from}
          options={[['', 'fresh'], ...worlds.map(({ name }) => [name, `copy of ${name}`] as const)]}
          onChoose={setFrom}
        />
      </NameForm>
    </Card>
  )
}

/** The snapshots of worlds. The chosen world can be restored from one. */
const Snapshots = ({ world, onRestored }: { world: string; onRestored: () => void }) => {
  const { value: snapshots = [], change } = useLoaded(() => get<{ name: string }[]>('/snapshots'), [])
  const restore = async (name: string): Promise<void> => {
    const path = `/snapshots/${name}/restore`
    if (await change(() => ask('POST', path, { world }), `${world} is as in ${name}`)) onRestored()
  }
  const remove = (name: string) => change(() => ask('DELETE', `/snapshots/${name}`), `Deleted ${name}`)
  return (
    <Card title="Snapshots" aside={<span class="soft">{snapshots.length}</span>}>
      {snapshots.length === 0 && <Empty>Save {world} as it is now, and come back to it later.</Empty>}
      <ul class="items tall">
        {snapshots.map(({ name }) => (
          <li key={name}>
            <strong>{name}</strong>
            <Button text="Restore" aria-label={`Restore into ${world}: ${name}`} onClick={() => restore(name)} />
            <Button text="Delete" class="danger" aria-label={`Delete ${name}`} onClick={() => remove(name)} />
          </li>
        ))}
      </ul>
      <NameForm
        label="Name of the snapshot"
        placeholder={`Name for ${world} as it is now`}
        button="Save"
        onNamed={(name) =>
          change(() => ask('PUT', `/snapshots/${encodeURIComponent(name)}`, { world }), `Kept ${world} as ${name}`)
        }
      />
    </Card>
  )
}

interface NameProps {
  label: string
  placeholder: string
  button: string
  /** Resolves to true if it succeeded: the field is then emptied. */
  onNamed: (name: string) => Promise<boolean>
  /** Further fields. */
  children?: ComponentChildren
}

/** Asks for the name of a new world or snapshot. */
const NameForm = ({ label, placeholder, button, onNamed, children }: NameProps) => {
  const [name, setName] = useState('')
  const send = async () => {
    if (await onNamed(name)) setName('')
  }
  return (
    <Form class="line" onSubmit={send}>
      <Input
        aria-label={label}
        placeholder={placeholder}
        required
        pattern="[a-z0-9_\-]{1,64}"
        title="Lower-case letters, digits, - and _"
        value={name}
        onText={setName}
      />
      {children}
      <button type="submit">{button}</button>
    </Form>
  )
}

const MOVERS = { auto: 'by the clock', manual: 'by hand' } as const

/** The choice whether the clock or a person moves orders and payouts. */
const PaceCard = ({ world }: { world: string }) => {
  const { value, change } = useLoaded(() => get<Pace>('/pace', { world }), [world])
  const set = (records: string, mover: string) =>
    change(() => ask('PUT', '/pace', { world, body: { [records]: mover } }))
  return (
    <Card title={`Pace of ${world}`}>
      {(['orders', 'payouts'] as const).map((records) => (
        <div class="line" key={records}>
          <span class="name">{records}</span>
          <Toggle
            label={`Pace of ${records}`}
            value={value?.[records]}
            options={Object.entries(MOVERS)}
            onChoose={(mover) => set(records, mover)}
          />
        </div>
      ))}
    </Card>
  )
}
