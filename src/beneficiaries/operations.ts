import { Type } from '@sinclair/typebox'
import { operationsOf, pageOf } from '../http/operation.ts'
import { orderQuery, pageQuery, searchFilter } from '../http/parameters.ts'
import { nullable, Timestamp } from '../http/schemas.ts'
import { CREATED_ONCE_HEADERS, IdempotencyHeaders } from '../idempotency/schemas.ts'
import type { Reference } from '../reference/reference.ts'
import {
  CREATE_BENEFICIARY_ERRORS,
  DELETE_BENEFICIARY_ERRORS,
  GET_BENEFICIARY_ERRORS,
  LIST_BENEFICIARIES_ERRORS,
} from './errors.ts'
import { BeneficiaryBody, readBeneficiary } from './input.ts'
import { BENEFICIARY_SORTS } from './queries.ts'

const operation = operationsOf({
  tag: 'Beneficiaries',
  tagDescription: 'Saved recipients of payouts.',
  errorShape: 'flat',
})

export const ROUTE = '/api/v1/beneficiaries'
const PAGE = { limitDefault: 20, limitMax: 100 }

export const BeneficiarySchema = Type.Object(
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
  id: Type.String({
    description: 'The beneficiary identifier, as a response gave it',
    example: 'ben_0mjvbk3w000000a7f3k9q2xz',
  }),
})
const ListQuery = Type.Object({
  ...pageQuery(PAGE),
  search: searchFilter('A part of the e-mail or the name, in either case', 'ada'),
  ...orderQuery(BENEFICIARY_SORTS),
})

const REQUEST_EXAMPLE = {
  email: 'ada@example.com',
  first_name: 'Ada',
  last_name: 'Lovelace',
  country: 'GB',
  phone: '+442079460958',
  metadata: { employee: 'E-1815' },
}
const BENEFICIARY_EXAMPLE = {
  id: 'ben_0mjvbk3w000000a7f3k9q2xz',
  ...REQUEST_EXAMPLE,
  total_payouts: 0,
  total_amount: 0,
  last_payout_at: null,
  created_at: '2026-01-01T00:00:00.000Z',
}

export const listBeneficiaries = operation({
  id: 'listBeneficiaries',
  summary: 'List saved beneficiaries',
  unexpectedError: 'Failed to retrieve beneficiaries',
  description: 'Searched by e-mail and name, sorted and paged; the newest first.',
  query: ListQuery,
  success: pageOf('A page of beneficiaries', BeneficiarySchema, BENEFICIARY_EXAMPLE),
  errors: LIST_BENEFICIARIES_ERRORS,
})

export const createBeneficiary = (reference: Reference) =>
  operation({
    id: 'createBeneficiary',
    summary: 'Save a beneficiary',
    unexpectedError: 'Failed to create beneficiary',
    description: 'The same e-mail address may be saved more than once.',
    headers: IdempotencyHeaders,
    body: BeneficiaryBody,
    bodyExample: REQUEST_EXAMPLE,
    once: true,
    read: (sent) => readBeneficiary(sent, reference),
    success: {
      status: 201,
      description: 'The saved beneficiary',
      schema: BeneficiarySchema,
      example: BENEFICIARY_EXAMPLE,
      headers: CREATED_ONCE_HEADERS,
    },
    errors: CREATE_BENEFICIARY_ERRORS,
  })

export const getBeneficiary = operation({
  id: 'getBeneficiary',
  summary: 'Get a saved beneficiary',
  unexpectedError: 'Failed to retrieve beneficiary',
  description: 'Includes the total paid so far.',
  params: BeneficiaryPath,
  success: { status: 200, description: 'The beneficiary', schema: BeneficiarySchema, example: BENEFICIARY_EXAMPLE },
  errors: GET_BENEFICIARY_ERRORS,
})

export const deleteBeneficiary = operation({
  id: 'deleteBeneficiary',
  summary: 'Delete a saved beneficiary',
  unexpectedError: 'Failed to delete beneficiary',
  description: 'Its payouts stay as they are.',
  params: BeneficiaryPath,
  success: { status: 204, description: 'The beneficiary is deleted' },
  errors: DELETE_BENEFICIARY_ERRORS,
})
