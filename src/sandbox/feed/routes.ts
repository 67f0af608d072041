import { Elysia } from 'elysia'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/operations.ts'
import { ALL_WORLDS } from '../worlds/query.ts'
import { EVENT_STREAM, openFeed } from './operations.ts'

export const feedRoutes = ({ worlds, feed }: Parts) =>
  new Elysia({ name: 'sandbox-feed' }).get(
    '/feed',
    ({ query, request }) => {
      const world = query.world === ALL_WORLDS ? ALL_WORLDS : getWorld(worlds, query.world).name
      const stream = feed.open(world, numberIn(request.headers.get('last-event-id')))
      // nginx buffers a response unless it has the last one.
      const headers = { 'content-type': EVENT_STREAM, 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
      return new Response(stream, { headers })
    },
    openFeed,
  )

/** The number of a message; infinite for an id that is none of ours. */
const numberIn = (id: string | null): number | undefined => {
  if (id === null || id === '') return undefined
  return /^\d{1,15}$/.test(id) ? Number(id) : Number.POSITIVE_INFINITY
}
