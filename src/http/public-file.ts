import { createHash } from 'node:crypto'

/** Proxies compress what is smaller; the OpenAPI document is the only file that is larger. */
const COMPRESSED_MIN = 500_000
/** Accepts gzip, and not with the quality 0 (RFC 9110, 12.5.3). */
const TAKES_GZIP = /(?:^|[,\s])(?:gzip|\*)(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))\s*(?:[;,]|$)/i

/**
 * A page, picture or document that anybody may read, and that is the same for everybody until the next release: caches may
 * keep it, and ask whether it has changed (contract C4).
 */
export class PublicFile {
  readonly #body: Blob
  /** The same, compressed by gzip, for clients that take it. */
  readonly #gzip: () => Blob
  readonly #headers: Record<string, string>

  constructor(content: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>) {
    // Bytes that all responses share: a text would be encoded for each of them.
    this.#body = new Blob([content])
    this.#gzip = madeOnce(() => new Blob([Bun.gzipSync(content)]))
    const digest = createHash('sha256').update(content).digest('base64url')
    const isLarge = content.length >= COMPRESSED_MIN
    this.#headers = { ...headers, ETag: `"${digest}"`, ...(isLarge && { Vary: 'Accept-Encoding' }) }
  }

  /** The response; without a body if the client has the same file already. */
  responseTo({ headers: sent }: Request): Response {
    const { ETag } = this.#headers
    const isCompressed = 'Vary' in this.#headers && TAKES_GZIP.test(sent.get('accept-encoding') ?? '')
    // Another encoding is another body: its tag is weak, so that nobody resumes one with the other.
    const headers = isCompressed ? { ...this.#headers, ETag: `W/${ETag}` } : this.#headers
    if (isNamedBy(sent.get('if-none-match'), String(ETag))) return new Response(null, { status: 304, headers })
    if (!isCompressed) return new Response(this.#body, { headers })
    return new Response(this.#gzip(), { headers: { ...headers, 'Content-Encoding': 'gzip' } })
  }
}

/** Makes a value when it is first asked for, and keeps it. */
export const madeOnce = <Value>(make: () => Value): (() => Value) => {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Proxies that compress a response mark its ETag as weak, which does not matter here (RFC 9110, 13.1.2). */
const isNamedBy = (sent: string | null, etag: string): boolean =>
  sent?.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, ''))) ?? false
