import { DomainError } from '../kernel/failure.ts'
import { jsonIn } from '../kernel/json.ts'
import { BODY_UNREADABLE } from './failures.ts'

/** The content type of every response but documents and pictures. */
export const JSON_TYPE = 'application/json'

/** Keeps a response out of caches. */
export const UNCACHED = { 'Cache-Control': 'no-store' }

/** A JSON response that does not pass through the HTTP layer. */
export const responseBeside = (status: number, body: object, headers: Record<string, string>): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': JSON_TYPE, ...UNCACHED, ...headers } })

export type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The JSON text of a value that is stored, or sent with its own status. */
export class Json<out Value> {
  /** The value, for the compiler alone. */
  declare readonly value: Value

  constructor(
    readonly text: string,
    readonly status?: number,
    /** The encoded text, if it is sent often. */
    readonly bytes?: Uint8Array<ArrayBuffer>,
  ) {}

  /** The context determines the type, so that the compiler reports an unknown member. */
  static of<Value>(value: NoInfer<Value>): Json<Value> {
    return new Json(JSON.stringify(value))
  }

  /** Encodes a text once, if it is sent often. */
  static encoded<Value>(text: string): Json<Value> {
    return new Json(text, undefined, Buffer.from(text))
  }
}

/** A value without unknown members. The compiler itself checks for those only in literals, not in results of functions. */
export type Exact<Given, Wanted> = Given & { [Foreign in Exclude<keyof Given, keyof Wanted>]: never }

interface Bounds {
  /** The deepest nesting of arrays and objects, the outermost being 1. */
  nestingMax: number
  /** The most objects, arrays, strings, numbers, true, false and null together, without names of members. */
  valuesMax: number
}

/** The bounds of the body of a request (contract C4). */
const REQUEST_BOUNDS: Bounds = { nestingMax: 32, valuesMax: 10_000 }

/**
 * Parses a JSON object. The bounds are checked first, so that a refused text costs little.
 *
 * @throws DomainError body_unreadable when the text is not a JSON object, is nested too deep or holds too many values
 */
export const parseObject = (text: string, valuesMax = REQUEST_BOUNDS.valuesMax): JsonObject => {
  if (excessAt(text, { ...REQUEST_BOUNDS, valuesMax }) !== undefined) throw unreadable()
  const object = jsonIn(text)
  if (!isObject(object)) throw unreadable()
  return Object.values(object).some(isNested) && LONG_NUMBER.test(text) ? withExactNumbers(object, text) : object
}

export const unreadable = (): DomainError => new DomainError(BODY_UNREADABLE)

const CODES = {
  quote: 34,
  comma: 44,
  openBracket: 91,
  backslash: 92,
  closeBracket: 93,
  openBrace: 123,
  closeBrace: 125,
}
const LAST_BLANK = 32

/**
 * The index at which a JSON text exceeds the bounds, or undefined. It reads each character once, and leaves invalid JSON
 * to the parser.
 */
const excessAt = (text: string, { nestingMax, valuesMax } = REQUEST_BOUNDS): number | undefined => {
  let valueCount = 1
  let depth = 0
  // The first value in a container has no comma before it.
  let isJustOpened = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= LAST_BLANK) continue
    if (code === CODES.closeBracket || code === CODES.closeBrace) {
      depth -= 1
      isJustOpened = false
      continue
    }
    if (isJustOpened || code === CODES.comma) valueCount += 1
    isJustOpened = code === CODES.openBracket || code === CODES.openBrace
    if (isJustOpened) depth += 1
    if (valueCount > valuesMax || depth > nestingMax) return at
    if (code === CODES.quote) at = endOfString(text, at)
  }
  return undefined
}

const endOfString = (text: string, start: number): number => {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === CODES.quote) break
    if (code === CODES.backslash) at += 1
  }
  return at
}

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Numbers with this many digits, or with an exponent, may not fit exactly into a double. */
const LONG_NUMBER = /\d{16}|\d[eE]/
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** The digits of a number in JSON, without zeros at either end, and the power of ten of the last one. */
const digitsOf = (source: string): { sign: string; digits: string; power: number } => {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? []
  const all = `${whole}${fraction}`
  let [first, end] = [0, all.length]
  while (first < end && all[first] === '0') first += 1
  while (end > first && all[end - 1] === '0') end -= 1
  return { sign, digits: all.slice(first, end), power: Number(exponent) - fraction.length + all.length - end }
}

/** The most zeros that a number without an exponent is given. */
const ZEROS_MAX = 100

/** A number in JSON as a decimal with the same digits; with a very large exponent, as it stands. */
export const decimalIn = (source: string): string => {
  const { sign, digits, power } = digitsOf(source)
  if (!/[eE]/.test(source) || Math.abs(power) > ZEROS_MAX) return source
  const padded = (power < 0 ? digits : digits + '0'.repeat(power)).padStart(1 - Math.min(power, 0), '0')
  return power < 0 ? `${sign}${padded.slice(0, power)}.${padded.slice(power)}` : sign + padded
}

/**
 * Objects and lists inside the body are stored as they were sent (contract C4). An integer in them that a double would
 * change becomes NaN, however it is written: JSON has one kind of number. The check of the body refuses NaN. Members of the
 * body itself have their own bounds.
 */
const withExactNumbers = (object: JsonObject, text: string): JsonObject => {
  const exact = JSON.parse(text, nanWhereChanged) as JsonObject
  for (const [name, value] of Object.entries(object)) {
    if (isNested(value)) object[name] = exact[name]
  }
  return object
}

const nanWhereChanged = (_: string, value: unknown, context?: { source?: string }): unknown => {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value)) return value
  const { sign, digits, power } = digitsOf(source)
  if (!Number.isFinite(value) || digits === '' || power < 0) return value
  return BigInt(sign + digits) * 10n ** BigInt(power) === BigInt(value) ? value : Number.NaN
}
