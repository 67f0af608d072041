import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { UsageError } from '../../../config/environment.ts'

const BUFFERED_CHARACTERS_MAX = 65_536

/**
 * A file that is written beside its destination. `keep` moves it there; without it, nothing changes. A pipe or a device
 * gets the text once it is complete.
 */
export class StagedFile implements Disposable {
  readonly #place: string
  readonly #staged: string
  /** Undefined for a pipe or a device. */
  readonly #descriptor: number | undefined
  #unwritten = ''
  #failure: unknown

  /** @throws UsageError naming the flag, if the file cannot be written */
  constructor(flag: string, file: string, mode?: number) {
    try {
      this.#place = placeOf(file)
      this.#staged = `${this.#place}.${process.pid}`
      // An existing file or link is not written to: somebody else may have created it.
      rmSync(this.#staged, { force: true })
      this.#descriptor = isReplaceable(this.#place) ? openSync(this.#staged, 'wx', mode) : undefined
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new UsageError(`${flag}: cannot write ${file}: ${why}\nName another file.`)
    }
  }

  /** Does not throw: a full disk must not break the requests that are recorded. */
  write(text: string): void {
    this.#unwritten += text
    if (this.#unwritten.length > BUFFERED_CHARACTERS_MAX) this.#flush()
  }

  #flush(): void {
    if (this.#descriptor === undefined) return
    const bytes = Buffer.from(this.#unwritten)
    this.#unwritten = ''
    try {
      for (let written = 0; written < bytes.length && !this.#failure; ) {
        written += writeSync(this.#descriptor, bytes, written)
      }
    } catch (error) {
      this.#failure = error
    }
  }

  /** @throws the first error that occurred */
  keep(): void {
    this.#flush()
    if (this.#failure) throw this.#failure
    if (this.#descriptor === undefined) writeFileSync(this.#place, this.#unwritten)
    else renameSync(this.#staged, this.#place)
  }

  [Symbol.dispose](): void {
    if (this.#descriptor === undefined) return
    closeSync(this.#descriptor)
    rmSync(this.#staged, { force: true })
  }
}

/** The target of a link, or the file itself. @throws Error if it cannot be written */
const placeOf = (file: string): string => {
  if (!existsSync(file)) return file
  if (statSync(file).isDirectory()) throw new Error('it is a folder')
  accessSync(file, constants.W_OK)
  // The target of /dev/stdout has no path.
  const place = realpathSync(file)
  return existsSync(place) ? place : file
}

const isReplaceable = (place: string): boolean => !existsSync(place) || lstatSync(place).isFile()
