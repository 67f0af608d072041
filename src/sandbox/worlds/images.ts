import { closeSync, ftruncateSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeptImage } from '../../worlds/world.ts'

/** An image that others hold anyway. */
export const sharedImage = (image: Uint8Array): KeptImage => ({
  read: () => image,
  drop: () => undefined,
})

/** Packing takes a few milliseconds for so many bytes: larger images are kept as they are. */
const PACKED_BYTES_MAX = 1_048_576

/** Images of databases that nobody has open: packed, and in memory up to a bound; beyond it in a temporary file. */
export class Images {
  #memoryBytes = 0
  #file: TemporaryFile | undefined

  constructor(private readonly memoryBytesMax: number) {}

  /** What they take of the memory. */
  get memoryBytes(): number {
    return this.#memoryBytes
  }

  keep(image: Uint8Array): KeptImage {
    const isPacked = image.byteLength <= PACKED_BYTES_MAX
    const bytes = isPacked ? Bun.zstdCompressSync(image as Uint8Array<ArrayBuffer>, { level: 1 }) : image
    const unpacked = (kept: Uint8Array) => (isPacked ? Bun.zstdDecompressSync(kept as Uint8Array<ArrayBuffer>) : kept)
    const place = this.#memoryBytes + bytes.byteLength > this.memoryBytesMax ? this.#inFile(bytes) : undefined
    if (place) {
      return { read: () => unpacked(place.read()), drop: place.free }
    }
    this.#memoryBytes += bytes.byteLength
    return {
      read: () => unpacked(bytes),
      drop: () => {
        this.#memoryBytes -= bytes.byteLength
      },
    }
  }

  /** A place in the file; undefined where the machine has no room for it. */
  #inFile(bytes: Uint8Array): Place | undefined {
    try {
      this.#file ??= new TemporaryFile()
      return this.#file.write(bytes)
    } catch {
      return undefined
    }
  }

  close(): void {
    this.#file?.close()
    this.#file = undefined
  }
}

interface Place {
  read: () => Uint8Array
  free: () => void
}

interface Gap {
  offset: number
  length: number
}

/** A file without a name: the operating system gives its room back however the process ends. */
class TemporaryFile {
  readonly #descriptor: number
  #end = 0
  #gaps: Gap[] = []

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'scrip-'))
    this.#descriptor = openSync(join(folder, 'worlds'), 'wx+', 0o600)
    rmSync(folder, { recursive: true, force: true })
  }

  /** @throws what the file system says when there is no room */
  write(bytes: Uint8Array): Place {
    const { byteLength: length } = bytes
    const offset = this.#take(length)
    for (let written = 0; written < length; ) {
      written += writeSync(this.#descriptor, bytes, written, length - written, offset + written)
    }
    return {
      read: () => {
        const read = new Uint8Array(length)
        for (let at = 0; at < length; ) {
          const count = readSync(this.#descriptor, read, at, length - at, offset + at)
          if (count === 0) throw new Error('the temporary file of the worlds was cut short')
          at += count
        }
        return read
      },
      free: () => this.#free({ offset, length }),
    }
  }

  /** The first gap that is large enough, or the end. */
  #take(length: number): number {
    const gap = this.#gaps.find((each) => each.length >= length)
    if (!gap) {
      this.#end += length
      return this.#end - length
    }
    const { offset } = gap
    gap.offset += length
    gap.length -= length
    if (gap.length === 0) this.#gaps = this.#gaps.filter((each) => each !== gap)
    return offset
  }

  #free(gap: Gap): void {
    this.#gaps.push(gap)
    this.#gaps.sort((one, other) => one.offset - other.offset)
    this.#gaps = this.#gaps.reduce<Gap[]>((joined, each) => {
      const last = joined.at(-1)
      if (last && last.offset + last.length === each.offset) last.length += each.length
      else joined.push(each)
      return joined
    }, [])
    const last = this.#gaps.at(-1)
    if (!last || last.offset + last.length !== this.#end) return
    this.#gaps.pop()
    this.#end = last.offset
    ftruncateSync(this.#descriptor, this.#end)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
