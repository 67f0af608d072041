import { ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BunFile } from 'bun'
import { type ErrorFormat, renderFailure } from '../../http/errors.ts'
import { JSON_TYPE } from '../../http/json.ts'
import type { Failure } from '../../kernel/failure.ts'
import { CONNECTION_DROPPED, GATEWAY } from '../errors.ts'
import type { Fault } from './faults.ts'

/** Applies faults to a response once the work is done (contract C15, decision 13). */

/** A response instead of the real one. Status 0: the connection is closed without one. */
interface Substitute {
  status: number
  headers: Record<string, string>
  body: string | undefined
}

/** Headers that every response has. */
const KEPT = ['X-Request-Id', 'Connection', 'Cache-Control'] as const
const KEPT_OF_API = [...KEPT, 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const

/** The response that the client gets instead; undefined if it gets the real one. */
export const substituteFor = (
  { when, failure }: Fault,
  response: Response,
  format: ErrorFormat,
): Substitute | undefined => {
  if (!failure) return undefined
  if (failure === CONNECTION_DROPPED) return { status: 0, headers: kept(response, KEPT), body: undefined }
  if (failure.code === GATEWAY) return gatewayPage(failure, response)
  // Before the work, the HTTP layer has responded with the error itself.
  if (when === 'before') return undefined
  const { status, headers, body } = renderFailure(failure, format)
  return {
    status,
    headers: { ...kept(response, KEPT_OF_API), ...headers, 'content-type': JSON_TYPE },
    body: JSON.stringify(body),
  }
}

/** A page such as proxies send when the server behind them cannot be reached. */
const gatewayPage = (failure: Failure, response: Response): Substitute => {
  const { status, headers } = renderFailure(failure, { errorShape: 'structured', unexpectedError: '' })
  const title = `${status} ${failure.message}`
  return {
    status,
    headers: { ...kept(response, KEPT), ...headers, 'content-type': 'text/html' },
    body: `<html>\n<head><title>${title}</title></head>\n<body><h1>${title}</h1></body>\n</html>\n`,
  }
}

const kept = ({ headers }: Response, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )

export const responseOf = ({ status, headers, body }: Substitute): Response =>
  status === 0 ? brokenOff() : new Response(body, { status, headers })

/** A response that fails before its first byte: the connection is closed without one. */
const brokenOff = (): Response => new Response(new ReadableStream({ pull: (controller) => controller.error() }))

const NO_CONTENT = 204

/** Cuts off the body of a response after this many bytes, or sends it slowly. A response without a body stays as it is. */
export const impaired = async (
  { cut_after_bytes: cutAfterBytes, bytes_per_second: bytesPerSecond }: Fault,
  { method }: Request,
  response: Response,
): Promise<Response> => {
  const { status, headers } = response
  if ((cutAfterBytes === null && bytesPerSecond === null) || method === 'HEAD' || status === NO_CONTENT) return response
  const bytes = await response.bytes()
  const isHeadAlone = cutAfterBytes === 0 && bytes.byteLength > 0
  const body =
    (isHeadAlone ? unreadableBody() : undefined) ?? streamOf(bytes, cutAfterBytes ?? bytes.byteLength, bytesPerSecond)
  return new Response(body, { status, headers })
}

/** From this length on, the runtime sends the head of a file by itself. */
const HEAD_FIRST_BYTES = 1_048_576
let unreadable: BunFile | undefined

/**
 * A body of which nothing comes behind the head. The runtime ends the head of a stream with its first byte, but that of a
 * large file before it reads the file; this one is open for writing alone. Undefined where no file can be written: the
 * connection then closes within the head.
 */
const unreadableBody = (): BunFile | undefined => {
  try {
    unreadable ??= openUnreadable()
  } catch {
    return undefined
  }
  return unreadable
}

const openUnreadable = (): BunFile => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-cut-'))
  try {
    const file = openSync(join(folder, 'body'), 'w')
    ftruncateSync(file, HEAD_FIRST_BYTES)
    return Bun.file(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const PIECES_PER_SECOND = 10
/** When a response fails, the runtime drops the bytes that it has not sent yet. It does not report when they are sent. */
const CUT_AFTER_MS = 50

const streamOf = (bytes: Uint8Array, cutAt: number, bytesPerSecond: number | null): ReadableStream<Uint8Array> => {
  const end = Math.min(cutAt, bytes.byteLength)
  const pieceBytes = bytesPerSecond === null ? end : Math.ceil(bytesPerSecond / PIECES_PER_SECOND)
  let sent = 0
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      if (sent === bytes.byteLength) return controller.close()
      if (sent === end) {
        await Bun.sleep(CUT_AFTER_MS)
        return controller.error()
      }
      const piece = bytes.subarray(sent, Math.min(sent + pieceBytes, end))
      if (bytesPerSecond !== null) await Bun.sleep((piece.byteLength / bytesPerSecond) * 1_000)
      sent += piece.byteLength
      controller.enqueue(piece)
    },
  })
}
