import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { Button, Select } from '../forms.tsx'
import type { Change } from '../hooks.ts'
import type { World } from '../types.ts'
import { Card, time } from '../ui.tsx'
import { NameForm } from './name-form.tsx'

interface Props {
  worlds: readonly World[]
  chosen: string
  onChoose: (name: string) => void
  change: Change
}

/** All worlds: to look at, make, copy, reset and drop. */
export const WorldList = ({ worlds, chosen, onChoose, change }: Props) => {
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
