import type { Asked } from '../../http/request-id.ts'
import { DomainError, invalid } from '../../kernel/failure.ts'
import { isControl } from '../control/gate.ts'
import { unknownIn } from '../control/strict.ts'
import type { Parts } from '../parts.ts'
import type { RequestsInProgress } from './in-progress.ts'

interface Options {
  inProgress: RequestsInProgress
  strict: boolean
}

/**
 * Refuses what an operation does not document: always in the control API, with `--strict` in the API (decision 47).
 *
 * @throws DomainError validation, body_unreadable
 */
export const strictness =
  ({ inProgress, strict }: Options): Parts['refuseUnknown'] =>
  async ({ request, route, operation }: Asked) => {
    const observed = inProgress.of(request)
    if (!observed || !operation || !(strict || isControl(route))) return
    const violations = await unknownIn(operation, request)
    if (violations.length === 0) return
    observed.refusedStrictly = true
    throw new DomainError(invalid(violations))
  }
