import type { JsonObject } from '../http/json.ts'
import { pageOf } from '../http/operation.ts'
import { paged } from '../http/pagination.ts'
import { once } from '../idempotency/once.ts'
import { foundOr, violation } from '../kernel/failure.ts'
import type { Reference } from '../reference/reference.ts'
import type { Guard } from '../sessions/guard.ts'
import { getBeneficiary, listBeneficiaries, saveBeneficiary } from './beneficiaries.ts'
import {
  BENEFICIARY_NOT_FOUND,
  BeneficiaryBody,
  BeneficiaryListQuery,
  BeneficiaryPath,
  BeneficiarySchema,
  beneficiaryWire,
  readBeneficiary,
} from './contract.ts'
import { deleteBeneficiary } from './queries.ts'

/** Saved beneficiaries (spec 4.1). */
export const beneficiaryRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) =>
  guard
    .routes({
      prefix: '/api/v1/beneficiaries',
      tag: 'Beneficiaries',
      tagDescription: 'Saved recipients of payouts.',
      errorShape: 'flat',
      names: 'beneficiaries.',
    })
    .get('/', ({ query, session, set }) => paged(set, query, listBeneficiaries(reference, session, query)), {
      id: 'listBeneficiaries',
      summary: 'List saved beneficiaries',
      description: 'Searched by e-mail and name, sorted and paged; the newest first.',
      query: BeneficiaryListQuery,
      response: pageOf('A page of beneficiaries', BeneficiarySchema),
      refuses: { list_validation: violation('limit', 'max', 'must be at most 100') },
    })
    .post(
      '/',
      async (incoming) => {
        const { world, client } = incoming.session
        // Nothing has been paid yet, in any precision.
        return once(incoming, (tx, input) => beneficiaryWire(saveBeneficiary(tx, world, client.id, input), 0))
      },
      {
        id: 'createBeneficiary',
        summary: 'Save a beneficiary',
        description: 'The same e-mail address may be saved more than once.',
        body: BeneficiaryBody,
        read: (sent: JsonObject) => readBeneficiary(sent, reference),
        once: true,
        response: { status: 201, description: 'The saved beneficiary', schema: BeneficiarySchema },
        refuses: {
          email_missing: violation('email', 'required', 'is required'),
          email_invalid: violation('email', 'email', 'must be a valid e-mail address'),
        },
      },
    )
    .get('/:id', ({ params, session }) => getBeneficiary(reference, session, params.id), {
      id: 'getBeneficiary',
      summary: 'Get a saved beneficiary',
      description: 'Includes the total paid so far.',
      params: BeneficiaryPath,
      response: { description: 'The beneficiary', schema: BeneficiarySchema },
      refuses: { not_found: BENEFICIARY_NOT_FOUND },
    })
    .delete(
      '/:id',
      async ({ params, session: { client, write } }) =>
        write((tx) => void foundOr(deleteBeneficiary(tx, client.id, params.id), BENEFICIARY_NOT_FOUND)),
      {
        id: 'deleteBeneficiary',
        summary: 'Delete a saved beneficiary',
        description: 'Its payouts stay as they are.',
        params: BeneficiaryPath,
        response: { status: 204, description: 'The beneficiary is deleted' },
        refuses: { delete_not_found: BENEFICIARY_NOT_FOUND },
      },
    )
