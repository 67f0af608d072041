import { DomainError } from '../kernel/failure.ts'

/**
 * The bodies that are under way. Together they take a bounded number of bytes; where more arrive, the body that has been
 * under way longest is refused, so that nobody can keep others out by sending slowly.
 */

/** Thirty-two of the largest bodies; ordinary ones are a thousandth of that. */
export const IN_FLIGHT_BYTES_MAX = 33_554_432
/** What a client that was refused waits: most bodies arrive within milliseconds. */
const RETRY_AFTER_SECONDS = 1

/** A body under way, and what has arrived of it. */
export class Upload {
  #chunks: Uint8Array[] = []
  #byteCount = 0

  constructor(private readonly refuse: (error: DomainError) => void) {}

  get byteCount(): number {
    return this.#byteCount
  }

  /** Makes room for bytes that have arrived, or that will arrive in one piece. */
  count(byteCount: number): void {
    if (!uploads.has(this)) return
    this.#byteCount += byteCount
    bytesInFlight += byteCount
    makeRoom()
  }

  /** Keeps what has arrived, and answers whether more is wanted. */
  keep(chunk: Uint8Array): boolean {
    this.count(chunk.byteLength)
    if (!uploads.has(this)) return false
    this.#chunks.push(chunk)
    return true
  }

  whole(): Uint8Array {
    return Buffer.concat(this.#chunks, this.#byteCount)
  }

  /** Gives up what has arrived: the client may hold its connection open for as long as it likes. */
  giveWay(): void {
    forget(this)
    this.#chunks = []
    this.refuse(new DomainError({ code: 'unavailable', retryAfterSeconds: RETRY_AFTER_SECONDS }))
  }
}

/** The oldest first. */
const uploads = new Set<Upload>()
let bytesInFlight = 0

const makeRoom = (): void => {
  for (const upload of uploads) {
    if (bytesInFlight <= IN_FLIGHT_BYTES_MAX) return
    upload.giveWay()
  }
}

const forget = (upload: Upload): void => {
  if (uploads.delete(upload)) bytesInFlight -= upload.byteCount
}

/**
 * Reads a body within the bound.
 *
 * @throws DomainError unavailable when it gives way to others, or what reading throws
 */
export const takeIn = (read: (upload: Upload) => Promise<Uint8Array>): Promise<Uint8Array> =>
  new Promise<Uint8Array>((resolve, reject) => {
    const upload = new Upload(reject)
    uploads.add(upload)
    read(upload)
      .then(resolve, reject)
      .finally(() => forget(upload))
  })
