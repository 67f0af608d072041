import { countryRule, metadataRule, normalized, phoneRule } from '../beneficiaries/contract.ts'
import type { JsonObject } from '../http/json.ts'
import { bodyCheck } from '../http/validation.ts'
import type { Problem, Violation } from '../kernel/failure.ts'
import { sizeFault, toMinor } from '../kernel/money.ts'
import type { Currency, Reference } from '../reference/reference.ts'
import { CURRENCY_WRONG, PayoutBody } from './contract.ts'

const checkPayout = bodyCheck(PayoutBody)

interface Payee {
  email: string
  firstName: string
  lastName: string
  country: string | null
  phone: string | null
}

export interface PayoutInput {
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

/** @throws DomainError validation */
export const readPayout = (sent: JsonObject, reference: Reference): PayoutInput => {
  const currency = typeof sent.currency === 'string' ? reference.findCurrencyByCode(sent.currency) : undefined
  const body = checkPayout(
    {
      ...sent,
      beneficiary_first_name: normalized.name(sent.beneficiary_first_name),
      beneficiary_last_name: normalized.name(sent.beneficiary_last_name),
      beneficiary_country: normalized.country(sent.beneficiary_country),
      beneficiary_phone: normalized.phone(sent.beneficiary_phone),
    },
    {
      amount: amountRule(currency),
      currency: () => (currency ? undefined : CURRENCY_WRONG),
      beneficiary_country: countryRule(reference),
      beneficiary_phone: phoneRule,
      metadata: metadataRule,
      beneficiary_identifiers: metadataRule,
    },
    payeeFaults,
  )
  const known = guaranteed(currency)
  return {
    referenceId: body.reference_id,
    walletId: body.wallet_id,
    amountMinor: guaranteed(toMinor(body.amount, known.precision)),
    currency: known,
    payee: payeeOf(body),
    identifiers: body.beneficiary_identifiers ? JSON.stringify(body.beneficiary_identifiers) : null,
    description: body.description ?? null,
    metadata: JSON.stringify(body.metadata ?? {}),
  }
}

/** The rule of an amount. Without a known currency, it cannot check the number of decimals. */
const amountRule =
  (currency: Currency | undefined) =>
  (amount: number): Problem | undefined => {
    if (!currency) return amount > 0 ? sizeFault(amount, 0) : { rule: 'min', problem: 'must be greater than 0' }
    const { precision } = currency
    const fault = sizeFault(amount, precision)
    if (fault || toMinor(amount, precision) !== undefined) return fault
    return { rule: 'format', problem: `must have at most ${precision} decimals` }
  }

/** Requires either a saved beneficiary or a person: with both, the payee would be unclear. */
const payeeFaults = (body: JsonObject): Violation[] => {
  const named = PERSON.filter((field) => body[field] !== undefined)
  if (body.beneficiary_id !== undefined) {
    if (named.length === 0) return []
    return [{ field: 'beneficiary_id', rule: 'format', problem: `cannot be combined with ${named.join(', ')}` }]
  }
  if (named.length === 0) return [{ field: 'beneficiary_id', rule: 'required', problem: PAYEE_REQUIRED }]
  return PERSON.filter((field) => !named.includes(field)).map((field) => ({
    field,
    rule: 'required',
    problem: 'is required',
  }))
}

const PAYEE_REQUIRED = 'is required, or beneficiary_email, beneficiary_first_name and beneficiary_last_name'

const payeeOf = (body: ReturnType<typeof checkPayout>): PayoutInput['payee'] =>
  body.beneficiary_id !== undefined
    ? { beneficiaryId: body.beneficiary_id }
    : {
        email: guaranteed(body.beneficiary_email),
        firstName: guaranteed(body.beneficiary_first_name),
        lastName: guaranteed(body.beneficiary_last_name),
        country: body.beneficiary_country ?? null,
        phone: body.beneficiary_phone ?? null,
      }

/** A value that the validation of the body guarantees. */
const guaranteed = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('a check has let a missing value through')
  return value
}
