import { DomainError } from '../kernel/failure.ts'
import { nextTurn, turns } from '../kernel/turns.ts'
import { BODY_ENCODED } from './failures.ts'
import type { Incoming } from './incoming.ts'
import { type JsonObject, parseObject, unreadable } from './json.ts'

/** The largest body that is read, in bytes (contract C4). */
const BODY_BYTES_MAX = 1_048_576

/** A longer text may take milliseconds to parse and check, so its client waits for its turn. */
const LONG_TEXT = 2_048

const DIGITS = /^\d+$/
/** Matches a body without an encoding. */
const IDENTITY = /^(?:identity)?$/i

/** Bodies of unknown clients share one turn. */
const STRANGERS = {}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/**
 * The body as text, with any content type. It can be read again.
 *
 * @throws DomainError body_encoded if it is compressed; body_unreadable if it is too long, incomplete or not UTF-8
 */
export const readText = (incoming: Incoming, bytesMax: number = BODY_BYTES_MAX): Promise<string> => {
  incoming.reading ??= readOnce(incoming, bytesMax)
  return incoming.reading
}

const readOnce = async (incoming: Incoming, bytesMax: number): Promise<string> => {
  const { request, client = STRANGERS } = incoming
  const text = decoded(await readBytes(request, bytesMax))
  incoming.text = text
  await requireClient(request)
  if (text.length > LONG_TEXT) await turns.take(client)
  return text
}

/** Refuses the work of a client that has gone (contract C4). The runtime knows that one turn after the body. */
export const requireClient = async ({ signal }: Request): Promise<void> => {
  await nextTurn()
  if (signal.aborted) gone()
}

const decoded = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw unreadable()
  }
}

const readBytes = async (request: Request, bytesMax: number): Promise<Uint8Array> => {
  const { headers } = request
  if (!IDENTITY.test(headers.get('content-encoding') ?? '')) throw new DomainError(BODY_ENCODED)
  const length = headers.get('content-length')
  // A header that is sent twice is a list, and counts as missing.
  if (length === null || !DIGITS.test(length)) return readPieces(request, bytesMax)
  if (Number(length) > bytesMax) throw unreadable()
  return request.bytes().catch(gone)
}

/** A client that leaves before its body is complete causes no 500 (contract C4). */
const gone = (): never => {
  throw unreadable()
}

/** Reads a body of unknown length, one piece in each turn of the event loop: the runtime joins pieces that arrive meanwhile. */
const readPieces = async ({ body }: Request, bytesMax: number): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = []
  let byteCount = 0
  try {
    for await (const piece of body ?? []) {
      byteCount += piece.byteLength
      if (byteCount > bytesMax) break
      pieces.push(piece)
      await nextTurn()
    }
  } catch {
    gone()
  }
  if (byteCount > bytesMax) throw unreadable()
  return Buffer.concat(pieces)
}

interface ObjectBounds {
  bytesMax?: number | undefined
  valuesMax?: number | undefined
  /** No body means an empty object. */
  isOptional?: boolean | undefined
}

/** The body as a JSON object, parsed once: a login is read for its world first. @throws DomainError body_unreadable */
export const readObject = async (
  incoming: Incoming,
  { bytesMax, valuesMax, isOptional = false }: ObjectBounds = {},
): Promise<JsonObject> => {
  const text = await readText(incoming, bytesMax)
  incoming.object ??= isOptional && text.trim() === '' ? {} : parseObject(text, valuesMax)
  return incoming.object
}
