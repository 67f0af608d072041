import { useState } from 'preact/hooks'
import { useListener } from '../../pages/ui/hooks.ts'

/** The place that the desk shows. The address keeps it: `#payouts?status=created`, `#payouts/pyt_1`. */
export interface Place {
  page: string
  id?: string | undefined
  query: Readonly<Record<string, string>>
}

export const hrefOf = (page: string, id?: string, query: Place['query'] = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const search = new URLSearchParams(given).toString()
  return `#${page}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${search === '' ? '' : `?${search}`}`
}

const placeIn = (hash: string): Place => {
  const [path = '', search = ''] = hash.replace(/^#/, '').split(/\?(.*)/s)
  const [page, id] = path.split('/')
  return {
    page: page || 'today',
    id: id === undefined ? undefined : decodeURIComponent(id),
    query: Object.fromEntries(new URLSearchParams(search)),
  }
}

export const go = (...where: Parameters<typeof hrefOf>): void => {
  location.hash = hrefOf(...where)
}

export const usePlace = (): Place => {
  const [place, setPlace] = useState(() => placeIn(location.hash))
  useListener(window, 'hashchange', () => setPlace(placeIn(location.hash)))
  return place
}
