/** The records of a text that comes in pieces: lines of JSON, or CSV with a header. */

export type Cells = Readonly<Record<string, unknown>>

/** What is wrong, and where; without a column it concerns the whole line. */
export interface Problem {
  line: number
  column: string | null
  what: string
}

interface Options {
  onRecord: (cells: Cells, line: number) => void
  onProblem: (problem: Problem) => void
}

/** A row has a few short cells: a longer record is a file of another kind, and would fill the memory. */
const CHARACTERS_MAX = 65_536

/** Splits a text into records, which end with a line unless it ends inside of quotes. */
export abstract class Records {
  /** The number of the last line of the last record. */
  line = 0
  #waiting = ''
  /** Where the last line of what waits begins. */
  #lineStart = 0
  #isOpen = false
  /** Nothing more is read. */
  protected isBroken = false

  constructor(protected readonly options: Options) {}

  push(text: string): void {
    if (this.isBroken) return
    const whole = this.#waiting + text
    let [start, lineStart] = [0, this.#lineStart]
    for (let end = whole.indexOf('\n', this.#waiting.length); end !== -1; end = whole.indexOf('\n', lineStart)) {
      if (this.changesQuotes(whole.slice(lineStart, end))) this.#isOpen = !this.#isOpen
      lineStart = end + 1
      if (this.#isOpen) continue
      this.#take(whole.slice(start, end))
      start = lineStart
    }
    this.#waiting = whole.slice(start)
    this.#lineStart = lineStart - start
    if (this.#waiting.length <= CHARACTERS_MAX) return
    this.isBroken = true
    this.options.onProblem({ line: this.line + 1, column: null, what: 'is longer than 65,536 characters' })
  }

  end(): void {
    if (!this.isBroken && this.#waiting !== '') this.#take(this.#waiting)
  }

  #take(record: string): void {
    const first = this.line + 1
    this.line = first + linesWithin(record)
    const text = record.endsWith('\r') ? record.slice(0, -1) : record
    if (!this.isBroken && text.trim() !== '') this.read(text, first)
  }

  /** Whether a line begins inside of quotes and ends outside of them, or the reverse. */
  protected abstract changesQuotes(line: string): boolean
  protected abstract read(record: string, line: number): void
}

const linesWithin = (record: string): number => (record.includes('\n') ? record.split('\n').length - 1 : 0)

export class JsonRecords extends Records {
  protected changesQuotes(): boolean {
    return false
  }

  protected read(record: string, line: number): void {
    const value = parsed(record)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      this.options.onRecord(value as Cells, line)
    else this.options.onProblem({ line, column: null, what: 'is not a JSON object' })
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const REQUIRED = ['reference', 'type', 'amount', 'currency']
const KNOWN = new Set([...REQUIRED, 'status', 'at'])

/** RFC 4180. Columns come in any order; those that nobody knows are ignored. */
export class CsvRecords extends Records {
  #columns: string[] | undefined

  protected changesQuotes(line: string): boolean {
    return line.includes('"') && line.split('"').length % 2 === 0
  }

  protected read(record: string, line: number): void {
    const cells = cellsOf(record)
    const problem = (what: string): void => this.options.onProblem({ line, column: null, what })
    if (!this.#columns) this.#readHeader(cells ?? [], line)
    else if (!cells) problem('has a quote inside a cell, or no closing quote')
    else if (cells.length !== this.#columns.length)
      problem(`has ${cells.length} cells, and the header ${this.#columns.length}`)
    else this.options.onRecord(this.#named(cells), line)
  }

  #named(cells: readonly string[]): Cells {
    const named: Record<string, string> = {}
    this.#columns?.forEach((name, index) => {
      if (KNOWN.has(name)) named[name] = cells[index] ?? ''
    })
    return named
  }

  #readHeader(cells: readonly string[], line: number): void {
    const columns = cells.map((cell) => cell.trim().toLowerCase())
    this.#columns = columns
    if (columns.every((column) => !KNOWN.has(column))) {
      this.isBroken = true
      this.options.onProblem({ line, column: null, what: 'is neither CSV with a header nor JSON lines' })
      return
    }
    for (const column of KNOWN) {
      const count = columns.filter((one) => one === column).length
      if (count > 1) {
        this.options.onProblem({ line, column, what: 'appears twice in the header' })
        this.isBroken = true
      }
      if (count === 0 && REQUIRED.includes(column)) {
        this.options.onProblem({ line, column, what: 'is missing from the header' })
        this.isBroken = true
      }
    }
  }
}

const CELL = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y

/** Undefined where quotes are wrong. */
const cellsOf = (record: string): string[] | undefined => {
  if (!record.includes('"')) return record.split(',')
  const cells: string[] = []
  CELL.lastIndex = 0
  for (;;) {
    const found = CELL.exec(record)
    if (!found) return undefined
    const [, quoted, plain = '', end] = found
    cells.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '') return cells
  }
}
