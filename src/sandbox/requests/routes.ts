import { Type } from '@sinclair/typebox'
import { JSON_TYPE } from '../../http/json.ts'
import { choiceFilter, searchFilter } from '../../http/parameters.ts'
import { DomainError, foundOr, violated, violation } from '../../kernel/failure.ts'
import type { World } from '../../work/world.ts'
import { afterFilter, controlRoutes, limitUpTo } from '../control/operation.ts'
import { REQUEST_NOT_FOUND, unrepeatable } from '../errors.ts'
import type { Parts, Sent } from '../parts.ts'
import { MadeScenario } from '../scenario/scenario.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'
import { waitFilter } from '../waiting.ts'
import { findClientIn, usernameIn } from '../worlds/accounts.ts'
import { getWorld, getWorlds } from '../worlds/contract.ts'
import { ALL_WORLDS, WorldQuery, WorldsQuery } from '../worlds/query.ts'
import {
  CLIENT_UNKNOWN,
  CoverageReport,
  checkSent,
  Fault,
  Har,
  HEADERS_WRONG,
  idsFilter,
  LIMIT_DEFAULT,
  LIMIT_MAX,
  PATH_WRONG,
  pathFilter,
  RecordedRequest,
  Replay,
  RequestDetail,
  RequestPath,
  SentRequest,
  statusFilter,
} from './contract.ts'
import { detailOf } from './detail.ts'
import { HAR_TAIL, harEntry, harHead, toCurl } from './formats.ts'
import { matches, readLogs } from './listing.ts'
import { type LoggedRequest, requestLog } from './request-log.ts'
import { toScenario } from './to-scenario.ts'

const ONE_FORMATS = ['json', 'har', 'curl'] as const
const FORMATS = [...ONE_FORMATS, 'scenario'] as const
const FORMAT_WRONG = violation('format', 'enum', 'must be one of json, har, curl, scenario')
const ONE_FORMAT_WRONG = violation('format', 'enum', 'must be one of json, har, curl')
const UNREPEATABLE = unrepeatable('request 5 has a secret, which the log does not keep')

