import { createCipheriv, hash, randomBytes } from 'node:crypto'
import { sha256BytesOf } from './sha256.ts'

export interface Randomness {
  bytes(count: number): Uint8Array
}

export const secureRandomness: Randomness = { bytes: (count) => randomBytes(count) }

/** This value never comes from a random seed (decision 1). */
export const freshSecret = (byteCount: number): Uint8Array => randomBytes(byteCount)

/** The id of a command's request, with which it can ask again (contract C20). It never comes from a random seed. */
export const freshActId = (): string => `act_${Bun.randomUUIDv7('base64url')}`

/** Names an installation, so that a copy knows where it belongs (contract C18). Never from a random seed. */
export const freshInstallationId = (): string => Bun.randomUUIDv7()

export const freshSeed = (): string => randomBytes(16).toString('hex')

const BLOCK_BYTES = 16

/** A reproducible stream: AES-256-CTR with the digest of the seed as key. Its only state is the position. */
export class SeededRandomness implements Randomness {
  readonly #key: Buffer

  constructor(
    readonly seed: string,
    public position = 0,
  ) {
    this.#key = sha256BytesOf(seed)
  }

  bytes(count: number): Uint8Array {
    const intoBlock = this.position % BLOCK_BYTES
    const counter = Buffer.alloc(BLOCK_BYTES)
    counter.writeBigUInt64BE(BigInt((this.position - intoBlock) / BLOCK_BYTES), 8)
    this.position += count
    const blocks = createCipheriv('aes-256-ctr', this.#key, counter).update(Buffer.alloc(intoBlock + count))
    return blocks.subarray(intoBlock)
  }
}

/** The millisecond of the last id, and how many ids were created in it before. */
export interface IdState {
  lastMs: number
  sequence: number
}

type IdPrefix = 'ben' | 'pyt' | 'lgn' | 'req' | 'whk'

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz'
/** The largest multiple of 36 in a byte: larger bytes would favour the first letters. */
const UNBIASED_BYTE_LIMIT = 252
const TIME_LENGTH = 10
const SEQUENCE_LENGTH = 5
const RANDOM_LENGTH = 10

const timeLetters = (nowMs: number): string => nowMs.toString(36).padStart(TIME_LENGTH, '0')

/** Creates ids that sort by creation (contract C10): time, sequence number in the millisecond, random letters. */
export class IdSource {
  #lastMs: number
  #sequence: number

  constructor(
    readonly randomness: Randomness,
    state: IdState = { lastMs: -1, sequence: 0 },
  ) {
    this.#lastMs = state.lastMs
    this.#sequence = state.sequence
  }

  get state(): IdState {
    return { lastMs: this.#lastMs, sequence: this.#sequence }
  }

  next(prefix: IdPrefix, nowMs: number): string {
    this.#sequence = nowMs === this.#lastMs ? this.#sequence + 1 : 0
    this.#lastMs = nowMs
    const sequence = this.#sequence.toString(36).padStart(SEQUENCE_LENGTH, '0')
    return `${prefix}_${timeLetters(nowMs)}${sequence}${this.letters(RANDOM_LENGTH)}`
  }

  /** Does work, and then puts ids and randomness back: the next work draws the same values. */
  rewinding<T>(work: () => T): T {
    const { lastMs, sequence } = this.state
    const { randomness } = this
    const position = randomness instanceof SeededRandomness ? randomness.position : 0
    try {
      return work()
    } finally {
      this.#lastMs = lastMs
      this.#sequence = sequence
      if (randomness instanceof SeededRandomness) randomness.position = position
    }
  }

  /** Random characters of [0-9a-z] without bias: 5.17 bits each. */
  letters(count: number): string {
    let text = ''
    while (text.length < count) {
      for (const byte of this.randomness.bytes(count - text.length)) {
        if (byte < UNBIASED_BYTE_LIMIT) text += ALPHABET[byte % ALPHABET.length]
      }
    }
    return text
  }
}

const COMPUTED_LENGTH = SEQUENCE_LENGTH + RANDOM_LENGTH

/**
 * An id that sorts by time and is computed from its content, so that it takes nothing from the randomness of a world
 * (decision 70). Equal content has the same id.
 */
export const computedId = (prefix: 'evt', nowMs: number, content: string): string => {
  const digest = hash('sha256', content, 'hex') // in one call, because each event has one
  return `${prefix}_${timeLetters(nowMs)}${digest.slice(0, COMPUTED_LENGTH)}`
}
