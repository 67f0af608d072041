import { LRUCache } from 'lru-cache'
import type { Json } from './json.ts'
import { JSON_TYPE, withBody } from './responses.ts'
import { weightsOf } from './weights.ts'

/** Bitmap images are already compressed. */
const COMPRESSED_TYPE = /^image\/png/
/** Below this size, compression saves no packet. */
const COMPRESSED_FROM_BYTES = 1_024

/** The bytes of one encoding, and the response of which each request gets a copy. */
interface Variant {
  body: Uint8Array
  response: Response
}

type Bytes = Uint8Array<ArrayBuffer>

/** The better one first: zstd finds distant repetitions, and takes a quarter of the time. */
const CODINGS = {
  zstd: (body: Bytes) => Bun.zstdCompressSync(body, { level: 6 }),
  gzip: (body: Bytes) => Bun.gzipSync(body, { library: 'libdeflate', level: 6 }),
} as const satisfies Record<string, (body: Bytes) => Uint8Array>
type Coding = keyof typeof CODINGS

/**
 * A response that is made once and sent many times. It has an entity tag, and is compressed once for each encoding.
 * Copying a response costs a fraction of making one.
 */
export class StoredResponse<out Value = unknown> {
  /** What it holds, for the compiler alone. */
  declare readonly value: Value
  readonly #headers: Readonly<Record<string, string>>
  readonly #plain: Variant
  readonly #etag: string
  readonly #validators: Readonly<Record<string, string>>
  readonly #packed: Partial<Record<Coding, Variant>> = {}

  /** The given headers replace those of the API: private, and revalidated each time. */
  constructor(content: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) {
    const body = typeof content === 'string' ? Buffer.from(content) : (content as Uint8Array<ArrayBuffer>)
    // Weak, because all encodings share it.
    this.#etag = `W/"${Bun.hash.xxHash64(body).toString(36)}"`
    this.#validators = {
      etag: this.#etag,
      'cache-control': headers['cache-control'] ?? 'private, no-cache',
      vary: headers.vary ?? 'Accept-Encoding',
    }
    this.#headers = { 'content-type': JSON_TYPE, ...this.#validators, ...headers }
    this.#plain = { body, response: new Response(body, { headers: this.#headers }) }
  }

  static of<Value>({ text }: Json<Value>, headers?: Readonly<Record<string, string>>): StoredResponse<Value> {
    return new StoredResponse(text, headers)
  }

  get byteCount(): number {
    return this.#plain.body.byteLength
  }

  respond({ headers }: Request): Response {
    const known = headers.get('if-none-match')
    if (known !== null && names(known, this.#etag))
      return new Response(null, { status: 304, headers: this.#validators })
    return withBody(this.#variantFor(headers).response.clone() as Response, this.#plain.body)
  }

  #variantFor(headers: Headers): Variant {
    const header = headers.get('accept-encoding')
    if (header === null || !this.#isWorthPacking) return this.#plain
    const coding = CODING_BY_HEADER.memo(header)
    if (coding === 'identity') return this.#plain
    this.#packed[coding] ??= this.#pack(coding)
    return this.#packed[coding]
  }

  get #isWorthPacking(): boolean {
    return this.byteCount >= COMPRESSED_FROM_BYTES && !COMPRESSED_TYPE.test(this.#headers['content-type'] ?? '')
  }

  #pack(coding: Coding): Variant {
    const body = CODINGS[coding](this.#plain.body as Bytes) as Bytes
    return { body, response: new Response(body, { headers: { ...this.#headers, 'content-encoding': coding } }) }
  }
}

/** Responses that never change, by number; each is made when it is first requested. */
export const storedOnce = <Value>(make: (id: number) => Json<Value>): ((id?: number) => StoredResponse<Value>) => {
  const stored = new Map<number, StoredResponse<Value>>()
  return (id = 0) => {
    const response = stored.get(id) ?? StoredResponse.of(make(id))
    stored.set(id, response)
    return response
  }
}

/** Whether a list of entity tags holds one, compared weakly (RFC 9110, 13.1.2). */
const names = (list: string, etag: string): boolean =>
  list.trim() === '*' || list.split(',').some((each) => each.trim().replace(/^(?!W\/)/, 'W/') === etag)

/** The coding with the highest weight; gzip for `*` (RFC 9110, 12.5.3). */
const bestOf = (header: string): Coding | 'identity' => {
  const weights = weightsOf(header)
  const zstd = weights.get('zstd') ?? 0
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0
  if (zstd > 0 && zstd >= gzip) return 'zstd'
  return gzip > 0 ? 'gzip' : 'identity'
}

/** By Accept-Encoding: a client sends the same one with each request. */
const CODING_BY_HEADER = new LRUCache<string, Coding | 'identity'>({ max: 100, memoMethod: bestOf })
