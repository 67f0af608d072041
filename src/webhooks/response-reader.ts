/** What comes before the body, interim responses included, is not read any further. */
const HEAD_BYTES_MAX = 16_384
/** One each second is enough for a receiver that says that it is still at work (RFC 9110, 15.2). */
const INTERIM_MAX = 16
/** What is kept of a body (contract C16). */
const BODY_BYTES_MAX = 1_024
/** The frames of the chunks that hold so much body: one for each byte is six times as long. */
const FRAMED_BYTES_MAX = 8 * BODY_BYTES_MAX

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: [^\r]*)?$/
const INTERIM_BELOW = 200

/**
 * Reads the status of an HTTP/1.1 response and the beginning of its body, and nothing else. Each byte is looked at once,
 * however few of them come together: a receiver must not hold up the server (decision 72).
 */
export class ResponseReader {
  #headBytes = 0
  #interims = 0
  /** The end of the head, which is not a whole line yet. */
  #line = ''
  #isInterim = false
  #status: number | null = null
  #framing = { isChunked: false, bodyBytes: Number.POSITIVE_INFINITY }
  /** Undefined before the head has ended. */
  #body: Buffer | undefined

  /** Null before there is one. */
  get status(): number | null {
    return this.#status
  }

  /** Null before the head has ended. */
  get text(): string | null {
    if (!this.#body) return null
    const { isChunked, bodyBytes } = this.#framing
    const body = isChunked ? dechunked(this.#body) : this.#body.subarray(0, bodyBytes)
    // A character that is cut at the end is left out.
    return new TextDecoder().decode(body.subarray(0, BODY_BYTES_MAX), { stream: true })
  }

  /** Returns whether there is nothing more to read. */
  read(bytes: Buffer): boolean {
    this.#isDone ||= this.#take(bytes)
    return this.#isDone
  }
  #isDone = false

  #take(bytes: Buffer): boolean {
    let at = 0
    while (!this.#body) {
      const lineEnd = bytes.indexOf('\n', at)
      const end = lineEnd === -1 ? bytes.byteLength : lineEnd + 1
      this.#headBytes += end - at
      if (this.#headBytes > HEAD_BYTES_MAX) return true
      this.#line += bytes.toString('latin1', at, end)
      if (lineEnd === -1) return false
      const line = this.#line.replace(/\r?\n$/, '')
      this.#line = ''
      at = end
      if (!this.#readLine(line)) return true
    }
    return this.#readBody(bytes.subarray(at))
  }

  /** Returns whether this is how a response goes on. */
  #readLine(line: string): boolean {
    if (this.#status === null && !this.#isInterim) {
      const status = Number(STATUS_LINE.exec(line)?.[1])
      this.#isInterim = status < INTERIM_BELOW
      if (this.#isInterim) return ++this.#interims <= INTERIM_MAX
      if (Number.isNaN(status)) return false
      this.#status = status
      if (status === 204 || status === 304) this.#framing.bodyBytes = 0
    } else if (line === '') {
      if (this.#isInterim) this.#isInterim = false
      else this.#body = Buffer.alloc(0)
    } else if (this.#status !== null) {
      if (/^transfer-encoding:.*chunked/i.test(line)) this.#framing.isChunked = true
      const length = /^content-length: *(\d+)/i.exec(line)?.[1]
      if (length !== undefined) this.#framing.bodyBytes = Math.min(this.#framing.bodyBytes, Number(length))
    }
    return true
  }

  #readBody(bytes: Buffer): boolean {
    const { isChunked, bodyBytes } = this.#framing
    const bytesMax = isChunked ? FRAMED_BYTES_MAX : Math.min(bodyBytes, BODY_BYTES_MAX)
    const body = Buffer.concat([this.#body ?? bytes, bytes.subarray(0, bytesMax)])
    this.#body = body
    return body.byteLength >= bytesMax || (isChunked && LAST_CHUNK.test(body.toString('latin1')))
  }
}

const LAST_CHUNK = /(?:^|\n)0+\r?\n/

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
