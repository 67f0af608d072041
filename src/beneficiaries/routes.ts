import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented, PAGE_HEADERS } from '../http/operation.ts'
import { pageHeaders } from '../http/pagination.ts'
import { DIRECTIONS, QueryReader } from '../http/query.ts'
import { nullable, orderQuery, pageQuery, Timestamp } from '../http/schemas.ts'
import { once } from '../idempotency/once.ts'
import { CREATED_ONCE_HEADERS, IdempotencyHeaders } from '../idempotency/schemas.ts'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { found } from '../kernel/failure.ts'
import { toMajor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import type { Session } from '../sessions/sessions.ts'
import { findDefaultWallet } from '../wallets/queries.ts'
import { saveBeneficiary } from './beneficiaries.ts'
import { DraftBody, readDraft } from './draft.ts'
import {
  BENEFICIARY_SORTS,
  type Beneficiary,
  deleteBeneficiary,
  findBeneficiary,
  listBeneficiaries,
} from './queries.ts'

/** Saved beneficiaries (spec 4.1). Errors leave in the flat shape. */

const ROUTE = '/api/v1/beneficiaries'
const PAGE = { limitDefault: 20, limitMax: 100 }

const BeneficiarySchema = Type.Object(
  {
    id: Type.String({ description: 'Prefixed with ben_' }),
    email: Type.String(),
    first_name: Type.String(),
    last_name: Type.String(),
    country: nullable(Type.String({ description: 'ISO 3166-1 alpha-2' })),
    phone: nullable(Type.String({ description: 'E.164' })),
    metadata: Type.Object({}, { title: 'Metadata', additionalProperties: true }),
    total_payouts: Type.Integer({ description: 'Completed payouts to this beneficiary' }),
    total_amount: Type.Number({ description: 'Sum paid, in the currency of the default wallet' }),
    last_payout_at: nullable(Timestamp),
    created_at: Timestamp,
  },
  { title: 'Beneficiary' },
)
const BeneficiaryPath = Type.Object({
  id: Type.String({ description: 'The beneficiary identifier', example: 'ben_0mjvbk3w000000a7f3k9q2xz' }),
})
const ListQuery = Type.Object({
  ...pageQuery(PAGE),
  search: Type.Optional(Type.String({ description: 'A part of the e-mail or the name, in either case' })),
  ...orderQuery(BENEFICIARY_SORTS),
})

const DRAFT_EXAMPLE = {
  email: 'ada@example.com',
  first_name: 'Ada',
  last_name: 'Lovelace',
  country: 'GB',
  phone: '+442079460958',
  metadata: { employee: 'E-1815' },
}
const BENEFICIARY_EXAMPLE = {
  id: 'ben_0mjvbk3w000000a7f3k9q2xz',
  ...DRAFT_EXAMPLE,
  total_payouts: 0,
  total_amount: 0,
  last_payout_at: null,
  created_at: '2026-01-01T00:00:00.000Z',
}

export const beneficiaryRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) => {
  const wireFor = ({ world, client }: Session) => {
    const wallet = findDefaultWallet(world.db.query, client.id)
    const precision = wallet ? reference.getCurrency(wallet.currencyId).precision : 0
    return (beneficiary: Beneficiary) => beneficiaryWire(beneficiary, precision)
  }

  return new Elysia({ name: 'beneficiaries', prefix: ROUTE })
    .use(guard.plugin())
    .get(
      '/',
      async ({ request, session, set }) => {
        const query = new QueryReader(request.url)
        const page = query.page(PAGE)
        const search = query.text('search')
        const sortBy = query.choice('sort_by', BENEFICIARY_SORTS) ?? 'created_at'
        const sortOrder = query.choice('sort_order', DIRECTIONS) ?? 'DESC'
        query.finish()
        const { rows, totalCount } = await listBeneficiaries(session.world, session.client.id, {
          page,
          search,
          sortBy,
          sortOrder,
        })
        Object.assign(set.headers, pageHeaders(page, totalCount))
        return rows.map(wireFor(session))
      },
      documented({
        id: 'listBeneficiaries',
        tag: 'Beneficiaries',
        summary: 'List saved beneficiaries',
        description: 'Searched by e-mail and name, sorted and paged; the newest first.',
        query: ListQuery,
        success: {
          status: 200,
          description: 'A page of beneficiaries',
          schema: Type.Array(BeneficiarySchema),
          example: [BENEFICIARY_EXAMPLE],
          headers: PAGE_HEADERS,
        },
        refusals: {
          'beneficiaries.list_validation': {
            code: 'validation',
            violations: [{ field: 'limit', rule: 'max', problem: 'must be at most 100' }],
          },
        },
      }),
    )
    .post(
      '/',
      async ({ request, session, set }) => {
        const wire = wireFor(session)
        return once({ request, set }, session, {
          route: ROUTE,
          status: 201,
          check: (sent) => readDraft(sent, reference),
          apply: (tx, draft) => wire(saveBeneficiary(tx, session.world, session.client.id, draft)),
        })
      },
      documented({
        id: 'createBeneficiary',
        tag: 'Beneficiaries',
        summary: 'Save a beneficiary',
        description: 'The same e-mail address may be saved more than once.',
        headers: IdempotencyHeaders,
        body: { schema: DraftBody, example: DRAFT_EXAMPLE },
        success: {
          status: 201,
          description: 'The saved beneficiary',
          schema: BeneficiarySchema,
          example: BENEFICIARY_EXAMPLE,
          headers: CREATED_ONCE_HEADERS,
        },
        refusals: {
          'beneficiaries.body_unreadable': { code: 'body_unreadable' },
          'beneficiaries.email_missing': {
            code: 'validation',
            violations: [{ field: 'email', rule: 'required', problem: 'is required' }],
          },
          'beneficiaries.email_invalid': {
            code: 'validation',
            violations: [{ field: 'email', rule: 'email', problem: 'must be a valid e-mail address' }],
          },
          'beneficiaries.idempotency_key_malformed': { code: 'idempotency_key_malformed' },
          'beneficiaries.idempotency_key_reused': { code: 'idempotency_key_reused' },
        },
      }),
    )
    .get(
      '/:id',
      ({ params, session }) =>
        wireFor(session)(found(findBeneficiary(session.world.db.query, session.client.id, params.id), 'beneficiary')),
      documented({
        id: 'getBeneficiary',
        tag: 'Beneficiaries',
        summary: 'Get a saved beneficiary',
        description: 'With what was paid to the person so far.',
        path: BeneficiaryPath,
        success: {
          status: 200,
          description: 'The beneficiary',
          schema: BeneficiarySchema,
          example: BENEFICIARY_EXAMPLE,
        },
        refusals: { 'beneficiaries.not_found': { code: 'not_found', resource: 'beneficiary' } },
      }),
    )
    .delete(
      '/:id',
      async ({ params, session, set }) => {
        await session.write((tx) => deleteBeneficiary(tx, session.client.id, params.id))
        set.status = 204
      },
      documented({
        id: 'deleteBeneficiary',
        tag: 'Beneficiaries',
        summary: 'Delete a saved beneficiary',
        description: 'Payouts that were made to it are unaffected.',
        path: BeneficiaryPath,
        success: { status: 204, description: 'The beneficiary is deleted' },
        refusals: { 'beneficiaries.delete_not_found': { code: 'not_found', resource: 'beneficiary' } },
      }),
    )
}

const beneficiaryWire = (beneficiary: Beneficiary, precision: number) => ({
  id: beneficiary.id,
  email: beneficiary.email,
  first_name: beneficiary.firstName,
  last_name: beneficiary.lastName,
  country: beneficiary.country,
  phone: beneficiary.phone,
  metadata: JSON.parse(beneficiary.metadata) as object,
  total_payouts: beneficiary.totalPayouts,
  total_amount: toMajor(beneficiary.totalAmountMinor, precision),
  last_payout_at: toTimestampOrNull(beneficiary.lastPayoutAtMs),
  created_at: toTimestamp(beneficiary.createdAtMs),
})
