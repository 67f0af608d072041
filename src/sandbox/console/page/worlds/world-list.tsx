import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { World } from '../types.ts'
import { act, Card, time } from '../ui.tsx'
import { NameForm } from './name-form.tsx'

interface Props {
  worlds: readonly World[]
  chosen: string
  onChoose: (name: string) => void
  onChanged: () => void
}

/** All worlds: to look at, make, copy, reset and drop. */
export const WorldList = ({ worlds, chosen, onChoose, onChanged }: Props) => {
  const [from, setFrom] = useState('')
  const change = async (work: () => Promise<unknown>, done: string): Promise<boolean> => {
    const isDone = await act(work, done)
    if (isDone) onChanged()
    return isDone
  }
  const make = async (name: string): Promise<boolean> => {
    const path = `/worlds/${encodeURIComponent(name)}`
    const isMade = await change(() => ask('PUT', path, { body: from ? { from } : {} }), `Made ${name}`)
    if (isMade) onChoose(name)
    return isMade
  }
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
            <button
              type="button"
              aria-label={`Reset ${name}`}
              onClick={() => change(() => ask('POST', '/reset', { world: name }), `Reset ${name}`)}
            >
              Reset
            </button>
            {name !== 'default' && (
              <button type="button" class="danger" aria-label={`Drop ${name}`} onClick={() => drop(name)}>
                Drop
              </button>
            )}
          </li>
        ))}
      </ul>
      <NameForm label="Name of the new world" placeholder="New world" button="Create" onNamed={make}>
        <select aria-label="Copy of" value={from} onChange={(event) => setFrom(event.currentTarget.value)}>
          <option value="">fresh</option>
          {worlds.map(({ name }) => (
            <option key={name} value={name}>
              copy of {name}
            </option>
          ))}
        </select>
      </NameForm>
    </Card>
  )
}
