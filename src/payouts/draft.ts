import { Type } from '@sinclair/typebox'
import {
  CountryCode,
  countryRule,
  Email,
  inKeptForm,
  Metadata,
  metadataRule,
  Name,
  Phone,
  phoneRule,
} from '../beneficiaries/draft.ts'
import type { JsonObject } from '../http/body.ts'
import { Id } from '../http/schemas.ts'
import { bodyCheck } from '../http/validation.ts'
import { DomainError, type Violation } from '../kernel/failure.ts'
import { toMinor } from '../kernel/money.ts'
import type { Currency, Reference } from '../reference/reference.ts'

/** What a client sends to pay somebody (contract C13): a saved beneficiary, or a person by name. */
export const PayoutBody = Type.Object(
  {
    reference_id: Type.String({ minLength: 1, maxLength: 255, description: 'Your own name for the payout, used once' }),
    wallet_id: Id,
    amount: Type.Number({ minimum: 0.001, maximum: 1_000_000_000, description: 'What the beneficiary gets' }),
    currency: Type.String({ description: 'ISO 4217 code of the amount' }),
    beneficiary_id: Type.Optional(Type.String({ description: 'A saved beneficiary' })),
    beneficiary_email: Type.Optional(Email),
    beneficiary_first_name: Type.Optional(Name),
    beneficiary_last_name: Type.Optional(Name),
    beneficiary_country: Type.Optional(CountryCode),
    beneficiary_phone: Type.Optional(Phone),
    beneficiary_identifiers: Type.Optional(
      Type.Object(
        {},
        {
          title: 'BeneficiaryIdentifiers',
          additionalProperties: true,
          description: 'What else identifies the beneficiary to you',
        },
      ),
    ),
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    metadata: Type.Optional(Metadata),
    notify_beneficiary: Type.Optional(Type.Boolean({ description: 'Accepted; this program sends no messages' })),
  },
  { title: 'PayoutRequest' },
)

const checkPayout = bodyCheck(PayoutBody)

/** Whom a payout goes to, as it is copied into the payout. */
export interface Payee {
  email: string
  firstName: string
  lastName: string
  country: string | null
  phone: string | null
}

/** A payout that may be made, as far as its body tells. */
export interface PayoutDraft {
  referenceId: string
  walletId: number
  amountMinor: number
  currency: Currency
  payee: { beneficiaryId: string } | Payee
  /** JSON, or null. */
  identifiers: string | null
  description: string | null
  /** JSON. */
  metadata: string
}

const PERSON = ['beneficiary_email', 'beneficiary_first_name', 'beneficiary_last_name'] as const

/** Checks what was sent. @throws DomainError validation */
export const readPayout = (sent: JsonObject, reference: Reference): PayoutDraft => {
  const body = checkPayout(
    {
      ...sent,
      beneficiary_first_name: inKeptForm.name(sent.beneficiary_first_name),
      beneficiary_last_name: inKeptForm.name(sent.beneficiary_last_name),
      beneficiary_country: inKeptForm.country(sent.beneficiary_country),
      beneficiary_phone: inKeptForm.phone(sent.beneficiary_phone),
    },
    {
      currency: (code) =>
        reference.findCurrencyByCode(code)
          ? undefined
          : { rule: 'enum', problem: 'must be the ISO 4217 code of a circulating currency' },
      beneficiary_country: countryRule(reference),
      beneficiary_phone: phoneRule,
      metadata: metadataRule,
      beneficiary_identifiers: metadataRule,
    },
  )
  const currency = reference.findCurrencyByCode(body.currency)
  const amountMinor = currency && toMinor(body.amount, currency.precision)
  if (!currency || !amountMinor) {
    throw refused([{ field: 'amount', rule: 'format', problem: `must have at most ${currency?.precision} decimals` }])
  }
  return {
    referenceId: body.reference_id,
    walletId: body.wallet_id,
    amountMinor,
    currency,
    payee: readPayee(body),
    identifiers: body.beneficiary_identifiers ? JSON.stringify(body.beneficiary_identifiers) : null,
    description: body.description ?? null,
    metadata: JSON.stringify(body.metadata ?? {}),
  }
}

type CheckedBody = ReturnType<typeof checkPayout>

/** One saved beneficiary or one person: both at once would leave open who is paid. */
const readPayee = (body: CheckedBody): PayoutDraft['payee'] => {
  const named = PERSON.filter((field) => body[field] !== undefined)
  if (body.beneficiary_id !== undefined) {
    if (named.length > 0) {
      throw refused([{ field: 'beneficiary_id', rule: 'format', problem: `must not come with ${named.join(', ')}` }])
    }
    return { beneficiaryId: body.beneficiary_id }
  }
  const { beneficiary_email, beneficiary_first_name, beneficiary_last_name } = body
  if (!beneficiary_email || !beneficiary_first_name || !beneficiary_last_name) {
    const missing = named.length === 0 ? ['beneficiary_id'] : PERSON.filter((field) => body[field] === undefined)
    throw refused(missing.map((field) => ({ field, rule: 'required', problem: 'is required' })))
  }
  return {
    email: beneficiary_email,
    firstName: beneficiary_first_name,
    lastName: beneficiary_last_name,
    country: body.beneficiary_country ?? null,
    phone: body.beneficiary_phone ?? null,
  }
}

const refused = (violations: readonly Violation[]): DomainError => new DomainError({ code: 'validation', violations })
