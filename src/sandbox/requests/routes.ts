import { Elysia } from 'elysia'
import { jsonResponse, textResponse } from '../../http/responses.ts'
import { found } from '../../kernel/failure.ts'
import { attemptsOf } from '../../webhooks/queries.ts'
import { attemptWire } from '../../webhooks/wire.ts'
import type { World } from '../../worlds/world.ts'
import { REQUEST_NOT_FOUND } from '../errors.ts'
import { brokenOff } from '../faults/delivery.ts'
import type { Parts } from '../parts.ts'
import { ALL_WORLDS, getWorld, getWorlds } from '../worlds/operations.ts'
import { toNodeTest, toPytest } from './as-test.ts'
import { toCurl, toHar } from './formats.ts'
import { readLogs } from './listing.ts'
import type { RecordedRequest } from './operations.ts'
import * as operations from './operations.ts'
import { toTable } from './outcomes.ts'
import { requestLog } from './request-log.ts'

export const requestRoutes = ({ worlds, version, publicUrl, coverage, replay }: Parts) =>
  new Elysia({ name: 'sandbox-requests' })
    .get(
      '/requests',
      async ({ query: { world, format, ...filter } }) => {
        const read = <Formatted>(as: (recorded: RecordedRequest) => Formatted) =>
          readLogs(getWorlds(worlds, world), filter, as)
        if (format === 'curl') return textResponse((await read((each) => curlLine(each, publicUrl))).reverse().join(''))
        if (format !== 'har') return jsonResponse(`[${(await read((each) => JSON.stringify(each))).join(',')}]`)
        const oldestFirst = (await read((each) => each)).reverse()
        return jsonResponse(JSON.stringify(toHar(oldestFirst, publicUrl, version)))
      },
      operations.listRequests,
    )
    .get(
      '/requests/:id',
      ({ params, query }) => {
        const world = getWorld(worlds, query.world)
        const recorded = getRecorded(world, params.id)
        if (query.format === 'har') return jsonResponse(JSON.stringify(toHar([recorded], publicUrl, version)))
        const toText = query.format && TEXTS[query.format]
        if (toText) return textResponse(toText(recorded, publicUrl))
        return jsonResponse(JSON.stringify({ ...recorded, deliveries: deliveriesOf(world, recorded) }))
      },
      operations.getRequest,
    )
    .post(
      '/requests/:id/replay',
      async ({ params, query, body: { fault } }) => {
        const world = getWorld(worlds, query.world)
        const response = await replay(world, getRecorded(world, params.id), fault)
        const { status, headers } = response
        try {
          return jsonResponse(
            JSON.stringify({ status, headers: Object.fromEntries(headers), body: await response.text() }),
          )
        } catch {
          return brokenOff() // a fault has dropped the connection of the replay
        }
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

/** A request without events leaves a world that is suspended as it is. */
const deliveriesOf = (world: World, { events }: RecordedRequest) =>
  events.length === 0
    ? []
    : attemptsOf(world.db.query, events).map((attempt) => ({ webhook_id: attempt.webhookId, ...attemptWire(attempt) }))

const curlLine = (recorded: RecordedRequest, baseUrl: string): string => `${toCurl(recorded, baseUrl)}\n`

const TEXTS: Partial<Record<string, (recorded: RecordedRequest, baseUrl: string) => string>> = {
  curl: curlLine,
  node: toNodeTest,
  pytest: toPytest,
}

/** @throws DomainError request_not_found */
const getRecorded = (world: World, id: number | undefined): RecordedRequest =>
  found(id === undefined ? undefined : world.of(requestLog).find(id), REQUEST_NOT_FOUND)
