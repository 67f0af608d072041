import { Elysia } from 'elysia'
import { JSON_TYPE } from '../../http/json.ts'
import { found } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import { REQUEST_NOT_FOUND } from '../errors.ts'
import type { Parts, Sent } from '../parts.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'
import { findClientIn, usernameIn } from '../worlds/accounts.ts'
import { getWorld, getWorlds } from '../worlds/operations.ts'
import { ALL_WORLDS } from '../worlds/query.ts'
import { getCoverage } from './coverage.ts'
import { detailOf } from './detail.ts'
import { HAR_TAIL, harEntry, harHead, toCurl } from './formats.ts'
import { readLogs } from './listing.ts'
import type { RecordedRequest } from './operations.ts'
import * as operations from './operations.ts'
import { toTable } from './outcomes.ts'
import { headOf, type Logged, recordedFrom, requestLog } from './request-log.ts'

export const requestRoutes = ({ worlds, version, publicUrl, coverage, reference, send }: Parts) => {
  const toEntry = (logged: Logged): string => harEntry(recordedFrom(logged), publicUrl)
  const curlOf = (logged: Logged): string => `${toCurl(recordedFrom(logged), publicUrl)}\n`
  const har = (entries: readonly string[]) => textResponse(harHead(version) + entries.join(',') + HAR_TAIL, JSON_TYPE)
  return new Elysia({ name: 'sandbox-requests' })
    .get(
      '/requests',
      async ({ query: { world, format, ...filter } }) => {
        const read = await readLogs(getWorlds(worlds, world), filter)
        if (format === 'curl') return textResponse(read.map(curlOf).reverse().join(''))
        if (format === 'har') return har(read.map(toEntry).reverse())
        const wire = filter.bodies === 'false' ? withoutBodies : recordedFrom
        return textResponse(JSON.stringify(read.map(wire)), JSON_TYPE)
      },
      operations.listRequests,
    )
    .get(
      '/requests/:id',
      ({ params, query }) => {
        const logged = getLogged(getWorld(worlds, query.world), params.id)
        if (query.format === 'curl') return textResponse(curlOf(logged))
        if (query.format === 'har') return har([toEntry(logged)])
        return detailOf(logged, reference)
      },
      operations.getRequest,
    )
    .post(
      '/requests/:id/replay',
      async ({ params, query, body: { fault }, request }) => {
        const world = getWorld(worlds, query.world)
        return resultOf(await send(world, asSent(recordedFrom(getLogged(world, params.id)), fault), request))
      },
      operations.replayRequest,
    )
    .post(
      '/requests',
      async ({ query, body, request }) => {
        const world = getWorld(worlds, query.world)
        operations.checkSent(body, publicUrl)
        const { client = usernameIn(world, SANDBOX_USERNAME) } = body
        if (!findClientIn(world, client)) throw operations.clientUnknown()
        return resultOf(await send(world, { ...body, client }, request))
      },
      operations.sendRequest,
    )
    .get(
      '/coverage',
      ({ query: { world, format } }) => {
        const report = coverage.report(world === ALL_WORLDS ? undefined : getWorld(worlds, world))
        return format === 'table' ? textResponse(toTable(report)) : report
      },
      getCoverage,
    )
}

const withoutBodies = (logged: Logged): RecordedRequest => {
  const { request, response, ...head } = headOf(logged)
  return { ...head, request: { ...request, body: null }, response: { ...response, body: null } }
}

/** The request of a log, to be sent again. */
const asSent = ({ method, path, request, client }: RecordedRequest, fault: string | undefined): Sent => ({
  method,
  path,
  headers: request.headers,
  ...(request.body !== null && { body: request.body }),
  ...(client !== null && { client }),
  ...(fault !== undefined && { fault }),
})

/** A fault may have broken the response off. It stays this side of the connection, as browsers send again what was lost. */
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
const getLogged = (world: World, id: number | undefined): Logged =>
  found(id === undefined ? undefined : world.of(requestLog).find(id), REQUEST_NOT_FOUND)
