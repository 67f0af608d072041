import { Database as SqliteDatabase } from 'bun:sqlite'
import { Database } from '../../db/database.ts'
import type { DataAtRest } from '../../worlds/world.ts'

/** The image of a database that nobody has open. */
export interface KeptImage {
  read: () => Uint8Array
  /** Frees its space. It is not read again. */
  drop: () => void
}

export const sharedImage = (image: Uint8Array): DataAtRest => inMemory({ read: () => image, drop: () => undefined })

export const inMemory = ({ read, drop }: KeptImage): DataAtRest => ({ open: () => Database.inMemory(read()), drop })

/** Packing takes a few milliseconds for this many bytes: larger images are kept as they are. */
const PACKED_BYTES_MAX = 1_048_576

/** Images of databases that nobody has open: packed, and in memory up to a bound; beyond it in a temporary file. */
export class Images {
  #memoryBytes = 0
  #fileBytes = 0
  #file: SqliteDatabase | undefined

  constructor(
    private readonly memoryBytesMax: number,
    /** Whether the temporary file may grow by this many bytes. */
    private readonly fitsFile: (bytes: number) => boolean,
  ) {}

  get memoryBytes(): number {
    return this.#memoryBytes
  }

  get fileBytes(): number {
    return this.#fileBytes
  }

  keep(image: Uint8Array): KeptImage {
    const isPacked = image.byteLength <= PACKED_BYTES_MAX
    const bytes = isPacked ? Bun.zstdCompressSync(image as Uint8Array<ArrayBuffer>, { level: 1 }) : image
    const isOver = this.#memoryBytes + bytes.byteLength > this.memoryBytesMax
    const { read, drop } = (isOver && this.#keptInFile(bytes)) || this.#keptInMemory(bytes)
    return { read: () => (isPacked ? Bun.zstdDecompressSync(read() as Uint8Array<ArrayBuffer>) : read()), drop }
  }

  #keptInMemory(bytes: Uint8Array): KeptImage {
    this.#memoryBytes += bytes.byteLength
    return {
      read: () => bytes,
      drop: () => {
        this.#memoryBytes -= bytes.byteLength
      },
    }
  }

  /** Undefined where the file or the machine has no room for it. */
  #keptInFile(bytes: Uint8Array): KeptImage | undefined {
    const { byteLength } = bytes // what is returned must not hold the bytes in memory
    if (!this.fitsFile(byteLength)) return undefined
    try {
      this.#file ??= openTemporaryFile()
      const { lastInsertRowid: id } = this.#file.query('INSERT INTO images (bytes) VALUES (?)').run(bytes)
      const reading = this.#file.query<{ bytes: Uint8Array }, [number | bigint]>(
        'SELECT bytes FROM images WHERE id = ?',
      )
      const deletion = this.#file.query('DELETE FROM images WHERE id = ?')
      this.#fileBytes += byteLength
      return {
        read: () => {
          const row = reading.get(id)
          if (!row) throw new Error('the temporary file of the worlds was cut short')
          return row.bytes
        },
        drop: () => {
          deletion.run(id)
          this.#fileBytes -= byteLength
        },
      }
    } catch {
      return undefined
    }
  }

  close(): void {
    this.#file?.close()
    this.#file = undefined
  }
}

/** A database in an unnamed file: the operating system frees its space however the process ends. */
const openTemporaryFile = (): SqliteDatabase => {
  const database = new SqliteDatabase(':memory:')
  database.run("ATTACH '' AS file")
  database.run('PRAGMA file.page_size = 65536')
  database.run('PRAGMA file.journal_mode = MEMORY')
  database.run('CREATE TABLE file.images (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)')
  return database
}
