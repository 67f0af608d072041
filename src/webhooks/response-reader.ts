/** The head of a response, interim responses included, is read up to this length. */
const HEAD_BYTES_MAX = 16_384
/** One interim response each second is enough for a receiver that is still at work (RFC 9110, 15.2). */
const INTERIM_MAX = 16
/** The part of a body that is kept (contract C16). */
const BODY_BYTES_MAX = 1_024
/** The longest framing of the chunks of that part: a chunk for each byte takes six times its length. */
const FRAMED_BYTES_MAX = 8 * BODY_BYTES_MAX

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [^\r]*)?$/
const INTERIM_BELOW = 200

/**
 * Reads the status of an HTTP/1.1 response and the beginning of its body, and nothing else. It reads each byte once,
 * however small the pieces are: a receiver must not hold up the server (decision 72).
 */
export class ResponseReader {
  #headBytes = 0
  #interims = 0
  /** The incomplete last line of the head. */
  #line = ''
  #isInterim = false
  #status: number | null = null
  #isPersistent = false
  /** The number of header fields that set the end of the body. */
  #framings = 0
  #isChunked = false
  #bodyBytes = Number.POSITIVE_INFINITY
  /** Undefined before the head has ended. */
  #body: Buffer | undefined
  #isDone = false

  /** Null before there is one. */
  get status(): number | null {
    return this.#status
  }

  /** Null before the head has ended. */
  get text(): string | null {
    if (!this.#body) return null
    const { content } = this.#framed(this.#body)
    // A character that is cut at the end is left out.
    return new TextDecoder().decode(content.subarray(0, BODY_BYTES_MAX), { stream: true })
  }

  get hasBegun(): boolean {
    return this.#headBytes > 0
  }

  /**
   * True if the connection can be used again: one field sets the end of the response, all of it is read, and nothing has
   * come after it.
   */
  get isReusable(): boolean {
    if (!this.#body || !this.#isPersistent || this.#framings > 1) return false
    const { content, isWhole } = this.#framed(this.#body)
    return isWhole && content.byteLength <= BODY_BYTES_MAX
  }

  /** Returns true when nothing is left to read. */
  read(bytes: Buffer): boolean {
    this.#isDone ||= this.#take(bytes)
    return this.#isDone
  }

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

  /** Returns false if the response cannot continue with this line. */
  #readLine(line: string): boolean {
    if (this.#status === null && !this.#isInterim) {
      const [, minor, digits] = STATUS_LINE.exec(line) ?? []
      const status = Number(digits)
      this.#isInterim = status < INTERIM_BELOW
      if (this.#isInterim) return ++this.#interims <= INTERIM_MAX
      if (Number.isNaN(status)) return false
      this.#status = status
      this.#isPersistent = minor === '1'
    } else if (line === '') {
      if (this.#isInterim) this.#isInterim = false
      else this.#endHead()
    } else if (this.#status !== null) {
      this.#readField(line)
    }
    return true
  }

  #readField(line: string): void {
    const length = /^content-length: *(\d+)/i.exec(line)?.[1]
    const isChunked = /^transfer-encoding:.*chunked/i.test(line)
    if (isChunked || length !== undefined) this.#framings += 1
    this.#isChunked ||= isChunked
    this.#bodyBytes = Math.min(this.#bodyBytes, Number(length ?? Number.POSITIVE_INFINITY))
    if (/^connection:.*close/i.test(line)) this.#isPersistent = false
  }

  #endHead(): void {
    this.#body = Buffer.alloc(0)
    if (this.#status !== 204 && this.#status !== 304) return
    this.#isChunked = false
    this.#bodyBytes = 0
  }

  /** Keeps one byte more than is needed, as a sign that the response is longer. */
  #readBody(bytes: Buffer): boolean {
    const bytesMax = this.#isChunked ? FRAMED_BYTES_MAX : BODY_BYTES_MAX
    const body = Buffer.concat([this.#body ?? bytes, bytes.subarray(0, bytesMax + 1)])
    this.#body = body
    return body.byteLength >= bytesMax || this.#framed(body).isLast
  }

  #framed(body: Buffer): Framed {
    if (this.#isChunked) return dechunked(body)
    const isLast = body.byteLength >= this.#bodyBytes
    return { content: body.subarray(0, this.#bodyBytes), isLast, isWhole: body.byteLength === this.#bodyBytes }
  }
}

/** The part of a body that has come, without its frames; flags say that it is complete, and that nothing comes after it. */
interface Framed {
  content: Buffer
  isLast: boolean
  isWhole: boolean
}

const dechunked = (framed: Buffer): Framed => {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = framed.indexOf('\n', at)
    const size = lineEnd === -1 ? Number.NaN : Number.parseInt(framed.toString('latin1', at, lineEnd), 16)
    if (!(size > 0)) {
      const [content, isLast] = [Buffer.concat(parts), size === 0]
      return { content, isLast, isWhole: isLast && framed.toString('latin1', lineEnd + 1) === '\r\n' }
    }
    parts.push(framed.subarray(lineEnd + 1, lineEnd + 1 + size))
    at = lineEnd + 1 + size + '\r\n'.length
  }
}
