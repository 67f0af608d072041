import { useState } from 'preact/hooks'
import { useListener } from '../../../pages/ui/hooks.ts'

/** The place that the console shows. The address keeps it, so that people can share it and go back to it. */
export interface Place {
  page: string
  world: string
  /** The open request. */
  id?: number | undefined
  idWorld?: string | undefined
  /** The filter of the requests (`filter.ts`). */
  filter?: string | undefined
  /** The operation of the request that somebody writes. */
  operation?: string | undefined
  /** The record that the address points at: `order-12`. */
  record?: string | undefined
}

export const ALL_WORLDS = '*'

/** Pages that show several worlds at once. Every other page names the one that it shows. */
const OF_ALL_WORLDS = new Set(['requests', 'coverage'])
export const showsAll = (page: string): boolean => OF_ALL_WORLDS.has(page)

/** The world of an action on a page of all worlds. */
export const worldOf = ({ world }: Place): string => (world === ALL_WORLDS ? 'default' : world)

const NAMES = { filter: 'q', idWorld: 'of', operation: 'operation', record: 'record' } as const
type Named = keyof typeof NAMES

const entriesOf = (place: Place): [string, string][] =>
  Object.entries({
    ...(place.world !== ALL_WORLDS && { world: place.world }),
    id: place.id?.toString(),
    ...Object.fromEntries(Object.entries(NAMES).map(([member, name]) => [name, place[member as Named]])),
  }).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '')

export const hrefOf = (place: Place): string => {
  const query = new URLSearchParams(entriesOf(place)).toString()
  return `#${place.page}${query === '' ? '' : `?${query}`}`
}

const numberIn = (text: string | null): number | undefined => {
  const number = Number(text)
  return Number.isInteger(number) && number > 0 ? number : undefined
}

const placeIn = (hash: string): Place => {
  const [name = '', search = ''] = hash.replace(/^#/, '').split(/\?(.*)/s)
  const query = new URLSearchParams(search)
  const page = name || 'requests'
  return {
    page,
    world: query.get('world') ?? (showsAll(page) ? ALL_WORLDS : 'default'),
    id: numberIn(query.get('id')),
    ...Object.fromEntries(Object.entries(NAMES).map(([member, name]) => [member, query.get(name) ?? undefined])),
  }
}

export const go = (place: Place): void => {
  location.hash = hrefOf(place)
}

/** Changes the address of the present place without a new step in the history. */
export const keepPlace = (place: Place): void => history.replaceState(null, '', hrefOf(place))

export const usePlace = (): Place => {
  const [place, setPlace] = useState(() => placeIn(location.hash))
  useListener(window, 'hashchange', () => setPlace(placeIn(location.hash)))
  return place
}
