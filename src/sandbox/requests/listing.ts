import { searchText } from '../../db/lists.ts'
import { pathOf } from '../../http/target.ts'
import { nextTurn } from '../../kernel/turns.ts'
import type { World } from '../../work/world.ts'
import { fits } from '../faults/pattern.ts'
import type { RecordedRequest } from './contract.ts'
import { BYTES_MAX, type LoggedRequest, requestLog } from './request-log.ts'
import { hasStatus } from './status.ts'

interface RequestFilter {
  limit: number
  status?: string
  method?: string
  path?: string
  /** A part of the path, the request id or a body, in the form that texts are searched in. */
  search?: string
  ids?: ReadonlySet<number>
  /** Only later ones. */
  after?: number
  /** A list without bodies is limited by its number of requests alone. */
  bodies?: 'true' | 'false'
}

/** Reads the logs of worlds, the newest request first. Together they return no more requests than the log of one world can hold. */
export const readLogs = async (worlds: readonly World[], filter: RequestFilter): Promise<LoggedRequest[]> => {
  const logs = worlds.map((world) => world.of(requestLog)).sort((a, b) => b.newestMs - a.newestMs)
  let found: Found = { requests: [], isFull: false }
  for (const log of logs) {
    const oldest = found.requests.at(-1)
    if (found.isFull && oldest && log.newestMs < oldest.endedMs) break
    found = newest([...found.requests, ...log.all().filter((logged) => matches(logged, filter))], filter)
    if (log.isResting) await nextTurn() // it was read from a file
  }
  return found.requests
}

interface Found {
  requests: LoggedRequest[]
  isFull: boolean
}

const newest = (requests: LoggedRequest[], { limit, bodies }: RequestFilter): Found => {
  requests.sort((a, b) => b.endedMs - a.endedMs || b.id - a.id)
  const bytesMax = bodies === 'false' ? Number.POSITIVE_INFINITY : BYTES_MAX
  let [count, bytes] = [0, 0]
  while (count < requests.length && count < limit && bytes < bytesMax) bytes += requests[count++]?.bytes ?? 0
  return { requests: requests.slice(0, count), isFull: count === limit || bytes >= bytesMax }
}

export const matches = ({ id, method, status, read }: LoggedRequest, filter: RequestFilter): boolean =>
  (filter.after === undefined || id > filter.after) &&
  (filter.ids === undefined || filter.ids.has(id)) &&
  (filter.status === undefined || hasStatus(status, filter.status)) &&
  (filter.method === undefined || method === filter.method) &&
  ((filter.path === undefined && filter.search === undefined) || hasPathAndText(read(), filter))

/** Secrets are not found, because they are not shown. */
const hasPathAndText = (
  { path, route, request_id, request, response }: RecordedRequest,
  filter: RequestFilter,
): boolean =>
  (filter.path === undefined || filter.path === route || fits(filter.path, pathOf(path))) &&
  (filter.search === undefined || searchText(path, request_id, request.body, response.body).includes(filter.search))
