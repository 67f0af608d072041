import type { Database as Sqlite } from 'bun:sqlite'
import { COUNT_FAULTS } from '../../src/db/counts.ts'
import type { Served } from '../docs/document.ts'
import { validatorOf } from '../docs/schemas.ts'
import { LEDGER_FAULTS } from '../wallets/books.ts'
import type { ProgramResponse } from './play.ts'

/** The rules that every response and every ledger satisfies, whatever was requested. */

export type Shape = 'structured' | 'flat' | 'charges'

/** The error format of a path (contract C4). */
export const shapeOf = (path: string): Shape => {
  if (/^\/api\/v1\/products\/[^/]+\/(?:charges|discount)$/.test(path)) return 'charges'
  return /^\/api\/v1\/(?:beneficiaries|payouts)(?:\/|$)/.test(path) ? 'flat' : 'structured'
}

/** The problem with a response to any request: it is undocumented, in another shape, or without an id. */
export const responseFaults = (operation: Served, { status, headers, text, json }: ProgramResponse) => {
  if (!headers.get('x-request-id')) return 'no X-Request-Id'
  const documented = operation.responses[status]
  if (!documented) return `status ${status} is not documented`
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  if (!documented.content) return text === '' ? undefined : 'a body where none is documented'
  const content = documented.content[type]
  if (!content) return `content type ${type} is not documented`
  if (type !== 'application/json') return undefined
  const validate = validatorOf(content.schema)
  if (validate(json)) return undefined
  const [first] = validate.errors ?? []
  return `not as documented: ${first?.instancePath || '/'} ${first?.message}`
}

/** The problems with the ledger and the totals of a world, read from its database. */
export const ledgerFaults = (sqlite: Sqlite): string | undefined =>
  Object.entries({ ...LEDGER_FAULTS, 'totals are not those of the records': COUNT_FAULTS }).find(
    ([, sql]) => sqlite.query(sql).get() !== null,
  )?.[0]
