import { searchText } from '../../db/lists.ts'
import { documentedRoute, pathOf } from '../../http/target.ts'
import { nextTurn } from '../../kernel/turns.ts'
import type { World } from '../../worlds/world.ts'
import { fits } from '../faults/pattern.ts'
import { REDACTED, redactedHeaders } from './redaction.ts'
import { BYTES_MAX, type LoggedRequest, type ObservedRequest, recordedFrom, requestLog, textOf } from './request-log.ts'

interface RequestFilter {
  limit: number
  status?: string
  path?: string
  /** A part of the path, the request id or a body, in the form that texts are searched in. */
  text?: string
  /** A list without bodies is limited by its number of requests alone. */
  bodies?: 'true' | 'false'
}

/** Reads the logs of worlds, the newest request first. Together they return no more requests than the log of one world can hold. */
export const readLogs = async (worlds: readonly World[], filter: RequestFilter): Promise<LoggedRequest[]> => {
  const logs = worlds.map((world) => world.of(requestLog)).sort((a, b) => b.newestMs - a.newestMs)
  let found: Found = { requests: [], isFull: false }
  for (const log of logs) {
    const oldest = found.requests.at(-1)
    if (found.isFull && oldest && log.newestMs < oldest.request.endedMs) break
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
  requests.sort((a, b) => b.request.endedMs - a.request.endedMs || b.id - a.id)
  const bytesMax = bodies === 'false' ? Number.POSITIVE_INFINITY : BYTES_MAX
  let [count, bytes] = [0, 0]
  while (count < requests.length && count < limit && bytes < bytesMax) bytes += requests[count++]?.bytes ?? 0
  return { requests: requests.slice(0, count), isFull: count === limit || bytes >= bytesMax }
}

const matches = (logged: LoggedRequest, wanted: RequestFilter): boolean =>
  hasStatusAndPath(logged, wanted) && (wanted.text === undefined || contains(logged, wanted.text))

/** Secrets are not found, because they are not shown. Redacting a text takes longer than searching it: most are searched as sent. */
const contains = (logged: LoggedRequest, text: string): boolean => {
  if (isSearchedAsSent(text) && !wasSent(logged.request, text)) return false
  const { path, request_id, request, response } = recordedFrom(logged)
  return searchText(path, request_id, request.body, response.body).includes(text)
}

/** Redacting JSON changes its spaces and escapes, and inserts a word. */
const isSearchedAsSent = (text: string): boolean => !/["{}[\]:,\\]/.test(text) && !REDACTED.includes(text)

const wasSent = ({ path, requestBody, response }: ObservedRequest, text: string): boolean => {
  const requestId = redactedHeaders(response.headers)['x-request-id'] ?? ''
  const sent = [path, requestId, requestBody ?? '', textOf(response.body) ?? '']
  return sent.some((each) => each.includes('\\u') || searchText(each).includes(text))
}

const hasStatusAndPath = ({ request: { response, path, route } }: LoggedRequest, wanted: RequestFilter): boolean =>
  (wanted.status === undefined || hasStatus(response.status, wanted.status)) &&
  (wanted.path === undefined || wanted.path === (route && documentedRoute(route)) || fits(wanted.path, pathOf(path)))

/** 4xx stands for all statuses from 400 to 499. */
const hasStatus = (status: number, wanted: string): boolean =>
  wanted.endsWith('xx') ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted)
