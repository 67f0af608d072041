import { DomainError } from '../kernel/failure.ts'

/** A JSON object as it was sent: nothing is known of its members. */
export type JsonObject = Record<string, unknown>

/** The largest body that is read, in bytes (contract C4). */
const BODY_BYTES_MAX = 1_048_576
/** The deepest nesting of arrays and objects, the outermost being 1 (contract C4). */
const NESTING_MAX = 32

/** The bodies that were read, for whoever looks on; each goes with its request. */
const bodies = new WeakMap<Request, string>()
/** Requests whose body was refused: the rest of it is not asked for again. */
const refused = new WeakSet<Request>()

/** The body of a request as it was read, or undefined while nothing has read it. */
export const sentBody = (request: Request): string | undefined => bodies.get(request)

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/**
 * The body as text, whatever its content type says. It can be asked for again, and is refused again.
 *
 * @throws DomainError body_unreadable when it is over the limit or not UTF-8
 */
export const readText = async (request: Request, bytesMax: number = BODY_BYTES_MAX): Promise<string> => {
  const known = bodies.get(request)
  if (known !== undefined) return known
  if (refused.has(request)) throw unreadable()
  try {
    return keepText(request, await readBytes(request, bytesMax))
  } catch (error) {
    refused.add(request)
    throw error
  }
}

const keepText = (request: Request, bytes: ArrayBuffer | Uint8Array): string => {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw unreadable()
  }
  bodies.set(request, text)
  return text
}

/** Asking for the stream makes one, which costs more than the rest of reading: a body that says its length has none. */
const readBytes = (request: Request, bytesMax: number): Promise<ArrayBuffer | Uint8Array> => {
  const said = request.headers.get('content-length')
  if (said !== null) return Number(said) > bytesMax ? Promise.reject(unreadable()) : request.arrayBuffer()
  return request.body ? readChunks(request.body, bytesMax) : Promise.resolve(new Uint8Array())
}

/** A body of unknown length is read no further than it may be long. */
const readChunks = async (stream: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let byteCount = 0
  for await (const chunk of stream) {
    byteCount += chunk.byteLength
    if (byteCount > bytesMax) throw unreadable()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, byteCount)
}

/** @throws DomainError body_unreadable when the text is not a JSON object, or is nested too deep */
export const parseObject = (text: string): JsonObject => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw unreadable()
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable()
  if (isDeeperThan(value, NESTING_MAX)) throw unreadable()
  return value as JsonObject
}

/** The body as a JSON object. @throws DomainError body_unreadable */
export const readObject = (request: Request, bytesMax?: number): Promise<JsonObject> =>
  readText(request, bytesMax).then(parseObject)

/** The body as a JSON object, where leaving it out means an empty one. @throws DomainError body_unreadable */
export const readOptionalObject = async (request: Request): Promise<JsonObject> => {
  const text = await readText(request)
  return text.trim() === '' ? {} : parseObject(text)
}

const isDeeperThan = (value: object, levels: number): boolean => {
  if (levels === 0) return true
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null && isDeeperThan(member, levels - 1)) return true
  }
  return false
}

const unreadable = (): DomainError => new DomainError({ code: 'body_unreadable' })
