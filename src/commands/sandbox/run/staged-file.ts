import { accessSync, closeSync, constants, openSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { statOf } from '../../../folder/permissions.ts'
import { misused } from '../../../kernel/exit.ts'

/**
 * A file that is written beside its destination. `keep` moves it there; without it, nothing changes. A pipe or a device
 * gets the whole text from `keep`.
 */
export class StagedFile implements Disposable {
  readonly #place: string
  readonly #staged: string
  /** Undefined for a pipe or a device. */
  readonly #descriptor: number | undefined
  #held = ''
  #failure: unknown

  /** @throws ProgramError naming the flag, if the file cannot be written */
  constructor(flag: string, file: string, mode?: number) {
    try {
      const existing = statOf(file)
      if (existing?.isDirectory()) throw new Error('it is a folder')
      if (existing) accessSync(file, constants.W_OK)
      this.#place = existing?.isFile() ? realpathSync(file) : file
      this.#staged = `${this.#place}.${process.pid}`
      if (existing && !existing.isFile()) return
      // A file or link that somebody else has made in its place is not written to.
      rmSync(this.#staged, { force: true })
      this.#descriptor = openSync(this.#staged, 'wx', mode)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw misused(`${flag}: cannot write ${file}: ${why}\nUse another file.`)
    }
  }

  /** Does not throw: a full disk must not break the requests that are recorded. */
  write(text: string): void {
    try {
      if (this.#descriptor === undefined) this.#held += text
      else if (!this.#failure) writeFileSync(this.#descriptor, text)
    } catch (error) {
      this.#failure = error
    }
  }

  /** @throws the first error that occurred */
  keep(): void {
    if (this.#failure) throw this.#failure
    if (this.#descriptor === undefined) writeFileSync(this.#place, this.#held)
    else renameSync(this.#staged, this.#place)
  }

  [Symbol.dispose](): void {
    if (this.#descriptor === undefined) return
    closeSync(this.#descriptor)
    rmSync(this.#staged, { force: true })
  }
}
