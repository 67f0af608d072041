import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { PRIVATE_FILE_MODE } from '../../folder/files.ts'
import { jsonIn } from '../../kernel/json.ts'
import { ClockState } from './movable-clock.ts'

/** The file is rewritten once it has this many lines more than worlds. */
const SUPERSEDED_MAX = 10_000

/**
 * The clocks of the worlds in a folder, so that a list of worlds opens none. A line for each change; the last one of a world
 * counts. Each world has its clock in its own file too, from which a missing or damaged index is made again.
 */
export class ClockIndex {
  readonly #clocks = new Map<string, ClockState>()
  #lines = 0

  constructor(private readonly path: string) {
    const entries = this.#read().map(jsonIn)
    // A line that was not written whole may hold the newest clock of any world.
    if (!Value.Check(Entries, entries)) this.#remove()
    else for (const entry of entries) this.#clocks.set(...entry)
    this.#lines = this.#clocks.size === 0 ? 0 : entries.length
  }

  find(name: string): ClockState | undefined {
    return this.#clocks.get(name)
  }

  keep(name: string, clock: ClockState): void {
    if (Bun.deepEquals(this.#clocks.get(name), clock)) return
    this.#clocks.set(name, clock)
    this.#lines += 1
    try {
      if (this.#lines > this.#clocks.size + SUPERSEDED_MAX) this.#rewrite()
      else appendFileSync(this.path, lineOf([name, clock]), { mode: PRIVATE_FILE_MODE })
    } catch {
      rmSync(this.path, { force: true }) // without room on the disk: a missing file is better than an old one
    }
  }

  /** Forgets a world that is gone, or that cannot be read. */
  forget(name: string): void {
    this.#clocks.delete(name)
    if (this.#clocks.size === 0) this.#remove()
  }

  #read(): string[] {
    try {
      const lines = readFileSync(this.path, 'utf8').split('\n')
      return lines.at(-1) === '' ? lines.slice(0, -1) : lines
    } catch {
      return []
    }
  }

  #rewrite(): void {
    const next = `${this.path}.next`
    writeFileSync(next, [...this.#clocks].map(lineOf).join(''), { mode: PRIVATE_FILE_MODE })
    renameSync(next, this.path)
    this.#lines = this.#clocks.size
  }

  #remove(): void {
    this.#clocks.clear()
    this.#lines = 0
    rmSync(this.path, { force: true })
  }
}

const Entry = Type.Tuple([Type.String(), ClockState])
const Entries = Type.Array(Entry)

const lineOf = (entry: Static<typeof Entry>): string => `${JSON.stringify(entry)}\n`
