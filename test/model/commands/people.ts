/** Valid and invalid members of a beneficiary (contract C10), and those that are refused. */

const NAMES_OK = ['Ada', ' Grace ', 'Zoë', '李', 'x'.repeat(100), '😀'.repeat(100)]
const EMAILS_OK = ['ada@example.com', 'GRACE@Example.com', 'a+b@example.co.uk', 'josé@example.com']
const BAD_TEXT: readonly unknown[] = ['', ' ', 1, true, [], {}, 'a\u0000b', '\ud800', 'x'.repeat(300)]

const isGoodName = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.isWellFormed() &&
  !value.includes('\0') &&
  value.trim() !== '' &&
  [...value.trim()].length <= 100

const NAMES = [NAMES_OK, [...BAD_TEXT, null]] as const

/** The members of a person, valid and invalid, under names with a prefix. */
export const personMembers = (prefix = '') => ({
  [`${prefix}email`]: [
    EMAILS_OK,
    [...BAD_TEXT, null, 'ada@', 'ada', '\ud800@example.com', 'ada@exa\ud800mple.com', `${'a'.repeat(250)}@example.com`],
  ] as const,
  [`${prefix}first_name`]: NAMES,
  [`${prefix}last_name`]: NAMES,
  [`${prefix}country`]: [
    [undefined, null, 'IN', 'us'],
    ['XX', 'IND', '', 1, 'I\u0000', '\ud800\ud800'],
  ] as const,
  [`${prefix}phone`]: [
    [undefined, null, '+14155552671', '+1 (415) 555-2671'],
    ['123', '', 'phone', 1, '+1\ud800'],
  ] as const,
})
export const METADATAS = [
  [undefined, null, {}, { team: 'blue' }, JSON.parse('{"__proto__":{"x":1},"constructor":2}'), { list: [1, [2, [3]]] }],
  ['text', 1, [], { half: '\ud800' }, { 'half\udfff': 1 }, { nul: 'a\u0000' }, { large: 'x'.repeat(17_000) }],
] as const
const isAbsent = (value: unknown): boolean => value === null || value === undefined

const isGoodEmail = (value: unknown): boolean => EMAILS_OK.includes(value as string)
const isGoodCountry = (value: unknown): boolean => value === 'IN' || value === 'us'
const isGoodPhone = (value: unknown): boolean =>
  typeof value === 'string' && value.startsWith('+1') && value.isWellFormed()
export const isGoodMetadata = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const text = JSON.stringify(value)
  return text.length < 16_384 && !/\\u(?:0000|d[89a-f])/.test(text)
}

/** The fields of a person that are refused, under the names that they have with a prefix. */
export const badPersonFields = (sent: Record<string, unknown>, prefix = ''): string[] => {
  const rules: Record<string, (value: unknown) => boolean> = {
    email: isGoodEmail,
    first_name: isGoodName,
    last_name: isGoodName,
    country: (value) => isAbsent(value) || isGoodCountry(value),
    phone: (value) => isAbsent(value) || isGoodPhone(value),
  }
  return Object.entries(rules).flatMap(([field, isGood]) => (isGood(sent[prefix + field]) ? [] : [prefix + field]))
}

/** A person as responses show one. */
export const personWire = (sent: Record<string, unknown>, prefix = '') => ({
  email: sent[`${prefix}email`],
  first_name: String(sent[`${prefix}first_name`]).trim(),
  last_name: String(sent[`${prefix}last_name`]).trim(),
  country: isAbsent(sent[`${prefix}country`]) ? null : String(sent[`${prefix}country`]).toUpperCase(),
  phone: isAbsent(sent[`${prefix}phone`]) ? null : String(sent[`${prefix}phone`]).replace(/[ ()-]/g, ''),
})