/** @throws DomainError validation, unrepeatable */
const scenarioOf = (world: World | undefined, read: readonly LoggedRequest[]) => {
  if (!world) throw violated('world', 'format', 'must be one world for a scenario')
  return toScenario(world, read)
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
const CURL = {
  'text/plain': { schema: Type.String(), example: "curl -X GET 'http://127.0.0.1:4747/api/v1/countries/1'\n" },
}

export const requestRoutes = ({
  worlds,
  version,
  publicUrl,
  outcomes,
  reference,
  secrets,
  send,
  waiting,
  onRecorded,
}: Parts) => {
  const toEntry = ({ read }: LoggedRequest): string => harEntry(read(), publicUrl)
  const curlOf = ({ read }: LoggedRequest): string => `${toCurl(read(), publicUrl)}\n`
  const har = (entries: readonly string[]) => textResponse(harHead(version) + entries.join(',') + HAR_TAIL, JSON_TYPE)
  return controlRoutes('requests.')
    .get(
      '/requests',
      async ({ query: { world, format, wait: waitMs, ...filter } }) => {
        for (const field of ['ids', 'after'] as const)
          if (world === ALL_WORLDS && filter[field] !== undefined)
            throw violated(field, 'format', 'must come with one world: each numbers its own requests')
        const only = world === ALL_WORLDS ? undefined : getWorld(worlds, world)
        const read = await waiting.list({
          world: only,
          waitMs,
          read: async () => readLogs(await getWorlds(worlds, world), filter),
          listen: (onCome) =>
            onRecorded((logged) => {
              if ((!only || logged.world === only) && matches(logged, filter)) onCome()
            }),
        })
        if (format === 'scenario')
          return textResponse(`${JSON.stringify(scenarioOf(only, read), null, 2)}\n`, JSON_TYPE)
        if (format === 'curl') return textResponse(read.map(curlOf).reverse().join(''))
        if (format === 'har') return har(read.map(toEntry).reverse())
        const recorded = read.map((logged) => logged.read())
        return textResponse(
          JSON.stringify(filter.bodies === 'false' ? recorded.map(withoutBodies) : recorded),
          JSON_TYPE,
        )
      },
      {
        id: 'listRequests',
        summary: 'Read the request log of a world, or of all, or wait for a request',
        description:
          'The last 1,000 requests of each, the newest first, without secrets; or, the oldest first, as HAR 1.2, curl lines or a scenario. The scenario has the requests of one world that wrote, and the moves of its clock. A list of all worlds has at most 4 MiB of bodies.',
        query: Type.Object({
          ...WorldsQuery.properties,
          limit: limitUpTo(LIMIT_MAX, LIMIT_DEFAULT),
          status: statusFilter,
          path: pathFilter,
          method: choiceFilter(METHODS, 'Only requests of this method'),
          search: searchFilter('Part of the path, the request id or a body; case does not matter', 'bonus-1'),
          ids: idsFilter,
          after: afterFilter,
          wait: waitFilter,
          format: choiceFilter(
            FORMATS,
            'JSON, a HAR file, curl lines, or the scenario that makes the same records again',
          ),
          bodies: choiceFilter(['true', 'false'], 'With `false`, bodies are null in JSON'),
        }),
        response: {
          description: 'The requests',
          schema: Type.Union([Type.Array(RecordedRequest), Har, MadeScenario]),
          alsoAs: CURL,
        },
        refuses: { validation: FORMAT_WRONG, unrepeatable: UNREPEATABLE },
      },
    )
    .get(
      '/requests/:id',
      ({ params, query }) => {
        const logged = getLogged(getWorld(worlds, query.world), params.id)
        if (query.format === 'curl') return textResponse(curlOf(logged))
        if (query.format === 'har') return har([toEntry(logged)])
        return detailOf(logged, { reference, secrets })
      },
      {
        id: 'getRequest',
        summary: 'Read one request',
        description:
          'The request and its response, without secrets, the rows that it wrote, the ledger entries that it posted, and its events with their deliveries.',
        params: RequestPath,
        query: Type.Object({
          ...WorldQuery.properties,
          format: choiceFilter(ONE_FORMATS, 'JSON, a HAR file or a curl line'),
        }),
        response: {
          description: 'The request',
          schema: Type.Union([RequestDetail, Har]),
          alsoAs: CURL,
        },
        refuses: { not_found: REQUEST_NOT_FOUND, validation: ONE_FORMAT_WRONG },
      },
    )
    .post(
      '/requests/:id/replay',
      async ({ params, query, body: { fault }, request }) => {
        const world = getWorld(worlds, query.world)
        return resultOf(await send(world, asSent(getLogged(world, params.id).read(), fault), request))
      },
      {
        id: 'replayRequest',
        summary: 'Send a request again, as the same client',
        description:
          'Redacted parts of its body are sent as the log shows them. With a fault, the request is sent with that fault.',
        params: RequestPath,
        body: Type.Object({ fault: Fault }, { title: 'ReplayOptions' }),
        bodyExample: {},
        bodyOptional: true,
        response: { description: 'The new response', schema: Replay },
        refuses: { not_found: REQUEST_NOT_FOUND },
      },
    )
    .post(
      '/requests',
      async ({ query, body, request }) => {
        const world = getWorld(worlds, query.world)
        checkSent(body, publicUrl)
        const { client = usernameIn(world, SANDBOX_USERNAME) } = body
        if (!findClientIn(world, client)) throw new DomainError(CLIENT_UNKNOWN)
        return resultOf(await send(world, { ...body, client }, request))
      },
      {
        id: 'sendRequest',
        summary: 'Send a request as a client of the world',
        description:
          'The client logs in again with any password, so no token is needed. The request is handled and logged like any other. With a fault, it is sent with that fault.',
        body: SentRequest,
        bodyExample: { method: 'GET', path: '/api/v1/countries/1' },
        response: { description: 'The response', schema: Replay },
        refuses: { client_unknown: CLIENT_UNKNOWN, path_wrong: PATH_WRONG, headers_wrong: HEADERS_WRONG },
      },
    )
    .get(
      '/coverage',
      async ({ query: { world } }) => {
        if (world !== ALL_WORLDS) return outcomes.report(getWorld(worlds, world))
        await worlds.everyOne()
        return outcomes.report()
      },
      {
        id: 'getCoverage',
        summary: 'See which documented outcomes were exercised',
        description:
          'By the requests of a world, or with `world=*` by those of all worlds since the start. Outcomes that are the same for every operation, such as 401 and 429, are listed once, with the operation `any`. Health checks and pictures are not counted.',
        names: 'coverage.',
        query: WorldsQuery,
        response: { description: 'Every documented outcome and how often it occurred', schema: CoverageReport },
      },
    )
}

const withoutBodies = ({ request, response, ...head }: RecordedRequest): RecordedRequest => ({
  ...head,
  request: { ...request, body: null },
  response: { ...response, body: null },
})

/** The request of a log, to be sent again. */
const asSent = ({ method, path, request, client }: RecordedRequest, fault: string | undefined): Sent => ({
  method,
  path,
  headers: request.headers,
  ...(request.body !== null && { body: request.body }),
  ...(client !== null && { client }),
  ...(fault !== undefined && { fault }),
})

/** Reads a response. One that a fault has broken off gets status 0: a browser would send a broken request again. */
const resultOf = async (response: Response) => {
  const { status, headers } = response
  const body = await response.text().catch(() => undefined)
  return body === undefined
    ? { status: 0, headers: {}, body: '' }
    : { status, headers: Object.fromEntries(headers), body }
}

const textResponse = (text: string, type = 'text/plain; charset=utf-8'): Response =>
  new Response(text, { headers: { 'content-type': type } })

/** @throws DomainError request_not_found */
const getLogged = (world: World, id: number | undefined): LoggedRequest =>
  foundOr(id === undefined ? undefined : world.of(requestLog).find(id), REQUEST_NOT_FOUND)
