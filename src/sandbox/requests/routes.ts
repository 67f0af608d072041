import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../../http/legacy-operation.ts'
import { idPath } from '../../http/parameters.ts'
import { parseId, QueryReader } from '../../http/query.ts'
import { oneOf } from '../../http/schemas.ts'
import type { LegacyFailure } from '../../kernel/failure.ts'
import { DomainError, type Failure } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { controlRefusals, WorldQuery, worldOf } from '../control/control.ts'
import { toCurl, toHar } from './formats.ts'
import { Har, LOGGED_REQUEST_EXAMPLE, LoggedRequest, REPLAY_EXAMPLE, Replay } from './model.ts'
import { requestLog } from './request-log.ts'

/** The request log of a world (contract C15). */

const FORMATS = ['json', 'har', 'curl'] as const
const CURL_EXAMPLE = "curl -X GET 'http://127.0.0.1:4747/api/v1/countries/1'\n"

const oneRefusals: Record<string, Failure | LegacyFailure> = {
  ...controlRefusals('requests'),
  'requests.not_found': { code: 'request_not_found' },
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
      async ({ request, set }) => {
        const query = new QueryReader(request.url)
        const format = query.choice('format', FORMATS) ?? 'json'
        query.finish()
        const requests = await worldOf(worlds, request).of(requestLog).all()
        if (format === 'har') return toHar(requests, publicUrl, version)
        if (format === 'json') return requests
        set.headers['content-type'] = 'text/plain; charset=utf-8'
        return requests.map((logged) => `${toCurl(logged, publicUrl)}\n`).join('')
      },
      documented({
        id: 'listRequests',
        tag: 'Sandbox',
        summary: 'Read the request log of a world',
        description: 'The last 1,000 requests, the oldest first, without secrets; as JSON, HAR 1.2 or curl lines.',
        public: true,
        query: Type.Object({
          ...WorldQuery.properties,
          format: Type.Optional(
            oneOf(FORMATS, {
              default: 'json',
              description: 'The format of the answer: JSON, a HAR file or curl lines',
            }),
          ),
        }),
        success: {
          status: 200,
          description: 'The requests',
          schema: Type.Union([Type.Array(LoggedRequest), Har]),
          example: [LOGGED_REQUEST_EXAMPLE],
          alsoAs: { 'text/plain': { schema: Type.String(), example: CURL_EXAMPLE } },
        },
        refusals: {
          ...controlRefusals('requests'),
          'requests.validation': {
            code: 'validation',
            violations: [{ field: 'format', rule: 'enum', problem: 'must be one of json, har, curl' }],
          },
        },
      }),
    )
    .get(
      '/requests/:id',
      ({ params, request }) => getLogged(worldOf(worlds, request), params.id),
      documented({
        id: 'getRequest',
        tag: 'Sandbox',
        summary: 'Read one request',
        description: 'The request and its response, without secrets, and the rows that it wrote.',
        public: true,
        path: idPath('request'),
        query: WorldQuery,
        success: { status: 200, description: 'The request', schema: LoggedRequest, example: LOGGED_REQUEST_EXAMPLE },
        refusals: oneRefusals,
      }),
    )
    .post(
      '/requests/:id/replay',
      async ({ params, request }) => {
        const world = worldOf(worlds, request)
        const response = await replay(world, getLogged(world, params.id))
        const { status, headers } = response
        return { status, headers: Object.fromEntries(headers), body: await bodyOf(response) }
      },
      documented({
        id: 'replayRequest',
        tag: 'Sandbox',
        summary: 'Send a request again, as the same client',
        description: 'Redacted parts of its body are sent as the log shows them.',
        public: true,
        path: idPath('request'),
        query: WorldQuery,
        success: { status: 200, description: 'The new response', schema: Replay, example: REPLAY_EXAMPLE },
        refusals: oneRefusals,
      }),
    )

/** @throws DomainError request_not_found */
const getLogged = (world: World, sentId: string): LoggedRequest => {
  const id = parseId(sentId)
  const logged = id === undefined ? undefined : world.of(requestLog).find(id)
  if (!logged) throw new DomainError({ code: 'request_not_found' })
  return logged
}

/** A fault may drop the connection of a replay as well. @throws DomainError connection_dropped */
const bodyOf = async (response: Response): Promise<string> => {
  try {
    return await response.text()
  } catch {
    throw new DomainError({ code: 'connection_dropped' })
  }
}
