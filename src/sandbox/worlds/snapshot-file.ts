import { promisify } from 'node:util'
import type { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { TIME_MAX_MS } from '../../kernel/clock.ts'
import { PACES } from './pace.ts'
import type { WorldState } from './state.ts'

const FORMAT = 'scrip-snapshot/1'

/** A larger one is not written: it is held in memory several times, as bytes and as text. */
export const FILE_BYTES_MAX = 67_108_864

const Count = Type.Integer({ minimum: 0 })
const PaceSchema = Type.Union(PACES.map((choice) => Type.Literal(choice)))
const SnapshotSchema = Type.Object({
  format: Type.Literal(FORMAT),
  clock: Type.Object({
    offsetMs: Type.Integer({ minimum: -TIME_MAX_MS, maximum: TIME_MAX_MS }),
    frozenAtMs: Type.Union([Type.Integer({ minimum: 0, maximum: TIME_MAX_MS }), Type.Null()]),
  }),
  randomness: Type.Object({ seed: Type.String(), position: Count }),
  ids: Type.Object({ lastMs: Type.Integer({ minimum: -1 }), sequence: Count }),
  pace: Type.Object({ payouts: PaceSchema, orders: PaceSchema }),
  database: Type.String({ description: 'The database: gzipped, then base64' }),
})

export class SnapshotFault extends Error {
  override readonly name = 'SnapshotFault'

  constructor(
    message: string,
    /** The file, once it is known; the message names it then. */
    readonly path?: string,
  ) {
    super(message)
  }
}

/** A state as a file that a team can share. It is packed beside the thread that serves requests. */
export const writeSnapshot = async ({ image, ...state }: WorldState): Promise<string> => {
  const database = (await promisify(zlib().gzip)(image)).toString('base64')
  const head = JSON.stringify({ format: FORMAT, ...state })
  return `${head.slice(0, -1)},"database":"${database}"}` // base64 needs no escapes
}

/** Loaded when it is needed, because it delays the start. */
export const zlib = () => process.getBuiltinModule('node:zlib')

const MIB = 1_048_576
/** Many small worlds, or a large one. */
const UNPACKED_BYTES_MIN = 256 * MIB
/** Five is usual; a world that has deleted much has more. */
const UNPACKED_RATIO_MAX = 32

/** A small file must not fill the memory when it is unpacked: all of its parts share one limit. */
export class Unpacking {
  readonly #bytesMax: number
  #bytesLeft: number

  constructor(fileLength: number) {
    this.#bytesMax = Math.max(UNPACKED_BYTES_MIN, UNPACKED_RATIO_MAX * fileLength)
    this.#bytesLeft = this.#bytesMax
  }

  /** @throws SnapshotFault */
  unpack(packed: Uint8Array, unpack: typeof gunzipSync | typeof zstdDecompressSync): Uint8Array {
    try {
      const bytes = unpack(packed, { maxOutputLength: this.#bytesLeft })
      this.#bytesLeft -= bytes.length
      return bytes
    } catch (error) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      throw new SnapshotFault(
        isTooLarge ? `unpacks to more than ${Math.floor(this.#bytesMax / MIB)} MiB` : 'cannot be unpacked',
      )
    }
  }
}

/** @throws SnapshotFault */
export const readSnapshot = (text: string): WorldState => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new SnapshotFault('not JSON')
  }
  return stateFrom(value, new Unpacking(text.length))
}

/** The state in a parsed snapshot. @throws SnapshotFault */
export const stateFrom = (value: unknown, unpacking: Unpacking): WorldState => {
  const isSnapshot = TypeCompiler.Compile(SnapshotSchema)
  if (!isSnapshot.Check(value)) {
    const first = isSnapshot.Errors(value).First()
    throw new SnapshotFault(`not a snapshot: ${first?.path || '/'}: ${first?.message}`)
  }
  const { format: _, database, ...state } = value
  try {
    return { ...state, image: unpacking.unpack(Buffer.from(database, 'base64'), zlib().gunzipSync) }
  } catch (error) {
    throw new SnapshotFault(`not a snapshot: /database: ${(error as Error).message}`)
  }
}
