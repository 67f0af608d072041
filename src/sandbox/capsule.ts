import { createHash } from 'node:crypto'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Database } from '../db/database.ts'
import type { World } from '../worlds/world.ts'
import { DEFAULT_WORLD } from '../worlds/worlds.ts'
import { Rule } from './faults/operations.ts'
import { rulesOf } from './faults/rules.ts'
import { Met } from './requests/coverage.ts'
import { RecordedRequest } from './requests/operations.ts'
import { forgetPasswords } from './seed/accounts.ts'
import { readSnapshot, writeSnapshot, zlib } from './worlds/snapshot-file.ts'
import { clockOf, imageOf } from './worlds/state.ts'

/** A run of `scrip run` in one file, which `scrip open` serves again (decision 53). */

const FORMAT = 'scrip-capsule/1'

const Head = Type.Object({
  format: Type.Literal(FORMAT),
  version: Type.String(),
  seed: Type.String(),
  catalog: Type.Optional(Type.String({ description: 'The file of --catalog: compressed by zstd, then base64' })),
  rates: Type.Optional(Type.String({ description: 'The file of --rates' })),
})
const Line = Type.Object({
  request: Type.Optional(RecordedRequest),
  world: Type.Optional(
    Type.Object({
      name: Type.String(),
      faults: Type.Optional(Type.Array(Rule)),
      coverage: Type.Optional(Met),
      snapshot: Type.Unknown(),
    }),
  ),
  /** A named snapshot, which `PUT /_sandbox/snapshots/{name}` has kept. */
  snapshot: Type.Optional(Type.Object({ name: Type.String(), state: Type.Unknown() })),
  coverage: Type.Optional(Met),
})

/** The size of all named snapshots together, before they are packed. */
const SNAPSHOT_BYTES_MAX = 67_108_864

/**
 * Writes a line for each request as it happens, then one for each world and each snapshot. The last line has a digest
 * of the others.
 */
export class CapsuleWriter {
  readonly #digest = createHash('sha256')
  #snapshotBytes = 0

  constructor(
    private readonly write: (text: string) => void,
    head: Omit<Static<typeof Head>, 'format'>,
  ) {
    this.#line(JSON.stringify({ format: FORMAT, ...head }))
  }

  request(request: RecordedRequest): void {
    this.#line(JSON.stringify({ request }))
  }

  async world(world: World, seed: string, coverage: Met): Promise<void> {
    const snapshot = await writeSnapshot(endedState(world, seed))
    const head = JSON.stringify({ name: world.name, faults: rulesOf(world), coverage })
    this.#line(`{"world":${head.slice(0, -1)},"snapshot":${snapshot}}}`)
  }

  /** Returns whether there was room for it. */
  async snapshot(name: string, image: Uint8Array): Promise<boolean> {
    if (this.#snapshotBytes + image.byteLength > SNAPSHOT_BYTES_MAX) return false
    this.#snapshotBytes += image.byteLength
    const packed = await writeSnapshot(withoutPasswords(image))
    this.#line(`{"snapshot":{"name":${JSON.stringify(name)},"state":${packed}}}`)
    return true
  }

  /** Of all worlds, including dropped ones. */
  end(coverage: Met): void {
    this.#line(JSON.stringify({ coverage }))
    this.write(`${JSON.stringify({ sha256: this.#digest.digest('hex') })}\n`)
  }

  #line(json: string): void {
    this.#digest.update(`${json}\n`)
    this.write(`${json}\n`)
  }
}

/** The clock stands still from now on, so that nothing expires or moves before somebody looks. */
const endedState = (world: World, seed: string): Uint8Array => {
  clockOf(world).freeze()
  const image = imageOf(world, seed)
  // The passwords of the default world are public.
  return world.name === DEFAULT_WORLD ? image : withoutPasswords(image)
}

