import { hashOf, usePlaceIn } from '../../../pages/ui/hooks.ts'
import { store } from './store.ts'

/** The place that the console shows. The address keeps it, so that people can share it and go back to it. */
export interface Place {
  page: string
  world: string
  /** The open request, and its world. */
  id?: string | undefined
  of?: string | undefined
  /** The filter of the requests (`filter.ts`). */
  q?: string | undefined
  /** The operation of the request that somebody writes. */
  operation?: string | undefined
  /** The record that the address points at: `order-12`. */
  record?: string | undefined
}

export const ALL_WORLDS = '*'

/** Pages that show several worlds at once. Every other page names the one that it shows. */
const OF_ALL_WORLDS = ['requests', 'coverage']
export const showsAll = (page: string): boolean => OF_ALL_WORLDS.includes(page)

const LAST_WORLD = 'scrip-console-world'

/** Keeps the world that somebody looks at, for this tab. */
export const keepWorld = ({ world, of }: Place): void => {
  const seen = world === ALL_WORLDS ? of : world
  if (seen !== undefined && store.worlds.includes(seen)) sessionStorage.setItem(LAST_WORLD, seen)
}

/** The world that was looked at last and still exists, else that of the newest request. */
const lastWorld = (): string => {
  const seen = sessionStorage.getItem(LAST_WORLD)
  if (seen !== null && (store.worlds.length === 0 || store.worlds.includes(seen))) return seen
  return store.requests.find(({ world }) => store.worlds.includes(world))?.world ?? 'default'
}

/** The world of actions: that of the page, else that of the open request, else the one of before. */
export const worldOf = ({ world, of }: Pick<Place, 'world' | 'of'>): string =>
  world === ALL_WORLDS ? (of ?? lastWorld()) : world

/** The world in which another page opens: one that shows all worlds keeps showing them. */
export const worldFor = (page: string, place: Pick<Place, 'world' | 'of'>): string =>
  showsAll(page) ? place.world : worldOf(place)

export const hrefOf = ({ page, world, ...named }: Place): string =>
  hashOf(page, { ...(world !== ALL_WORLDS && { world }), ...named })

export const go = (place: Place): void => {
  location.hash = hrefOf(place)
}

/** Changes the address of the present place without a new step in the history. */
export const keepPlace = (place: Place): void => history.replaceState(null, '', hrefOf(place))

export const usePlace = (): Place =>
  usePlaceIn((path, query) => {
    const page = path || 'requests'
    return { world: showsAll(page) ? ALL_WORLDS : worldOf({ world: ALL_WORLDS }), ...query, page }
  })
