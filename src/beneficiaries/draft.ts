import { Type } from '@sinclair/typebox'
import type { JsonObject } from '../http/json.ts'
import { bodyCheck, type Problem, Text, writingProblem } from '../http/validation.ts'
import type { Reference } from '../reference/reference.ts'

/** Metadata is kept as JSON of at most this many bytes (contract C10). */
const METADATA_BYTES_MAX = 16_384

/** A first or last name, after trimming. */
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

/** What a client sends to save a beneficiary (spec 4.1). */
export const DraftBody = Type.Object(
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

const checkDraft = bodyCheck(DraftBody)

/** A beneficiary that may be saved: its members in the form in which they are kept. */
export interface Draft {
  email: string
  firstName: string
  lastName: string
  country: string | null
  phone: string | null
  /** JSON. */
  metadata: string
}

/** Checks what was sent, in the form in which it is kept. @throws DomainError validation */
export const readDraft = (sent: JsonObject, reference: Reference): Draft => {
  const body = checkDraft(
    {
      ...sent,
      first_name: inKeptForm.name(sent.first_name),
      last_name: inKeptForm.name(sent.last_name),
      country: inKeptForm.country(sent.country),
      phone: inKeptForm.phone(sent.phone),
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

/** The rule for a country, in the form in which it is kept. */
export const countryRule =
  (reference: Reference) =>
  (code: string): Problem | undefined =>
    reference.hasAlpha2(code) ? undefined : { rule: 'enum', problem: 'must be an ISO 3166-1 alpha-2 country code' }

/** The rule for a phone number, in the form in which it is kept. */
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

/** The forms in which members are kept; what is no text stays as it is, for the check to refuse. */
export const inKeptForm = {
  name: (value: unknown) => inText(value, trimmed),
  country: (value: unknown) => inText(value, upperCased),
  phone: (value: unknown) => inText(value, ungrouped),
}

/** What is no text is left to the check. */
const inText = (value: unknown, change: (text: string) => string): unknown =>
  typeof value === 'string' ? change(value) : value

const trimmed = (name: string): string => name.trim()

/** Latin letters only: in upper case other letters turn into them, as the sharp s does into SS. */
const upperCased = (code: string): string => (/^[A-Za-z]{2}$/.test(code) ? code.toUpperCase() : code)

/** Room for fifteen digits and every mark between them. */
const PHONE_CHARACTERS_MAX = 64

/** Without the marks that people group digits with; what is far too long for a number is none. */
const ungrouped = (phone: string): string =>
  phone.length > PHONE_CHARACTERS_MAX ? phone : phone.replace(/[\s()[\]\p{Dash_Punctuation}]/gu, '')

/** E.164, and a number that its country could have given out. */
const isPhoneNumber = (phone: string): boolean => {
  // Loaded with the first number: its table of the world's numbers would take part of every start.
  const { parsePhoneNumberFromString } = require('libphonenumber-js/max') as typeof import('libphonenumber-js/max')
  const parsed = phone.length > PHONE_CHARACTERS_MAX ? undefined : parsePhoneNumberFromString(phone)
  return parsed?.isValid() === true && parsed.number === phone
}
