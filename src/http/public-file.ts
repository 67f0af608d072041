import { createHash } from 'node:crypto'

/**
 * A page, picture or document that anybody may read, and that is the same for everybody until the next release: caches may
 * keep it, and ask whether it has changed (contract C4).
 */
export class PublicFile {
  readonly #body: Blob
  readonly #headers: Record<string, string>

  constructor(content: string, headers: Readonly<Record<string, string>>) {
    // Bytes that all responses share: a text would be encoded for each of them.
    this.#body = new Blob([content])
    const digest = createHash('sha256').update(content).digest('base64url')
    this.#headers = { ...headers, ETag: `"${digest}"` }
  }

  /** The response; without a body if the client has the same file already. */
  responseTo({ headers }: Request): Response {
    const isKnown = isNamedBy(headers.get('if-none-match'), String(this.#headers.ETag))
    return isKnown
      ? new Response(null, { status: 304, headers: this.#headers })
      : new Response(this.#body, { headers: this.#headers })
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