/** The next login chooses the password again. */
const withoutPasswords = (image: Uint8Array): Uint8Array => {
  const database = Database.inMemory(image)
  database.sqlite.run('PRAGMA secure_delete = ON')
  forgetPasswords(database)
  return database.closeToImage()
}

export interface Capsule {
  seed: string
  rates: string | undefined
  packedCatalog: Uint8Array | undefined
  /** By name, the default world among them. */
  worlds: Map<string, Uint8Array>
  /** By name, in the order in which they were kept. */
  snapshots: Map<string, Uint8Array>
  /** By the name of their world. */
  faults: Map<string, readonly Rule[]>
  /** By the name of a world, and of all of them for undefined. */
  coverage: Map<string | undefined, Met>
  /** By the name of their world, which may have been dropped. */
  requests: Map<string, RecordedRequest[]>
}

export class CapsuleFault extends Error {
  override readonly name = 'CapsuleFault'
}

/** @throws CapsuleFault, SnapshotFault */
export const readCapsule = (text: string): Capsule => {
  const [first = '', ...lines] = checkedLines(text)
  const head = readerOf(Head)(first)
  const capsule: Capsule = {
    seed: head.seed,
    rates: head.rates,
    packedCatalog: head.catalog === undefined ? undefined : checkedCatalog(head.catalog),
    worlds: new Map(),
    snapshots: new Map(),
    faults: new Map(),
    coverage: new Map(),
    requests: new Map(),
  }
  const readLine = readerOf(Line)
  for (const line of lines) {
    const { request, world, snapshot, coverage } = readLine(line)
    if (world) {
      capsule.worlds.set(world.name, readSnapshot(JSON.stringify(world.snapshot)))
      capsule.faults.set(world.name, world.faults ?? [])
      if (world.coverage) capsule.coverage.set(world.name, world.coverage)
    }
    if (snapshot) capsule.snapshots.set(snapshot.name, readSnapshot(JSON.stringify(snapshot.state)))
    if (coverage) capsule.coverage.set(undefined, coverage)
    if (request) addRequest(capsule, request)
  }
  if (!capsule.worlds.has(DEFAULT_WORLD)) throw new CapsuleFault('not a capsule: it has no default world')
  return capsule
}

/** @throws CapsuleFault */
const checkedCatalog = (base64: string): Uint8Array => {
  const packed = Buffer.from(base64, 'base64')
  try {
    zlib().zstdDecompressSync(packed)
  } catch (error) {
    throw new CapsuleFault(`not a capsule: /catalog: ${(error as Error).message}`)
  }
  return packed
}

/** A world that was reset, or dropped and made again, counts from 1 again: only its last requests are its own. */
const addRequest = ({ requests }: Capsule, request: RecordedRequest): void => {
  const earlier = requests.get(request.world)
  if (earlier && request.id === earlier.length + 1) earlier.push(request)
  else requests.set(request.world, [request])
}

const readerOf = <Schema extends TSchema>(schema: Schema): ((line: string) => Static<Schema>) => {
  const compiled = TypeCompiler.Compile(schema)
  return (line) => {
    const value: unknown = JSON.parse(line)
    if (compiled.Check(value)) return value
    const first = compiled.Errors(value).First()
    throw new CapsuleFault(`not a capsule: ${first?.path || '/'}: ${first?.message}`)
  }
}

/** All lines but the last, which has their digest. @throws CapsuleFault */
const checkedLines = (text: string): string[] => {
  if (!text.startsWith(`{"format":"${FORMAT}"`)) throw new CapsuleFault(`not a capsule of the format ${FORMAT}`)
  const end = text.lastIndexOf('\n', text.length - 2) + 1
  const body = text.slice(0, end)
  const sha256 = createHash('sha256').update(body).digest('hex')
  if (text.slice(end) !== `${JSON.stringify({ sha256 })}\n`)
    throw new CapsuleFault('damaged: its digest does not match')
  return body.trimEnd().split('\n')
}
