import { useMemo } from 'preact/hooks'
import { type Place, usePlace } from '../../../pages/ui/place.ts'
import { store } from './store.ts'

/** The worlds of the places that the console shows. A place without a world is that of all worlds. */

export const ALL_WORLDS = '*'

/** Pages that show several worlds at once. Every other page names the one that it shows. */
const OF_ALL_WORLDS = ['requests', 'coverage']
export const showsAll = (page: string): boolean => OF_ALL_WORLDS.includes(page)

const LAST_WORLD = 'scrip-console-world'

/** Keeps the world that somebody looks at, for this tab. */
export const keepWorld = ({ world, of }: Place): void => {
  const seen = world ?? of
  if (seen !== undefined && store.worlds.includes(seen)) sessionStorage.setItem(LAST_WORLD, seen)
}

/** The world that was looked at last and still exists, else that of the newest request. */
const lastWorld = (): string => {
  const seen = sessionStorage.getItem(LAST_WORLD)
  if (seen !== null && (store.worlds.length === 0 || store.worlds.includes(seen))) return seen
  return store.requests.find(({ world }) => store.worlds.includes(world))?.world ?? 'default'
}

/** The world of actions: that of the page, else that of the open request, else the one of before. */
export const worldOf = ({ world, of }: Place): string => world ?? of ?? lastWorld()

/** The world in which another page opens: one that shows all worlds keeps showing them. */
export const worldFor = (page: string, place: Place): string | undefined =>
  showsAll(page) ? place.world : worldOf(place)

/** The place of the console that the address names. A page that shows one world shows the one of before. */
export const useShown = (): Place => {
  const place = usePlace('requests')
  return useMemo(() => {
    const named = place.world === ALL_WORLDS ? undefined : place.world
    return { ...place, world: named ?? (showsAll(place.page) ? undefined : lastWorld()) }
  }, [place])
}
