import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { TIME_MAX_MS } from '../../kernel/clock.ts'
import { PACES } from './pace.ts'
import type { WorldState } from './state.ts'

const FORMAT = 'scrip-snapshot/1'

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
  const database = (await packed(image)).toString('base64')
  const head = JSON.stringify({ format: FORMAT, ...state })
  return `${head.slice(0, -1)},"database":"${database}"}` // base64 needs no escapes
}

const packed = promisify(gzip)

/** @throws SnapshotFault */
export const readSnapshot = (text: string): WorldState => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new SnapshotFault('not JSON')
  }
  return stateFrom(value)
}

/** The state in a snapshot that is parsed already. @throws SnapshotFault */
export const stateFrom = (value: unknown): WorldState => {
  const isSnapshot = TypeCompiler.Compile(SnapshotSchema)
  if (!isSnapshot.Check(value)) {
    const first = isSnapshot.Errors(value).First()
    throw new SnapshotFault(`not a snapshot: ${first?.path || '/'}: ${first?.message}`)
  }
  const { format: _, database, ...state } = value
  try {
    return { ...state, image: Bun.gunzipSync(Buffer.from(database, 'base64')) }
  } catch {
    throw new SnapshotFault('not a snapshot: /database: cannot be unpacked')
  }
}
