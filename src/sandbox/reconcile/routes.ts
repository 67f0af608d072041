import { Type } from '@sinclair/typebox'
import { readText } from '../../http/body.ts'
import { ParameterProblem, parameter, textFilter } from '../../http/parameters.ts'
import { monthIn } from '../../kernel/clock.ts'
import { DomainError, invalid, violation } from '../../kernel/failure.ts'
import { compare } from '../../reconciliation/comparison.ts'
import { ALWAYS, type ListProblem, RowSchema, readList } from '../../reconciliation/partner-list.ts'
import { ReportSchema, reportOf } from '../../reconciliation/report.ts'
import type { Period } from '../../wallets/statement-queries.ts'
import type { World } from '../../work/world.ts'
import { controlRoutes } from '../control/operation.ts'
import type { Parts } from '../parts.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'
import { findClientIn, usernameIn } from '../worlds/accounts.ts'
import { getWorld } from '../worlds/contract.ts'
import { WorldQuery } from '../worlds/query.ts'

/** Compares a list of orders and payouts with the ledger of a world (contract C19). */

const BYTES_MAX = 8_388_608

const CLIENT_UNKNOWN = violation('client', 'enum', 'must be the username of a client of this world')
const violationOf = ({ line, column, what }: ListProblem) => ({
  field: column ?? 'list',
  rule: 'format' as const,
  problem: what,
  message: `line ${line}${column === null ? '' : `, ${column}`}: ${what}`,
})
const UNREAD = violation('list', 'format', 'must be UTF-8, and at most 8 MiB')
const WRONG_LIST = invalid([violationOf({ line: 1, column: 'amount', what: 'is missing' })])

const EXAMPLE = { reference: 'welcome-42', type: 'order' as const, amount: 230.1, currency: 'INR' }
const FOREIGN = { ...EXAMPLE, status: null, at: null }

const month = parameter<Period | undefined>(
  Type.String({
    pattern: '^\\d{4}-\\d\\d$',
    description: 'Only records of this month, in UTC',
    example: '2026-11',
  }),
  (text) => monthIn(text) ?? new ParameterProblem('format', 'must look like 2026-11'),
)

/** @throws DomainError validation for a list that is not text, or too long */
const unread = (error: unknown): never => {
  throw error instanceof DomainError && error.failure.code === 'body_unreadable' ? new DomainError(UNREAD) : error
}

export const reconcileRoutes = ({ worlds, reference }: Parts) => {
  /** @throws DomainError validation with the problems of the list */
  const compared = (world: World, clientId: number, period: Period, text: string) => {
    const { rows, problems } = readList(text, reference)
    if (problems.length > 0) throw new DomainError(invalid(problems.map(violationOf)))
    return reportOf(compare(world.db.query, clientId, period, rows), reference)
  }
  return controlRoutes('reconcile.').post(
    '/reconcile',
    async (incoming) => {
      const { query } = incoming
      const world = getWorld(worlds, query.world)
      const client = findClientIn(world, query.client ?? usernameIn(world, SANDBOX_USERNAME))
      if (!client) throw new DomainError(CLIENT_UNKNOWN)
      return compared(world, client.id, query.month ?? ALWAYS, await readText(incoming, BYTES_MAX).catch(unread))
    },
    {
      id: 'reconcile',
      summary: 'Compare a list of orders and payouts with the ledger',
      description:
        'The list is CSV with a header, or JSON lines: an object a line. It has at most 8 MiB. A wrong list is refused with the first twenty of its problems, and nothing is compared.',
      query: Type.Object({
        ...WorldQuery.properties,
        client: Type.Optional(textFilter('The username of a client; by default the account of the world', 'sandbox')),
        month: Type.Optional(month),
      }),
      body: RowSchema,
      bodyExample: EXAMPLE,
      bodyBytesMax: BYTES_MAX,
      bodyAlsoAs: {
        'application/x-ndjson': { schema: Type.String(), example: `${JSON.stringify(EXAMPLE)}\n` },
        'text/csv': { schema: Type.String(), example: 'reference,type,amount,currency\nwelcome-42,order,230.10,INR\n' },
      },
      response: {
        description: 'The number of records that agree, and the differences',
        schema: ReportSchema,
        example: {
          ...{ agrees: false, matched: 0, only_ours: [], only_theirs: [FOREIGN], differs: [], counted_twice: [] },
          parts_at: {
            reference: EXAMPLE.reference,
            type: EXAMPLE.type,
            currency: 'INR',
            at: null,
            ours: 0,
            theirs: 230.1,
          },
        },
      },
      refuses: { body_unreadable: UNREAD, validation: WRONG_LIST, client_unknown: CLIENT_UNKNOWN },
    },
  )
}
