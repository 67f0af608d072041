import { documentedRoute, pathOf } from '../../http/target.ts'
import type { World } from '../../worlds/world.ts'
import { fits } from '../faults/pattern.ts'
import { BYTES_MAX, type Logged, type LoggedRequest, requestLog } from './request-log.ts'

/** Which requests of the log are wanted. */
interface RequestFilter {
  limit: number
  status?: string
  path?: string
  /** Without bodies, a list holds as many requests as it may. */
  bodies?: 'true' | 'false'
}

/** Reads the logs of worlds, the newest request first, and of all together no more than the log of one world may hold. */
export const readLogs = <Formatted>(
  worlds: readonly World[],
  filter: RequestFilter,
  format: (logged: Logged) => Formatted,
): Formatted[] => {
  const logged = worlds
    .flatMap((world) => world.of(requestLog).all())
    .sort((a, b) => b.request.endedMs - a.request.endedMs || b.id - a.id)
  const read: Formatted[] = []
  let bytes = 0
  for (const next of logged) {
    if (read.length === filter.limit || bytes >= BYTES_MAX) break
    if (!matches(next, filter)) continue
    read.push(format(next))
    if (filter.bodies !== 'false') bytes += next.bytes
  }
  return read
}

const matches = ({ request: { response, path, route } }: LoggedRequest, wanted: RequestFilter): boolean =>
  (wanted.status === undefined || hasStatus(response.status, wanted.status)) &&
  (wanted.path === undefined || wanted.path === (route && documentedRoute(route)) || fits(wanted.path, pathOf(path)))

/** 4xx stands for all statuses from 400 to 499. */
const hasStatus = (status: number, wanted: string): boolean =>
  wanted.endsWith('xx') ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted)
