/** The head of a response is read up to this length. */
const HEAD_BYTES_MAX = 16_384
/** One interim response each second is enough for a receiver that is still at work (RFC 9110, 15.2). */
const INTERIM_MAX = 16
/** The part of a body that is kept (contract C16). */
const BODY_BYTES_MAX = 1_024
/** A decoder writes this for bytes that it cannot decode. */
const REPLACEMENT = '\ufffd'
/** The longest framing of the chunks of that part: a chunk for each byte takes six times its length. */
const FRAMED_BYTES_MAX = 8 * BODY_BYTES_MAX

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [^\r\n]*)?\r?\n/
const HEAD_END = /\r?\n\r?\n/
const INTERIM_BELOW = 200

/** The part of a head that says how the body and the connection end. */
interface Framing {
  isPersistent: boolean
  /** The number of header fields that set the end of the body. */
  fieldCount: number
  isChunked: boolean
  bodyBytes: number
}

/** Reads the status of an HTTP/1.1 response and the beginning of its body, and nothing else (decision 72). */
export class ResponseReader {
  /** The unread part: the rest of the head, and then the body. */
  #bytes: Buffer = Buffer.alloc(0)
  #interims = 0
  /** Null before there is one. */
  status: number | null = null
  hasBegun = false
  /** Undefined before the head has ended. */
  #framing: Framing | undefined
  #isDone = false

  /** Null before the head has ended. */
  get text(): string | null {
    if (!this.#framing) return null
    const { content } = framed(this.#bytes, this.#framing)
    // A character that is cut at the end is left out. NUL would end the text where other programs read the database.
    const text = new TextDecoder().decode(content.subarray(0, BODY_BYTES_MAX), { stream: true })
    return text.replaceAll('\0', REPLACEMENT)
  }

  /**
   * True if the connection can be used again: one field sets the end of the response, all of it is read, and nothing has
   * come after it.
   */
  get isReusable(): boolean {
    if (!this.#framing?.isPersistent || this.#framing.fieldCount > 1) return false
    const { content, isWhole } = framed(this.#bytes, this.#framing)
    return isWhole && content.byteLength <= BODY_BYTES_MAX
  }

  /** Returns true when nothing is left to read. */
  read(bytes: Buffer): boolean {
    this.hasBegun = true
    if (this.#isDone) return true
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    this.#isDone = this.#framing ? this.#hasBody(this.#framing) : this.#readHead()
    return this.#isDone
  }

  /** The status counts as soon as its line has come. */
  #readHead(): boolean {
    const head = this.#bytes.toString('latin1', 0, HEAD_BYTES_MAX)
    const isTooLong = head.length === HEAD_BYTES_MAX
    if (!head.includes('\n')) return isTooLong
    const [line = '', minor, status = ''] = STATUS_LINE.exec(head) ?? []
    if (line === '') return true
    const isInterim = Number(status) < INTERIM_BELOW
    if (!isInterim) this.status = Number(status)
    const end = HEAD_END.exec(head)
    if (!end) return isTooLong
    this.#bytes = this.#bytes.subarray(end.index + end[0].length)
    if (isInterim) return ++this.#interims > INTERIM_MAX || this.#readHead()
    this.#framing = framingOf(head.slice(line.length, end.index), minor === '1', NO_BODY.has(Number(status)))
    return this.#hasBody(this.#framing)
  }

  /** Reads one byte more than is kept, as a sign that the response is longer. */
  #hasBody(framing: Framing): boolean {
    const bytesMax = framing.isChunked ? FRAMED_BYTES_MAX : BODY_BYTES_MAX
    return this.#bytes.byteLength > bytesMax || framed(this.#bytes, framing).isLast
  }
}

const NO_BODY = new Set([204, 304])

const framingOf = (fields: string, isPersistent: boolean, isWithoutBody: boolean): Framing => {
  const lengths = [...fields.matchAll(/^content-length: *(\d+)/gim)].map(([, length]) => Number(length))
  const chunkings = fields.match(/^transfer-encoding:.*chunked/gim) ?? []
  return {
    isPersistent: isPersistent && !/^connection:.*close/im.test(fields),
    fieldCount: lengths.length + chunkings.length,
    isChunked: chunkings.length > 0 && !isWithoutBody,
    bodyBytes: isWithoutBody ? 0 : Math.min(...lengths, Number.POSITIVE_INFINITY),
  }
}

/** The part of a body that has come, without its frames; flags say that it is complete, and that nothing comes after it. */
interface Framed {
  content: Buffer
  isLast: boolean
  isWhole: boolean
}

const framed = (body: Buffer, { isChunked, bodyBytes }: Framing): Framed => {
  if (isChunked) return dechunked(body)
  const content = body.subarray(0, bodyBytes)
  return { content, isLast: body.byteLength >= bodyBytes, isWhole: body.byteLength === bodyBytes }
}

const dechunked = (body: Buffer): Framed => {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = body.indexOf('\n', at)
    const size = lineEnd === -1 ? Number.NaN : Number.parseInt(body.toString('latin1', at, lineEnd), 16)
    if (!(size > 0)) {
      const [content, isLast] = [Buffer.concat(parts), size === 0]
      return { content, isLast, isWhole: isLast && body.toString('latin1', lineEnd + 1) === '\r\n' }
    }
    parts.push(body.subarray(lineEnd + 1, lineEnd + 1 + size))
    at = lineEnd + 1 + size + '\r\n'.length
  }
}
