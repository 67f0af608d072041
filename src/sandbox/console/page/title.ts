import { useEffect, useRef, useState } from 'preact/hooks'
import { get } from './api.ts'
import { store, useNews } from './store.ts'
import type { Delivery } from './types.ts'

/** Worlds whose deliveries are read when their events arrive. */
const WORLDS_MAX = 5

/** Deliveries that have failed in the worlds of the last events. */
const failedDeliveries = async (): Promise<string[]> => {
  const worlds = [...new Set(store.events.slice(0, 100).map(({ world }) => world))].slice(0, WORLDS_MAX)
  const lists = await Promise.all(worlds.map((world) => get<{ deliveries: Delivery[] }[]>('/webhooks', { world })))
  return lists
    .flat()
    .flatMap(({ deliveries }) => deliveries)
    .filter(({ status }) => status !== 'delivered')
    .map(({ id }) => `delivery ${id}`)
}

/** Shows in the title of the page what failed while it was hidden: 5xx responses and deliveries. */
export const useTitle = (title: string): void => {
  const news = useNews()
  const [troubles, setTroubles] = useState(0)
  const seen = useRef(new Set<string>())
  useEffect(() => {
    const note = (names: readonly string[]): void => {
      const fresh = names.filter((name) => !seen.current.has(name))
      for (const name of fresh) seen.current.add(name)
      if (fresh.length > 0 && document.hidden) setTroubles((count) => count + fresh.length)
    }
    const forget = (): void => {
      if (!document.hidden) setTroubles(0)
    }
    const unwatch = store.watch(() =>
      note(
        store.rows
          .slice(0, 100)
          .filter(({ head: { response } }) => response.status >= 500 || response.status === 0)
          .map(({ head }) => `${head.world} ${head.id} ${head.duration_ms}`),
      ),
    )
    failedDeliveries().then(note, () => undefined)
    document.addEventListener('visibilitychange', forget)
    return () => {
      unwatch()
      document.removeEventListener('visibilitychange', forget)
    }
  }, [news])
  useEffect(() => {
    document.title = `${troubles > 0 ? `(${troubles} failed) ` : ''}${title} · Scrip console`
  }, [title, troubles])
}
