import { Type } from '@sinclair/typebox'
import { EVENT_EXAMPLE } from '../../events/contract.ts'
import { getExample } from '../../http/schemas.ts'
import { controlRoutes } from '../control/operation.ts'
import type { Parts } from '../parts.ts'
import { RecordedRequest } from '../requests/contract.ts'
import { getWorld } from '../worlds/contract.ts'
import { ALL_WORLDS, WorldsQuery } from '../worlds/query.ts'

const { request, response, ...REQUEST } = getExample(RecordedRequest)
const REQUEST_DATA = {
  ...REQUEST,
  request: { headers: request.headers },
  response: { status: response.status, headers: response.headers },
}
const EVENT_DATA = { world: REQUEST.world, ...EVENT_EXAMPLE }

const EVENT_STREAM = 'text/event-stream'

export const feedRoutes = ({ worlds, feed }: Parts) =>
  controlRoutes('feed.').get(
    '/feed',
    ({ query, request }) => {
      const world = query.world === ALL_WORLDS ? ALL_WORLDS : getWorld(worlds, query.world).name
      const stream = feed.open(world, numberIn(request.headers.get('last-event-id')))
      // nginx buffers a response unless it has the last one.
      const headers = { 'content-type': EVENT_STREAM, 'x-accel-buffering': 'no' }
      return new Response(stream, { headers })
    },
    {
      id: 'openFeed',
      summary: 'Follow the requests and events of a world, or of all',
      description:
        'The response never ends. Server-sent events as they happen: `request`, a recorded request without bodies, and the events of orders, payouts and wallets by their type, each with its world. `skipped` counts messages that were dropped. A reader that is too slow is disconnected, and resumes with Last-Event-ID.',
      query: WorldsQuery,
      headers: Type.Object({
        'Last-Event-ID': Type.Optional(
          Type.String({
            description: 'The id of the last message that was read: later ones are sent first',
            example: '0',
          }),
        ),
      }),
      response: {
        description: 'A stream that stays open',
        contentType: EVENT_STREAM,
        schema: Type.String(),
        example: `retry: 1000\nid: 0\n\nid: 1\nevent: request\ndata: ${JSON.stringify(REQUEST_DATA)}\n\nid: 2\nevent: wallet.credited\ndata: ${JSON.stringify(EVENT_DATA)}\n\n`,
      },
    },
  )

/** The number of a message; infinite for an id that is not one of ours. */
const numberIn = (id: string | null): number | undefined => {
  if (id === null || id === '') return undefined
  return /^\d{1,15}$/.test(id) ? Number(id) : Number.POSITIVE_INFINITY
}
