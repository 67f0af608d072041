import { Elysia } from 'elysia'
import { BODY_UNREADABLE } from '../http/failures.ts'
import type { JsonObject } from '../http/json.ts'
import { operationsOf, pageOf } from '../http/operation.ts'
import { paged } from '../http/pagination.ts'
import { keyErrors, once } from '../idempotency/once.ts'
import { violation } from '../kernel/failure.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import { getBeneficiary, listBeneficiaries, removeBeneficiary, saveBeneficiary } from './beneficiaries.ts'
import {
  BENEFICIARY_NOT_FOUND,
  BeneficiaryBody,
  BeneficiaryListQuery,
  BeneficiaryPath,
  BeneficiarySchema,
  beneficiaryWire,
  readBeneficiary,
} from './contract.ts'

const operation = operationsOf({
  tag: 'Beneficiaries',
  tagDescription: 'Saved recipients of payouts.',
  errorShape: 'flat',
})

const operationsWith = (reference: Reference) => ({
  list: operation({
    id: 'listBeneficiaries',
    summary: 'List saved beneficiaries',
    description: 'Searched by e-mail and name, sorted and paged; the newest first.',
    query: BeneficiaryListQuery,
    success: pageOf('A page of beneficiaries', BeneficiarySchema),
    errors: { 'beneficiaries.list_validation': violation('limit', 'max', 'must be at most 100') },
  }),
  create: operation({
    id: 'createBeneficiary',
    summary: 'Save a beneficiary',
    description: 'The same e-mail address may be saved more than once.',
    body: BeneficiaryBody,
    read: (sent: JsonObject) => readBeneficiary(sent, reference),
    once: true,
    success: { status: 201, description: 'The saved beneficiary', schema: BeneficiarySchema },
    errors: {
      'beneficiaries.body_unreadable': BODY_UNREADABLE,
      'beneficiaries.email_missing': violation('email', 'required', 'is required'),
      'beneficiaries.email_invalid': violation('email', 'email', 'must be a valid e-mail address'),
      ...keyErrors('beneficiaries'),
    },
  }),
  get: operation({
    id: 'getBeneficiary',
    summary: 'Get a saved beneficiary',
    description: 'Includes the total paid so far.',
    params: BeneficiaryPath,
    success: { status: 200, description: 'The beneficiary', schema: BeneficiarySchema },
    errors: { 'beneficiaries.not_found': BENEFICIARY_NOT_FOUND },
  }),
  remove: operation({
    id: 'deleteBeneficiary',
    summary: 'Delete a saved beneficiary',
    description: 'Its payouts stay as they are.',
    params: BeneficiaryPath,
    success: { status: 204, description: 'The beneficiary is deleted' },
    errors: { 'beneficiaries.delete_not_found': BENEFICIARY_NOT_FOUND },
  }),
})

/** Saved beneficiaries (spec 4.1). */
export const beneficiaryRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) => {
  const { list, create, get, remove } = operationsWith(reference)
  return new Elysia({ name: 'beneficiaries', prefix: '/api/v1/beneficiaries' })
    .use(guard.plugin())
    .get('/', ({ query, session, set }) => paged(set, query, listBeneficiaries(reference, session, query)), list)
    .post(
      '/',
      async ({ body, session, set }) =>
        once(body, session, set, (tx, input) =>
          // Nothing has been paid yet, in any precision.
          beneficiaryWire(saveBeneficiary(tx, session.world, session.client.id, input), 0),
        ),
      create,
    )
    .get('/:id', ({ params, session }) => getBeneficiary(reference, session, params.id), get)
    .delete(
      '/:id',
      async ({ params, session: { client, write } }) => write((tx) => removeBeneficiary(tx, client.id, params.id)),
      remove,
    )
}
