import { Database } from '../../db/database.ts'
import { isPassing, tryLater } from '../../db/storage.ts'
import { DomainError } from '../../kernel/failure.ts'
import { snapshotDamaged, snapshotsExhausted } from '../errors.ts'
import { DamagedFile, type WorldFolder } from './world-folder.ts'

export const SNAPSHOTS_MAX = 1_000

/** Images of worlds, in a folder. */
export class Snapshots {
  constructor(
    private readonly folder: WorldFolder,
    /** Brings data of an earlier process up to date. @throws Error that says what is wrong with it */
    private readonly prepare: ((database: Database) => void) | undefined,
    /** Called with a file that cannot be read. */
    private readonly onDamaged: (file: DamagedFile) => void,
  ) {}

  get names(): readonly string[] {
    return this.folder.names.toSorted()
  }

  /** @throws DomainError snapshot_damaged */
  find(name: string): Uint8Array | undefined {
    if (!this.folder.has(name)) return undefined
    try {
      const image = this.folder.read(name)
      return this.prepare ? preparedImage(image, this.prepare) : image
    } catch (error) {
      if (isPassing(error)) throw tryLater(error)
      this.onDamaged(new DamagedFile(this.folder.path(name), error))
      throw new DomainError(snapshotDamaged(name), { cause: error })
    }
  }

  /** @throws DomainError snapshots_exhausted */
  keep(name: string, image: Uint8Array): void {
    if (this.names.length >= SNAPSHOTS_MAX && !this.folder.has(name)) {
      throw new DomainError(snapshotsExhausted(SNAPSHOTS_MAX))
    }
    this.folder.write(name, image)
  }

  drop(name: string): boolean {
    return this.folder.remove(name)
  }
}

export const preparedImage = (image: Uint8Array, prepare: (database: Database) => void): Uint8Array => {
  const database = Database.inMemory(image)
  try {
    prepare(database)
    return database.image()
  } finally {
    database.close()
  }
}
