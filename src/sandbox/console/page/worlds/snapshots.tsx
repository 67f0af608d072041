import { ask, get } from '../api.ts'
import { Button } from '../forms.tsx'
import { useLoaded } from '../hooks.ts'
import { Card, Empty } from '../ui.tsx'
import { NameForm } from './name-form.tsx'

/** Worlds as they were kept, and the chosen one put back to one of them. */
export const Snapshots = ({ world, onRestored }: { world: string; onRestored: () => void }) => {
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
