import { JSON_TYPE, withBody } from './responses.ts'
import { weightsOf } from './weights.ts'

/** Below this a compressed answer saves no packet. */
const COMPRESSED_FROM_BYTES = 1_024

/** One form of an answer: its bytes, and the response of which each request gets a copy. */
interface Variant {
  body: Uint8Array
  response: Response
}

type Bytes = Uint8Array<ArrayBuffer>

/** How an answer can be compressed, the better first: zstd finds what repeats far apart, and takes a quarter of the time. */
const CODINGS = {
  zstd: (body: Bytes) => Bun.zstdCompressSync(body, { level: 6 }),
  gzip: (body: Bytes) => Bun.gzipSync(body, { library: 'libdeflate', level: 6 }),
} as const satisfies Record<string, (body: Bytes) => Uint8Array>
type Coding = keyof typeof CODINGS

/**
 * An answer that is written out once and sent many times: conditional by its entity tag, and compressed, once, for
 * those who ask for it. Copying a response costs a fraction of making one.
 */
export class StoredResponse {
  readonly #headers: Readonly<Record<string, string>>
  readonly #plain: Variant
  #unchanged: Response | undefined
  readonly #etag: string
  readonly #validators: Readonly<Record<string, string>>
  readonly #packed: Partial<Record<Coding, Variant>> = {}

  /** Headers of its own go before those of an answer of the API: private, and asked for again each time. */
  constructor(content: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) {
    const body = typeof content === 'string' ? Buffer.from(content) : (content as Uint8Array<ArrayBuffer>)
    // Weak, because it stands for the content in every encoding.
    this.#etag = `W/"${Bun.hash.xxHash64(body).toString(36)}"`
    this.#validators = {
      etag: this.#etag,
      'cache-control': headers['cache-control'] ?? 'private, no-cache',
      vary: headers.vary ?? 'Accept-Encoding',
    }
    this.#headers = { 'content-type': JSON_TYPE, ...this.#validators, ...headers }
    this.#plain = { body, response: new Response(body, { headers: this.#headers }) }
  }

  get byteCount(): number {
    return this.#plain.body.byteLength
  }

  /** The response to a request: a copy, to which headers may be added. */
  respond({ headers }: Request): Response {
    const known = headers.get('if-none-match')
    if (known !== null && names(known, this.#etag)) {
      this.#unchanged ??= new Response(null, { status: 304, headers: this.#validators })
      return this.#unchanged.clone() as Response
    }
    return withBody(this.#variantFor(headers).response.clone() as Response, this.#plain.body)
  }

  #variantFor(headers: Headers): Variant {
    const coding = this.byteCount < COMPRESSED_FROM_BYTES ? undefined : codingFor(headers.get('accept-encoding'))
    if (!coding) return this.#plain
    this.#packed[coding] ??= this.#pack(coding)
    return this.#packed[coding]
  }

  #pack(coding: Coding): Variant {
    const body = CODINGS[coding](this.#plain.body as Bytes) as Bytes
    return { body, response: new Response(body, { headers: { ...this.#headers, 'content-encoding': coding } }) }
  }
}

/** Answers for as long as the program runs, by number: each is written out when it is first asked for. */
export const storedOnce = (make: (id: number) => unknown): ((id?: number) => StoredResponse) => {
  const kept = new Map<number, StoredResponse>()
  return (id = 0) => {
    const known = kept.get(id)
    if (known) return known
    const prepared = new StoredResponse(JSON.stringify(make(id)))
    kept.set(id, prepared)
    return prepared
  }
}

/** Whether a list of entity tags holds one, compared weakly (RFC 9110, 13.1.2). */
const names = (list: string, etag: string): boolean =>
  list.trim() === '*' || list.split(',').some((each) => each.trim().replace(/^(?!W\/)/, 'W/') === etag)

/** What was asked for lately, so that a header that every request of a client carries is read once. */
const asked = new Map<string, Coding | undefined>()
const ASKED_MAX = 100

const codingFor = (header: string | null): Coding | undefined => {
  if (header === null) return undefined
  if (asked.has(header)) return asked.get(header)
  if (asked.size >= ASKED_MAX) asked.clear()
  const coding = bestOf(header)
  asked.set(header, coding)
  return coding
}

/** The coding that weighs most; gzip where anything is taken, as everybody has it (RFC 9110, 12.5.3). */
const bestOf = (header: string): Coding | undefined => {
  const weights = weightsOf(header)
  const zstd = weights.get('zstd') ?? 0
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0
  if (zstd > 0 && zstd >= gzip) return 'zstd'
  return gzip > 0 ? 'gzip' : undefined
}
