import { useState } from 'preact/hooks'
import { useListener } from './hooks.ts'

/** The place that a page shows. The address keeps it, so that people can share it and go back to it: `#payouts/pyt_1`, `#requests?world=a`. */
export interface Place {
  page: string
  /** The open record or request. */
  id?: string | undefined
  /** Filters, and what else the page shows. */
  [name: string]: string | undefined
}

/** The part of an address after `#`, with it. Empty values are left out. */
export const hrefOf = ({ page, id, ...query }: Place): string => {
  const filled = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1])
  const path = id === undefined ? page : `${page}/${encodeURIComponent(id)}`
  return `#${path}${filled.length === 0 ? '' : `?${new URLSearchParams(filled)}`}`
}

export const go = (place: Place): void => {
  location.hash = hrefOf(place)
}

/** Changes the address of the present place without a new step in the history. */
export const keepPlace = (place: Place): void => history.replaceState(null, '', hrefOf(place))

/** An address may be typed by hand, or cut where it was copied. */
const decoded = (id: string): string => {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

/** The place that the address names, as it changes. @param first the page of an empty address */
export const usePlace = (first: string): Place => {
  const read = (): Place => {
    const [path = '', search = ''] = location.hash.slice(1).split(/\?(.*)/s)
    const [page, id] = path.split('/')
    return {
      page: page || first,
      ...(id !== undefined && { id: decoded(id) }),
      ...Object.fromEntries(new URLSearchParams(search)),
    }
  }
  const [place, setPlace] = useState(read)
  useListener(window, 'hashchange', () => setPlace(read()))
  return place
}
