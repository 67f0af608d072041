import { DomainError } from '../kernel/failure.ts'
import { turns } from '../kernel/turns.ts'
import { BODY_ENCODED } from './failures.ts'
import { takeIn, type Upload } from './intake.ts'
import { type JsonObject, parseObject, unreadable } from './json.ts'

/** The largest body that is read, in bytes (contract C4). */
const BODY_BYTES_MAX = 1_048_576

/**
 * Longer texts are parsed and checked one per turn of the event loop, because some take milliseconds (decision 0032).
 */
const LONG_TEXT = 2_048
const LONG_BODIES = 'long bodies'

/**
 * After a piece this small, reading waits for the next turn of the event loop: the runtime joins the pieces that arrive
 * meanwhile. A mebibyte in chunks of one byte would otherwise hold the thread for a second.
 */
const SMALL_PIECE_BYTES_MAX = 64

const DIGITS = /^\d+$/
/** No encoding, named or implied. */
const IDENTITY = /^(?:identity)?$/i

/** Read once: a second reading is refused like the first. */
const readings = new WeakMap<Request, Promise<string>>()
/** The bodies that were read, for observers. */
const bodies = new WeakMap<Request, string>()
const objects = new WeakMap<Request, JsonObject>()

/** Undefined while nothing has read it. */
export const sentBody = (request: Request): string | undefined => bodies.get(request)

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/**
 * The body as text, whatever its content type says. It can be read again.
 *
 * @throws DomainError body_encoded when it is compressed; body_unreadable when it is over the limit, not whole or not UTF-8; unavailable when too many bytes
 *   of bodies are under way
 */
export const readText = (request: Request, bytesMax: number = BODY_BYTES_MAX): Promise<string> => {
  const reading = readings.get(request) ?? readOnce(request, bytesMax)
  readings.set(request, reading)
  return reading
}

const readOnce = async (request: Request, bytesMax: number): Promise<string> => {
  const text = decoded(await readBytes(request, bytesMax))
  bodies.set(request, text)
  if (text.length > LONG_TEXT) await turns.next(LONG_BODIES)
  return text
}

const decoded = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw unreadable()
  }
}

/**
 * A body with a known length reserves room for all of it and is read in one piece: a stream would cost more than
 * everything else about reading.
 */
const readBytes = async (request: Request, bytesMax: number): Promise<Uint8Array> => {
  const { headers } = request
  if (!IDENTITY.test(headers.get('content-encoding') ?? '')) throw new DomainError(BODY_ENCODED)
  const length = headers.get('content-length')
  // A header that is sent twice is a list.
  const byteCount = length !== null && DIGITS.test(length) ? Number(length) : undefined
  if (byteCount !== undefined && byteCount > bytesMax) throw unreadable()
  return takeIn((upload) => {
    if (byteCount === undefined) return readChunks(request, bytesMax, upload)
    upload.count(byteCount)
    return request.bytes().catch(gone)
  })
}

/** A client that leaves before its body is complete causes no 500 (contract C4). */
const gone = (): never => {
  throw unreadable()
}

/** Reads a body of unknown length up to its limit. */
const readChunks = async ({ body }: Request, bytesMax: number, upload: Upload): Promise<Uint8Array> => {
  try {
    for await (const piece of body ?? []) {
      const isSmall = piece.byteLength <= SMALL_PIECE_BYTES_MAX
      if (!upload.keep(piece) || upload.byteCount > bytesMax) break
      if (isSmall) await new Promise(setImmediate)
    }
  } catch {
    gone()
  }
  if (upload.byteCount > bytesMax) throw unreadable()
  return upload.whole()
}

/** The parser of every route with a body. It reads nothing, because strangers are refused first (contract C4). */
export const DEFERRED = 'deferred'

/** The body as a JSON object, parsed once: a login is read for its world first. @throws DomainError body_unreadable */
export const readObject = async (request: Request, bytesMax?: number): Promise<JsonObject> => {
  const text = await readText(request, bytesMax)
  const object = objects.get(request) ?? parseObject(text)
  objects.set(request, object)
  return object
}

/** The same for a route on which no body means an empty object. @throws DomainError body_unreadable or unavailable */
export const readOptionalObject = async (request: Request): Promise<JsonObject> => {
  const text = await readText(request)
  return text.trim() === '' ? {} : parseObject(text)
}
