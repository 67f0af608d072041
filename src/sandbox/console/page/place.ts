import { useEffect, useState } from 'preact/hooks'

/** Where the console is: kept in the address, so that it can be shared, and gone back to. */
export interface Place {
  page: string
  world: string
  /** A request that is open. */
  id?: number | undefined
  idWorld?: string | undefined
  /** An address that has no page of its own. */
  path?: string | undefined
}

export const ALL_WORLDS = '*'

/** The world of pages that show one alone. */
export const worldOf = ({ world }: Place): string => (world === ALL_WORLDS ? 'default' : world)

export const hrefOf = ({ page, world, id, idWorld, path }: Place): string => {
  const query = new URLSearchParams({
    ...(world !== ALL_WORLDS && { world }),
    ...(id !== undefined && { id: String(id) }),
    ...(idWorld !== undefined && { of: idWorld }),
    ...(path !== undefined && { path }),
  }).toString()
  return `#${page}${query === '' ? '' : `?${query}`}`
}

const placeIn = (hash: string): Place => {
  const [page = '', search = ''] = hash.replace(/^#/, '').split(/\?(.*)/s)
  const query = new URLSearchParams(search)
  const id = Number(query.get('id'))
  return {
    page: page || 'requests',
    world: query.get('world') ?? ALL_WORLDS,
    id: Number.isInteger(id) && id > 0 ? id : undefined,
    idWorld: query.get('of') ?? undefined,
    path: query.get('path') ?? undefined,
  }
}

/** Pages that show what an address of the control API answers. */
const PAGES: Record<string, string> = {
  requests: 'requests',
  feed: 'requests',
  worlds: 'worlds',
  clock: 'worlds',
  due: 'worlds',
  snapshots: 'worlds',
  faults: 'worlds',
  pace: 'worlds',
  ledger: 'money',
  orders: 'money',
  payouts: 'money',
  wallets: 'money',
  inbox: 'events',
  events: 'events',
  webhooks: 'events',
  coverage: 'coverage',
}

/** The place of another address of the sandbox that was opened in a browser. */
const placeOfAddress = ({ pathname, search }: Location): Place | undefined => {
  if (pathname.replace(/\/$/, '') === '/_sandbox/console') return undefined
  const world = new URLSearchParams(search).get('world') ?? 'default'
  const [, , name = '', id] = pathname.split('/')
  if (pathname.replace(/\/$/, '') === '/_sandbox') return { page: 'requests', world: ALL_WORLDS }
  const page = pathname.startsWith('/_sandbox/') ? PAGES[name] : undefined
  if (page === 'requests' && Number(id) > 0) return { page, world, id: Number(id), idWorld: world }
  if (page !== undefined && id === undefined) return { page, world }
  return { page: 'json', world: ALL_WORLDS, path: pathname + search }
}

export const openAddress = (): void => {
  const place = placeOfAddress(location)
  if (place) history.replaceState(null, '', `/_sandbox/console${hrefOf(place)}`)
}

export const go = (place: Place): void => {
  location.hash = hrefOf(place)
}

export const usePlace = (): Place => {
  const [place, setPlace] = useState(() => placeIn(location.hash))
  useEffect(() => {
    const onChange = () => setPlace(placeIn(location.hash))
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return place
}
