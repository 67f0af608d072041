import { type Static, Type } from '@sinclair/typebox'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { JsonObject } from '../http/body.ts'
import { bodyCheck } from '../http/validation.ts'
import { violated } from '../kernel/failure.ts'
import type { Reference } from '../reference/reference.ts'

/** Metadata is kept as JSON of at most this many bytes (contract C10). */
const METADATA_BYTES_MAX = 16_384

const Name = (description: string) => Type.String({ minLength: 1, maxLength: 100, description })

/** What a client sends to save a beneficiary (spec 4.1). */
export const DraftBody = Type.Object({
  email: Type.String({ format: 'email', maxLength: 254 }),
  first_name: Name('1 to 100 characters after trimming'),
  last_name: Name('1 to 100 characters after trimming'),
  country: Type.Optional(Type.String({ description: 'ISO 3166-1 alpha-2, in either case' })),
  phone: Type.Optional(Type.String({ description: 'Phone number including country code' })),
  metadata: Type.Optional(
    Type.Object(
      {},
      { additionalProperties: true, description: 'Free-form client reference data, at most 16 KiB as JSON' },
    ),
  ),
})

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

/** Checks what was sent. @throws DomainError validation */
export const readDraft = (sent: JsonObject, reference: Reference): Draft => {
  const body: Static<typeof DraftBody> = checkDraft({
    ...sent,
    first_name: trimmed(sent.first_name),
    last_name: trimmed(sent.last_name),
  })
  return {
    email: body.email,
    firstName: body.first_name,
    lastName: body.last_name,
    country: readCountry(body.country, reference),
    phone: readPhone(body.phone),
    metadata: readMetadata(body.metadata),
  }
}

const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value)

const readCountry = (country: string | undefined, reference: Reference): string | null => {
  if (country === undefined) return null
  const code = country.toUpperCase()
  if (!reference.hasAlpha2(code)) throw violated('country', 'enum', 'must be an ISO 3166-1 alpha-2 country code')
  return code
}

/** E.164, after the marks that people group digits with are taken out. */
const readPhone = (phone: string | undefined): string | null => {
  if (phone === undefined) return null
  const plain = phone.replace(/[\s()[\]-]/g, '')
  const parsed = parsePhoneNumberFromString(plain)
  if (!parsed?.isValid() || parsed.number !== plain) {
    throw violated('phone', 'format', 'must be a valid phone number including the country code')
  }
  return plain
}

const readMetadata = (metadata: object | undefined): string => {
  const json = JSON.stringify(metadata ?? {})
  if (Buffer.byteLength(json) > METADATA_BYTES_MAX) throw violated('metadata', 'max', 'must be at most 16 KiB as JSON')
  return json
}
