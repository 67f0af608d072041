import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Form, Input, Select } from '../../../../pages/ui/forms.tsx'
import { useLoaded } from '../../../../pages/ui/hooks.ts'
import { act } from '../../../../pages/ui/notices.tsx'
import { Card, Failed, time } from '../../../../pages/ui/pieces.tsx'
import { go, hrefOf, type Place } from '../../../../pages/ui/place.ts'
import { ask, get } from '../api.ts'
import { worldOf } from '../place.ts'
import type { Pace, World } from '../types.ts'
import { ClockCard } from './clock.tsx'

/** The list of all worlds with their actions, and the settings of the chosen one. */
export const Worlds = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  return (
    <div class="cards">
      <WorldList chosen={world} />
      <ClockCard world={world} />
      <Snapshots world={world} />
      <PaceCard world={world} />
    </div>
  )
}

/** All worlds, which can be made, copied, reset and dropped. */
const WorldList = ({ chosen }: { chosen: string }) => {
  const { value: worlds = [], error } = useLoaded(() => get<World[]>('/worlds'), [])
  const [from, setFrom] = useState('')
  const choose = (world: string) => go({ page: 'worlds', world })
  const make = async (name: string): Promise<boolean> => {
    const isMade = await act(() => ask('PUT', `/worlds/${name}`, { body: from ? { from } : {} }), `Made ${name}`)
    if (isMade) choose(name)
    return isMade
  }
  const reset = (name: string) => act(() => ask('POST', '/reset', { world: name }), `Reset ${name}`)
  const drop = async (name: string): Promise<void> => {
    const isDropped = await act(() => ask('DELETE', `/worlds/${name}`), `Dropped ${name}`)
    if (isDropped && name === chosen) choose('default')
  }
  const items = worlds.map(({ name, username, now }) => ({
    name,
    href: hrefOf({ page: 'worlds', world: name }),
    about: `log in as ${username} · ${time(now)}`,
    actions: { Reset: reset, ...(name !== 'default' && { Drop: drop }) },
  }))
  return (
    <Names title="Worlds" error={error} items={items} placeholder="Name of a new world" button="Create" onNamed={make}>
      <Select
        aria-label="Copy of"
        value={from}
        options={[['', 'fresh'], ...worlds.map(({ name }) => [name, `copy of ${name}`] as const)]}
        onChoose={setFrom}
      />
    </Names>
  )
}

/** The snapshots of worlds. The chosen world can be saved as one, and restored from one. */
const Snapshots = ({ world }: { world: string }) => {
  const { value: snapshots = [], error } = useLoaded(() => get<{ name: string }[]>('/snapshots'), [])
  const save = (name: string) => act(() => ask('PUT', `/snapshots/${name}`, { world }), `Kept ${world} as ${name}`)
  const restore = (name: string) =>
    act(() => ask('POST', `/snapshots/${name}/restore`, { world }), `${world} is as in ${name}`)
  const remove = (name: string) => act(() => ask('DELETE', `/snapshots/${name}`), `Deleted ${name}`)
  const items = snapshots.map(({ name }) => ({ name, actions: { Restore: restore, Delete: remove } }))
  const placeholder = `Name for ${world} as it is now`
  return <Names title="Snapshots" error={error} items={items} placeholder={placeholder} button="Save" onNamed={save} />
}

interface NamesProps {
  title: string
  error: string | undefined
  items: readonly {
    name: string
    href?: string
    about?: string
    /** Its actions, by the texts of their buttons. */
    actions: Record<string, (name: string) => unknown>
  }[]
  placeholder: string
  button: string
  /** Resolves to true if it succeeded: the field is then emptied. */
  onNamed: (name: string) => Promise<boolean>
  /** Further fields. */
  children?: ComponentChildren
}

/** Worlds or snapshots by name, and a form that asks for the name of a new one. */
const Names = ({ title, error, items, placeholder, button, onNamed, children }: NamesProps) => {
  const [typed, setTyped] = useState('')
  const send = async () => {
    if (await onNamed(typed)) setTyped('')
  }
  return (
    <Card title={title} aside={<span class="soft">{items.length}</span>}>
      <Failed error={error} />
      <ul class="items tall">
        {items.map(({ name, href, about, actions }) => (
          <li key={name} class="line">
            <span>
              {href === undefined ? name : <a href={href}>{name}</a>} <span class="soft">{about}</span>
            </span>
            {Object.entries(actions).map(([text, onClick]) => (
              <Button
                key={text}
                text={text}
                class={['Drop', 'Delete'].includes(text) ? 'danger' : ''}
                aria-label={`${text} ${name}`}
                onClick={() => onClick(name)}
              />
            ))}
          </li>
        ))}
      </ul>
      <Form class="line" onSubmit={send}>
        <Input
          aria-label={placeholder}
          placeholder={placeholder}
          required
          pattern="[a-z0-9_\-]{1,64}"
          title="Lower-case letters, digits, - and _"
          value={typed}
          onText={setTyped}
        />
        {children}
        <button type="submit">{button}</button>
      </Form>
    </Card>
  )
}

const MOVERS = { auto: 'by the clock', manual: 'by hand' } as const

/** The choice whether the clock or a person moves orders and payouts. */
const PaceCard = ({ world }: { world: string }) => {
  const { value } = useLoaded(() => get<Pace>('/pace', { world }), [world])
  const set = (records: string, mover: string) => act(() => ask('PUT', '/pace', { world, body: { [records]: mover } }))
  return (
    <Card title={`Pace of ${world}`}>
      {(['orders', 'payouts'] as const).map((records) => (
        <fieldset key={records} class="line" aria-label={`Pace of ${records}`}>
          {records}
          {Object.entries(MOVERS).map(([mover, name]) => (
            <Button
              key={mover}
              text={name}
              aria-label={`${records} ${name}: ${world}`}
              aria-pressed={value?.[records] === mover}
              onClick={() => set(records, mover)}
            />
          ))}
        </fieldset>
      ))}
    </Card>
  )
}
