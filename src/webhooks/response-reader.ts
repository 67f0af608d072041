/** The head of a response that is longer is not read on. */
const HEAD_BYTES_MAX = 16_384
/** What is kept of a body (contract C16). */
const BODY_BYTES_MAX = 1_024
/** The frames of the chunks that hold so much body: one for each byte is six times as long. */
const FRAMED_BYTES_MAX = 8 * BODY_BYTES_MAX

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r?\n/
const HEAD_END = /\r?\n\r?\n/
const INTERIM_BELOW = 200

/** Reads the status of an HTTP/1.1 response and the beginning of its body, and nothing else. */
export class ResponseReader {
  #bytes = Buffer.alloc(0)
  #status: number | null = null
  #head: { isChunked: boolean; bodyBytes: number; length: number } | undefined

  /** Null before there is one. */
  get status(): number | null {
    return this.#status
  }

  /** Null before the head has ended. */
  get text(): string | null {
    if (!this.#head) return null
    const framed = this.#bytes.subarray(this.#head.length)
    const body = this.#head.isChunked ? dechunked(framed) : framed.subarray(0, this.#head.bodyBytes)
    // A character that is cut at the end is left out.
    return new TextDecoder().decode(body.subarray(0, BODY_BYTES_MAX), { stream: true })
  }

  /** Returns whether there is nothing more to read. */
  read(bytes: Buffer): boolean {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    while (!this.#head) {
      const text = this.#bytes.subarray(0, HEAD_BYTES_MAX).toString('latin1')
      const line = STATUS_LINE.exec(text)
      if (!line) return text.includes('\n') || text.length === HEAD_BYTES_MAX
      const status = Number(line[1])
      if (status >= INTERIM_BELOW) this.#status = status
      const end = HEAD_END.exec(text)
      if (!end) return text.length === HEAD_BYTES_MAX
      const length = end.index + end[0].length
      if (status >= INTERIM_BELOW) this.#head = { ...framingOf(text.slice(0, end.index), status), length }
      else this.#bytes = this.#bytes.subarray(length)
    }
    const { isChunked, bodyBytes, length } = this.#head
    const read = this.#bytes.byteLength - length
    if (!isChunked) return read >= Math.min(bodyBytes, BODY_BYTES_MAX)
    return read >= FRAMED_BYTES_MAX || /(?:^|\n)0+\r?\n/.test(this.#bytes.subarray(length).toString('latin1'))
  }
}

const framingOf = (head: string, status: number) => ({
  isChunked: /^transfer-encoding:.*chunked/im.test(head),
  bodyBytes: status === 204 || status === 304 ? 0 : Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? Infinity),
})

/** The content of chunks, as far as they go. */
const dechunked = (framed: Buffer): Buffer => {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = framed.indexOf('\n', at)
    const size = lineEnd === -1 ? Number.NaN : Number.parseInt(framed.toString('latin1', at, lineEnd), 16)
    if (!(size > 0)) return Buffer.concat(parts)
    parts.push(framed.subarray(lineEnd + 1, lineEnd + 1 + size))
    at = lineEnd + 1 + size + '\r\n'.length
  }
}
