import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Form, Input, Select } from '../../../../pages/ui/forms.tsx'
import { useActed, useLoaded } from '../../../../pages/ui/hooks.ts'
import { act } from '../../../../pages/ui/notices.tsx'
import { Card, Empty, Failed, time } from '../../../../pages/ui/pieces.tsx'
import { ask, get } from '../api.ts'
import { go, hrefOf, type Place, worldOf } from '../place.ts'
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

/** The list of all worlds, with buttons to make, copy, reset and drop them. */
const WorldList = ({ chosen }: { chosen: string }) => {
  const acted = useActed()
  const { value: worlds = [], error } = useLoaded(() => get<World[]>('/worlds'), [acted])
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
  return (
    <Card title="Worlds" aside={<span class="soft">{worlds.length}</span>}>
      <Failed error={error} />
      <ul class="items tall">
        {worlds.map(({ name, username, now }) => (
          <li key={name} class="line">
            <span>
              <a href={hrefOf({ page: 'worlds', world: name })} aria-current={name === chosen}>
                <strong>{name}</strong>
              </a>
              <br />
              <span class="soft">
                log in as {username} · {time(now)}
              </span>
            </span>
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
const Snapshots = ({ world }: { world: string }) => {
  const { value: snapshots = [], error, change } = useLoaded(() => get<{ name: string }[]>('/snapshots'), [])
  const save = (name: string) => change(() => ask('PUT', `/snapshots/${name}`, { world }), `Kept ${world} as ${name}`)
  const restore = (name: string) =>
    change(() => ask('POST', `/snapshots/${name}/restore`, { world }), `${world} is as in ${name}`)
  const remove = (name: string) => change(() => ask('DELETE', `/snapshots/${name}`), `Deleted ${name}`)
  return (
    <Card title="Snapshots" aside={<span class="soft">{snapshots.length}</span>}>
      <Failed error={error} />
      {snapshots.length === 0 && <Empty>Save {world} as it is now, and come back to it later.</Empty>}
      <ul class="items tall">
        {snapshots.map(({ name }) => (
          <li key={name} class="line">
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
        onNamed={save}
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
        <fieldset key={records} class="line" aria-label={`Pace of ${records}`}>
          {records}
          {Object.entries(MOVERS).map(([mover, name]) => (
            <Button
              key={mover}
              text={name}
              aria-pressed={value?.[records] === mover}
              onClick={() => set(records, mover)}
            />
          ))}
        </fieldset>
      ))}
    </Card>
  )
}
