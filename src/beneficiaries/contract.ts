import { type Static, Type } from '@sinclair/typebox'
import type { JsonObject } from '../http/json.ts'
import { orderQuery, pageQuery, searchFilter, textPath } from '../http/parameters.ts'
import { nullable, Timestamp } from '../http/schemas.ts'
import { bodyCheck, Text, writingProblem } from '../http/validation.ts'
import { toTimestamp, toTimestampOrNull } from '../kernel/clock.ts'
import { notFound, type Problem } from '../kernel/failure.ts'
import { toMajor } from '../kernel/money.ts'
import { storedObject } from '../kernel/unreadable.ts'
import type { Reference } from '../reference/reference.ts'
import { BENEFICIARY_SORTS, type Beneficiary } from './queries.ts'

/** Saved beneficiaries in the API (spec 4.1, contract C10). */

export const BENEFICIARY_NOT_FOUND = notFound('Beneficiary')

export const Name = Text({ minLength: 1, maxLength: 100, description: '1 to 100 characters after trimming' })
export const Email = Text({ format: 'email', maxLength: 254 })
export const CountryCode = Text({ description: 'ISO 3166-1 alpha-2, in either case' })
export const Phone = Text({ description: 'Phone number including country code' })
export const Metadata = Type.Object(
  {},
  {
    title: 'Metadata',
    additionalProperties: true,
    description: 'Free-form client reference data, at most 16 KiB as JSON',
  },
)

export const BeneficiaryBody = Type.Object(
  {
    email: { ...Email, example: 'ada@example.com' },
    first_name: { ...Name, example: 'Ada' },
    last_name: { ...Name, example: 'Lovelace' },
    country: Type.Optional({ ...CountryCode, example: 'GB' }),
    phone: Type.Optional({ ...Phone, example: '+442079460958' }),
    metadata: Type.Optional({ ...Metadata, example: { employee: 'E-1815' } }),
  },
  { title: 'BeneficiaryRequest' },
)

const ID_EXAMPLE = 'ben_0mjvbk3w000000a7f3k9q2xz'
export const BeneficiaryPath = textPath('beneficiary', ID_EXAMPLE)
export const BeneficiaryListQuery = Type.Object({
  ...pageQuery({ limitDefault: 20, limitMax: 100 }),
  search: searchFilter('Part of the e-mail address or the name; case does not matter', 'ada'),
  ...orderQuery(BENEFICIARY_SORTS),
})

export const BeneficiarySchema = Type.Object(
  {
    id: Type.String({ description: 'Prefixed with ben_', example: ID_EXAMPLE }),
    email: Type.String({ example: 'ada@example.com' }),
    first_name: Type.String({ example: 'Ada' }),
    last_name: Type.String({ example: 'Lovelace' }),
    country: nullable(Type.String({ description: 'ISO 3166-1 alpha-2', example: 'GB' })),
    phone: nullable(Type.String({ description: 'E.164', example: '+442079460958' })),
    metadata: Type.Object({}, { title: 'Metadata', additionalProperties: true, example: { employee: 'E-1815' } }),
    total_payouts: Type.Integer({ description: 'Completed payouts to this beneficiary', example: 0 }),
    total_amount: Type.Number({ description: 'Sum paid, in the currency of the default wallet', example: 0 }),
    last_payout_at: nullable(Timestamp),
    created_at: Timestamp,
  },
  { title: 'Beneficiary' },
)

export const beneficiaryWire = (beneficiary: Beneficiary, precision: number): Static<typeof BeneficiarySchema> => ({
  id: beneficiary.id,
  email: beneficiary.email,
  first_name: beneficiary.firstName,
  last_name: beneficiary.lastName,
  country: beneficiary.country,
  phone: beneficiary.phone,
  metadata: storedObject(beneficiary.metadata, () => `metadata of beneficiary ${beneficiary.id}`),
  total_payouts: beneficiary.totalPayouts,
  total_amount: toMajor(beneficiary.totalAmountMinor, precision),
  last_payout_at: toTimestampOrNull(beneficiary.lastPayoutAtMs),
  created_at: toTimestamp(beneficiary.createdAtMs),
})

