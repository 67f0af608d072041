import { get } from '../api.ts'
import { useLoaded } from '../hooks.ts'
import { go, type Place, worldOf } from '../place.ts'
import type { World } from '../types.ts'
import { Failed } from '../ui.tsx'
import { ClockCard } from './clock.tsx'
import { PaceCard } from './pace.tsx'
import { Snapshots } from './snapshots.tsx'
import { WorldList } from './world-list.tsx'

/** Everything that can be done to worlds: the list of all, and what belongs to the one that is chosen. */
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
