import { DomainError, unavailable } from '../kernel/failure.ts'

/**
 * The bodies that are still arriving. Together they take a bounded number of bytes. If more arrive, the oldest body is
 * refused, so that nobody can keep others out by sending slowly.
 */

/** Thirty-two of the largest bodies; ordinary ones are a thousandth of that. */
export const IN_FLIGHT_BYTES_MAX = 33_554_432
/** Most bodies arrive within milliseconds. */
const RETRY_AFTER_SECONDS = 1

export class Upload {
  #buffer = new ArrayBuffer(0)
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

  /** Takes over a piece that has arrived. Returns whether more is wanted. */
  keep(piece: Uint8Array<ArrayBuffer>): boolean {
    const start = this.#byteCount
    this.count(piece.byteLength)
    const isWanted = uploads.has(this)
    if (isWanted) this.#append(piece, start)
    release(piece.buffer)
    return isWanted
  }

  #append(piece: Uint8Array, start: number): void {
    const { byteLength: capacity } = this.#buffer
    if (this.#byteCount > capacity) this.#buffer = this.#buffer.transfer(Math.max(2 * capacity, this.#byteCount))
    new Uint8Array(this.#buffer, start).set(piece)
  }

  whole(): Uint8Array {
    return new Uint8Array(this.#buffer, 0, this.#byteCount)
  }

  /** Gives up what has arrived: the client may hold its connection open for as long as it likes. */
  giveWay(): void {
    forget(this)
    this.#buffer = release(this.#buffer)
    this.#byteCount = 0
    this.refuse(new DomainError(unavailable(RETRY_AFTER_SECONDS)))
  }
}

/** Returns memory at once: the garbage collector lets hundreds of MiB of pieces accumulate. Returns an empty buffer. */
const release = (buffer: ArrayBuffer): ArrayBuffer => buffer.transfer(0)

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