/** `metadata` is JSON. */
export type BeneficiaryInput = Pick<Beneficiary, 'email' | 'firstName' | 'lastName' | 'country' | 'phone' | 'metadata'>

const checkBeneficiary = bodyCheck(BeneficiaryBody)

/** @throws DomainError validation */
export const readBeneficiary = (sent: JsonObject, reference: Reference): BeneficiaryInput => {
  const body = checkBeneficiary(
    {
      ...sent,
      first_name: normalized.name(sent.first_name),
      last_name: normalized.name(sent.last_name),
      country: normalized.country(sent.country),
      phone: normalized.phone(sent.phone),
    },
    { country: countryRule(reference), phone: phoneRule, metadata: metadataRule },
  )
  return {
    email: body.email,
    firstName: body.first_name,
    lastName: body.last_name,
    country: body.country ?? null,
    phone: body.phone ?? null,
    metadata: JSON.stringify(body.metadata ?? {}),
  }
}

export const countryRule =
  (reference: Reference) =>
  (code: string): Problem | undefined =>
    reference.hasAlpha2(code) ? undefined : { rule: 'enum', problem: 'must be an ISO 3166-1 alpha-2 country code' }

export const phoneRule = (phone: string): Problem | undefined =>
  isPhoneNumber(phone)
    ? undefined
    : { rule: 'format', problem: 'must be a valid phone number including the country code' }

/** The size of metadata as JSON (contract C10). */
const METADATA_BYTES_MAX = 16_384

export const metadataRule = (metadata: object): Problem | undefined => {
  const problem = writingProblem(metadata)
  if (problem !== undefined) return { rule: 'format', problem }
  return Buffer.byteLength(JSON.stringify(metadata)) <= METADATA_BYTES_MAX
    ? undefined
    : { rule: 'max', problem: 'must be at most 16 KiB as JSON' }
}

const ifText = (convert: (text: string) => string) => (value: unknown) =>
  typeof value === 'string' ? convert(value) : value

/** Fifteen digits with separators fit. */
const PHONE_CHARACTERS_MAX = 64

/** Normalizes texts. Values that are not text, or too long, are left to the validation. */
export const normalized = {
  name: ifText((name) => name.trim()),
  // Only Latin letters, because others can become Latin in upper case, as ß becomes SS.
  country: ifText((code) => (/^[A-Za-z]{2}$/.test(code) ? code.toUpperCase() : code)),
  phone: ifText((phone) => (phone.length > PHONE_CHARACTERS_MAX ? phone : dialled(phone))),
}

/** A `(0)` behind the country code, which people write for callers from the same country. */
const TRUNK_ZERO = /^(\+\d{1,3})\(0\)/

/** A number as it is dialled from abroad, where a few countries keep the zero. Separators between digits are removed. */
const dialled = (phone: string): string => {
  const compact = phone.replace(/[\s.[\]\p{Dash_Punctuation}]/gu, '')
  const digits = (text: string) => text.replace(/[()]/g, '')
  const kept = digits(compact)
  return TRUNK_ZERO.test(compact) && !isPhoneNumber(kept) ? digits(compact.replace(TRUNK_ZERO, '$1')) : kept
}

/** True if the number is E.164 and valid in its country. */
const isPhoneNumber = (phone: string): boolean => {
  // Loaded on first use, because its table of numbers would slow down the start.
  const { parsePhoneNumberFromString } = require('libphonenumber-js/max') as typeof import('libphonenumber-js/max')
  const parsed = phone.length > PHONE_CHARACTERS_MAX ? undefined : parsePhoneNumberFromString(phone)
  return parsed?.isValid() === true && parsed.number === phone
}
