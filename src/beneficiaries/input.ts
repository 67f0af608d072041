import { Type } from '@sinclair/typebox'
import type { JsonObject } from '../http/json.ts'
import { bodyCheck, type Problem, Text, writingProblem } from '../http/validation.ts'
import type { Reference } from '../reference/reference.ts'

/** The size of metadata as JSON (contract C10). */
const METADATA_BYTES_MAX = 16_384

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

/** The body of createBeneficiary (spec 4.1). */
export const BeneficiaryBody = Type.Object(
  {
    email: Email,
    first_name: Name,
    last_name: Name,
    country: Type.Optional(CountryCode),
    phone: Type.Optional(Phone),
    metadata: Type.Optional(Metadata),
  },
  { title: 'BeneficiaryRequest' },
)

const checkBeneficiary = bodyCheck(BeneficiaryBody)

export interface BeneficiaryInput {
  email: string
  firstName: string
  lastName: string
  country: string | null
  phone: string | null
  /** JSON. */
  metadata: string
}

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

export const metadataRule = (metadata: object): Problem | undefined => {
  const problem = writingProblem(metadata)
  if (problem !== undefined) return { rule: 'format', problem }
  return Buffer.byteLength(JSON.stringify(metadata)) <= METADATA_BYTES_MAX
    ? undefined
    : { rule: 'max', problem: 'must be at most 16 KiB as JSON' }
}

/** Values that are not text are left to the validation. */
export const normalized = {
  name: (value: unknown) => (typeof value === 'string' ? value.trim() : value),
  country: (value: unknown) => (typeof value === 'string' ? upperCased(value) : value),
  phone: (value: unknown) => (typeof value === 'string' ? ungrouped(value) : value),
}

/** Only Latin letters, because others can become Latin in upper case, as ß becomes SS. */
const upperCased = (code: string): string => (/^[A-Za-z]{2}$/.test(code) ? code.toUpperCase() : code)

/** Fifteen digits with separators fit. */
const PHONE_CHARACTERS_MAX = 64

/** Removes the separators between digits; a text that is too long is left to the validation. */
const ungrouped = (phone: string): string =>
  phone.length > PHONE_CHARACTERS_MAX ? phone : phone.replace(/[\s()[\]\p{Dash_Punctuation}]/gu, '')

/** Whether the number is E.164 and valid in its country. */
const isPhoneNumber = (phone: string): boolean => {
  // Loaded on first use, because its table of numbers would slow down the start.
  const { parsePhoneNumberFromString } = require('libphonenumber-js/max') as typeof import('libphonenumber-js/max')
  const parsed = phone.length > PHONE_CHARACTERS_MAX ? undefined : parsePhoneNumberFromString(phone)
  return parsed?.isValid() === true && parsed.number === phone
}
