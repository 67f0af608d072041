import type { ResponseHeaders } from '../../http/observer.ts'

/** Removes all secrets that grant access from headers, bodies and paths of the request log (decision 0014). */

export const REDACTED = '[redacted]'

/** Names of secrets end with one of these, whoever chose them: `x-api-key`, `idToken`, `client_secret`. */
const SECRET_WORDS = 'password|secret|token|authorization|cookie|api[_-]?key'
const VOUCHER_NAMES = 'card_number|pin_code|claim_url'
/** A member name may be escaped: a text without a secret name and without an escape holds no secret. */
const SUSPECT = new RegExp(`${SECRET_WORDS}|${VOUCHER_NAMES}|\\\\u`, 'i')
const SECRET_NAME = new RegExp(`(?:${SECRET_WORDS})$|^(?:${VOUCHER_NAMES})$`, 'i')

/** Header names in lower case, secret values replaced. */
export const redactedHeaders = (headers: ResponseHeaders): Record<string, string> =>
  Object.fromEntries(
    (headers instanceof Headers ? [...headers] : Object.entries(headers)).map(([spelled, value]) => {
      const name = spelled.toLowerCase()
      return [name, SECRET_NAME.test(name) ? REDACTED : String(value)]
    }),
  )

const BODY_CHARACTERS_MAX = 65_536
/** The most bytes that this many characters take in UTF-8, and one character more to see whether there are more. */
const BODY_BYTES_MAX = 4 * (BODY_CHARACTERS_MAX + 1)

/** As much of the bytes of a response as {@link redactedBody} can show. */
export const shownPartOf = (body: Uint8Array): Uint8Array =>
  body.byteLength > BODY_BYTES_MAX ? body.slice(0, BODY_BYTES_MAX) : body

/** A body without passwords, tokens and voucher codes, cut at a readable length. */
export const redactedBody = (body: string | undefined): string | null => {
  if (body === undefined || body === '') return null
  const safe = SUSPECT.test(body) ? withoutSecrets(body) : body
  return isCut(safe) ? `${safe.slice(0, BODY_CHARACTERS_MAX)}…` : safe
}

/** A suspect text that is not JSON is replaced as a whole. */
const withoutSecrets = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body, redactedMember))
  } catch {
    return REDACTED
  }
}

/** A value without secrets, by its name. */
export const redactedMember = (name: string, member: unknown): unknown => {
  if (SECRET_NAME.test(name) && member !== null && !isListOfMessages(member)) return REDACTED
  return typeof member === 'string' && JSON_WITHIN.test(member) && SUSPECT.test(member)
    ? withoutSecrets(member)
    : member
}

/** A text that may itself be JSON, as metadata often is. */
const JSON_WITHIN = /^\s*["[{]/

/** The messages of a refusal about a secret field. */
const isListOfMessages = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null && 'rule' in item)

/** True for a body of which the log has only a part. */
export const isCut = (body: string): boolean => body.length > BODY_CHARACTERS_MAX

export const redactedPath = (path: string): string => {
  const start = path.indexOf('?') + 1
  return start === 0 ? path : path.slice(0, start) + path.slice(start).split('&').map(redactedParameter).join('&')
}

const redactedParameter = (parameter: string): string => {
  const [name = ''] = new URLSearchParams(parameter).keys()
  return SECRET_NAME.test(name) ? `${name}=${REDACTED}` : parameter
}
