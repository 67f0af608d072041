import { promisify } from 'node:util'
import { DataFault } from '../../kernel/exit.ts'
import { DomainError } from '../../kernel/failure.ts'
import { jsonIn } from '../../kernel/json.ts'
import { snapshotTooLarge } from '../errors.ts'

/** A snapshot as a file that a team can share. */

const FORMAT = 'scrip-snapshot/2'

/** A larger one is not written: it is held in memory several times, as bytes and as text. */
export const FILE_BYTES_MAX = 67_108_864

/** Packed beside the thread that serves requests. @throws DomainError snapshot_too_large */
export const writeSnapshot = async (image: Uint8Array): Promise<string> => {
  if (image.byteLength > FILE_BYTES_MAX) throw new DomainError(snapshotTooLarge(FILE_BYTES_MAX))
  return JSON.stringify({ format: FORMAT, database: (await promisify(zlib().gzip)(image)).toString('base64') })
}

/** Loaded when it is needed, because it delays the start. */
export const zlib = () => process.getBuiltinModule('node:zlib')

/** @throws Error that says what is wrong with the text */
export const readSnapshot = (text: string): Uint8Array => {
  const database = databaseIn(text)
  if (database === undefined) throw new DataFault(`not a snapshot of the format ${FORMAT}`)
  const image = unpacked(database)
  if (!image?.toString('latin1', 0, 15).startsWith('SQLite format 3'))
    throw new DataFault('not a snapshot: /database: cannot be unpacked')
  return image
}

/** A small file must not fill the memory when it is unpacked. */
const unpacked = (database: string): Buffer | undefined => {
  try {
    return zlib().gunzipSync(Buffer.from(database, 'base64'), { maxOutputLength: FILE_BYTES_MAX })
  } catch {
    return undefined
  }
}

const databaseIn = (text: string): string | undefined => {
  const { format, database } = (jsonIn(text) ?? {}) as { format?: unknown; database?: unknown }
  return format === FORMAT && typeof database === 'string' ? database : undefined
}
