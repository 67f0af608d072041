import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { choiceFilter, parameter, parseId } from '../../http/parameters.ts'
import { jsonResponse, textResponse } from '../../http/responses.ts'
import { DomainError, type Failure, found, violation } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { controlOperation, worldErrors } from '../control/operation.ts'
import { CONNECTION_DROPPED, REQUEST_NOT_FOUND } from '../errors.ts'
import { getWorld, WorldQuery } from '../worlds/model.ts'
import { toCurl, toHar } from './formats.ts'
import { Har, LOGGED_REQUEST_EXAMPLE, LoggedRequest, REPLAY_EXAMPLE, Replay } from './model.ts'
import { requestLog } from './request-log.ts'

/** The request log of a world (contract C15). */

const CURL_EXAMPLE = "curl -X GET 'http://127.0.0.1:4747/api/v1/countries/1'\n"

const ListQuery = Type.Object({
  ...WorldQuery.properties,
  format: choiceFilter(['json', 'har', 'curl'], 'The format of the answer: JSON, a HAR file or curl lines'),
})

const RequestPath = Type.Object({
  id: parameter<number | undefined>(Type.Integer({ minimum: 1, description: 'The request identifier' }), parseId),
})

const oneErrors: Record<string, Failure> = {
  ...worldErrors('requests'),
  'requests.not_found': REQUEST_NOT_FOUND,
}

export interface RequestRoutesOptions {
  worlds: Worlds
  version: string
  publicUrl: string
  /** Sends a request again, as the same client. */
  replay: (world: World, logged: LoggedRequest) => Promise<Response>
}

export const requestRoutes = ({ worlds, version, publicUrl, replay }: RequestRoutesOptions) =>
  new Elysia({ name: 'sandbox-requests' })
    .get(
      '/requests',
      async ({ query: { world, format } }) => {
        const requests = await getWorld(worlds, world).of(requestLog).all()
        if (format === 'curl') return textResponse(requests.map((logged) => `${toCurl(logged, publicUrl)}\n`).join(''))
        const json = format === 'har' ? toHar(requests, publicUrl, version) : requests
        return jsonResponse(JSON.stringify(json))
      },
      controlOperation({
        id: 'listRequests',
        summary: 'Read the request log of a world',
        description: 'The last 1,000 requests, the oldest first, without secrets; as JSON, HAR 1.2 or curl lines.',
        query: ListQuery,
        success: {
          status: 200,
          description: 'The requests',
          schema: Type.Union([Type.Array(LoggedRequest), Har]),
          example: [LOGGED_REQUEST_EXAMPLE],
          alsoAs: { 'text/plain': { schema: Type.String(), example: CURL_EXAMPLE } },
        },
        errors: {
          ...worldErrors('requests'),
          'requests.validation': violation('format', 'enum', 'must be one of json, har, curl'),
        },
      }),
    )
    .get(
      '/requests/:id',
      ({ params, query }) => getLogged(getWorld(worlds, query.world), params.id),
      controlOperation({
        id: 'getRequest',
        summary: 'Read one request',
        description: 'The request and its response, without secrets, and the rows that it wrote.',
        params: RequestPath,
        query: WorldQuery,
        success: { status: 200, description: 'The request', schema: LoggedRequest, example: LOGGED_REQUEST_EXAMPLE },
        errors: oneErrors,
      }),
    )
    .post(
      '/requests/:id/replay',
      async ({ params, query }) => {
        const world = getWorld(worlds, query.world)
        const response = await replay(world, getLogged(world, params.id))
        const { status, headers } = response
        return { status, headers: Object.fromEntries(headers), body: await bodyOf(response) }
      },
      controlOperation({
        id: 'replayRequest',
        summary: 'Send a request again, as the same client',
        description: 'Redacted parts of its body are sent as the log shows them.',
        params: RequestPath,
        query: WorldQuery,
        success: { status: 200, description: 'The new response', schema: Replay, example: REPLAY_EXAMPLE },
        errors: oneErrors,
      }),
    )

/** @throws DomainError request_not_found */
const getLogged = (world: World, id: number | undefined): LoggedRequest =>
  found(id === undefined ? undefined : world.of(requestLog).find(id), REQUEST_NOT_FOUND)

/** A fault may drop the connection of a replay as well. @throws DomainError connection_dropped */
const bodyOf = async (response: Response): Promise<string> => {
  try {
    return await response.text()
  } catch {
    throw new DomainError(CONNECTION_DROPPED)
  }
}
