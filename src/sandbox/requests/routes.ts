import { Elysia } from 'elysia'
import { jsonResponse, textResponse } from '../../http/responses.ts'
import { DomainError, found } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import { CONNECTION_DROPPED, REQUEST_NOT_FOUND } from '../errors.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/operations.ts'
import { toCurl, toHar } from './formats.ts'
import type { RecordedRequest } from './operations.ts'
import * as operations from './operations.ts'
import { toTable } from './outcomes.ts'
import { requestLog } from './request-log.ts'

const ALL_WORLDS = '*'

export const requestRoutes = ({ worlds, version, publicUrl, coverage, replay }: Parts) =>
  new Elysia({ name: 'sandbox-requests' })
    .get(
      '/requests',
      async ({ query: { world, format } }) => {
        const requests = await getWorld(worlds, world).of(requestLog).all()
        if (format === 'curl')
          return textResponse(requests.map((recorded) => `${toCurl(recorded, publicUrl)}\n`).join(''))
        const json = format === 'har' ? toHar(requests, publicUrl, version) : requests
        return jsonResponse(JSON.stringify(json))
      },
      operations.listRequests,
    )
    .get(
      '/requests/:id',
      ({ params, query }) => getRecorded(getWorld(worlds, query.world), params.id),
      operations.getRequest,
    )
    .post(
      '/requests/:id/replay',
      async ({ params, query }) => {
        const world = getWorld(worlds, query.world)
        const response = await replay(world, getRecorded(world, params.id))
        const { status, headers } = response
        return { status, headers: Object.fromEntries(headers), body: await bodyOf(response) }
      },
      operations.replayRequest,
    )
    .get(
      '/coverage',
      ({ query: { world, format } }) => {
        const report = coverage.report(world === ALL_WORLDS ? undefined : getWorld(worlds, world))
        return format === 'table' ? textResponse(toTable(report)) : report
      },
      operations.getCoverage,
    )

/** @throws DomainError request_not_found */
const getRecorded = (world: World, id: number | undefined): RecordedRequest =>
  found(id === undefined ? undefined : world.of(requestLog).find(id), REQUEST_NOT_FOUND)

/** A fault may drop the connection of a replay as well. @throws DomainError connection_dropped */
const bodyOf = async (response: Response): Promise<string> => {
  try {
    return await response.text()
  } catch {
    throw new DomainError(CONNECTION_DROPPED)
  }
}
