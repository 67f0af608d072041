import type { Database as SqliteDatabase, Statement } from 'bun:sqlite'
import { COUNTERS, type Column, quotedName, type Table } from './tables.ts'

/** Converts the changed rows of a transaction to JSON, and JSON to rows of a copy. */

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** PostgreSQL has no text with NUL. This character and a digit stand for it, and the character itself is doubled. */
const ESCAPE = '\u2400'

/** Converts JSON of SQLite for PostgreSQL. */
export const escaped = (json: string): string => {
  const safe = json.includes(ESCAPE) ? json.replaceAll(ESCAPE, ESCAPE + ESCAPE) : json
  if (!safe.includes('\\u0000')) return safe
  return safe.replace(/\\(u0000|.)/gs, (whole, sequence: string) => (sequence === 'u0000' ? `${ESCAPE}0` : whole))
}

/** Converts JSON of PostgreSQL back for SQLite. */
const unescaped = (json: string): string =>
  json.includes(ESCAPE) ? json.replace(/\u2400(.)/gs, (_, next: string) => (next === '0' ? '\\u0000' : ESCAPE)) : json

/** A row as an object of JSON; bytes as PostgreSQL writes them. */
export const objectOf = (columns: readonly Pick<Column, 'name' | 'type'>[], row: string): string =>
  `json_object(${columns
    .map(({ name, type }) => {
      const value = `${row}.${quotedName(name)}`
      return `${literal(name)}, ${type === 'BLOB' ? `iif(${value} IS NULL, NULL, '\\x' || lower(hex(${value})))` : value}`
    })
    .join(', ')})`

/** The number of keys that one statement reads. */
const KEYS_MAX = 10_000
/** The length of the JSON of a part; a longer commit has several parts. */
const PART_LENGTH = 4_194_304

/** Marks that a person was erased: followers then remove every trace of the person from their files. */
export const ERASURE = '-'

export const withErasure = (part: string): string => part.replace(/}$/, `${part === '{}' ? '' : ','}"${ERASURE}":[]}`)

interface Collected {
  table: Table
  last: Statement<{ last: number | null }, []>
  present: Statement<{ rows: string }, [number, number]>
  absent: Statement<{ rows: string }, [number, number]>
  clear: Statement
}

/** Collects the keys of the rows that a connection changes, by triggers that no other connection has. */
export class Collector {
  readonly #collected: Collected[]
  readonly #counters: Statement<{ rows: string }, []>

  constructor(sqlite: SqliteDatabase, tables: readonly Table[]) {
    const collected = tables.filter(({ name }) => name !== COUNTERS)
    for (const table of collected) for (const statement of collectingTriggers(table)) sqlite.run(statement)
    this.#collected = collected.map((table) => statementsOf(sqlite, table))
    const [counters] = tables.filter(({ name }) => name === COUNTERS)
    this.#counters = sqlite.prepare(
      `SELECT json_group_array(${objectOf(counters?.columns ?? [], 't')}) AS rows FROM ${COUNTERS} AS t`,
    )
  }

  get isEmpty(): boolean {
    return this.#collected.every(({ last }) => last.get()?.last === null)
  }

  /** The changes of the open transaction with their final values: no part without changes, several parts if there are many. */
  *parts(): Generator<string> {
    let members: string[] = []
    let length = 0
    for (const { table, last, present, absent } of this.#collected) {
      const lastKey = last.get()?.last ?? 0
      for (let from = 1; from <= lastKey; from += KEYS_MAX) {
        const to = from + KEYS_MAX - 1
        for (const [name, statement] of [
          [`-${table.name}`, absent],
          [table.name, present],
        ] as const) {
          const rows = statement.get(from, to)?.rows ?? '[]'
          if (rows === '[]') continue
          members.push(`${JSON.stringify(name)}:${rows}`)
          length += rows.length
        }
        if (length > PART_LENGTH) {
          yield escaped(`{${members.join(',')}}`)
          members = []
          length = 0
        }
      }
      if (lastKey > 0 && table.countsIds) members.push(`"${COUNTERS}":${this.#counters.get()?.rows ?? '[]'}`)
    }
    if (members.length > 0) yield escaped(`{${members.join(',')}}`)
  }

  clear(): void {
    for (const { last, clear } of this.#collected) if (last.get()?.last !== null) clear.run()
  }
}

const keysTable = ({ name }: Table): string => quotedName(`record_${name}`)

const collectingTriggers = (table: Table): string[] => {
  const { name, key } = table
  const insert = (row: string) =>
    `INSERT INTO ${keysTable(table)} VALUES (${key.map((column) => `${row}.${quotedName(column)}`).join(', ')});`
  const trigger = (when: string, row: string, suffix: string) =>
    `CREATE TEMP TRIGGER ${quotedName(`record_${name}_${suffix}`)} AFTER ${when} ON main.${quotedName(name)} BEGIN ${insert(row)} END`
  return [
    `CREATE TEMP TABLE ${keysTable(table)} (${key.map(quotedName).join(', ')})`,
    trigger('INSERT', 'NEW', 'made'),
    trigger('UPDATE', 'NEW', 'changed'),
    trigger(`UPDATE OF ${key.map(quotedName).join(', ')}`, 'OLD', 'renamed'),
    trigger('DELETE', 'OLD', 'deleted'),
  ]
}

const statementsOf = (sqlite: SqliteDatabase, table: Table): Collected => {
  const keys = `(SELECT DISTINCT ${table.key.map(quotedName).join(', ')} FROM temp.${keysTable(table)} WHERE rowid BETWEEN ? AND ?)`
  const same = table.key.map((column) => `t.${quotedName(column)} = k.${quotedName(column)}`).join(' AND ')
  const keyColumns = table.columns.filter(({ name }) => table.key.includes(name))
  const main = `main.${quotedName(table.name)}`
  return {
    table,
    last: sqlite.prepare(`SELECT max(rowid) AS last FROM temp.${keysTable(table)}`),
    present: sqlite.prepare(
      `SELECT json_group_array(${objectOf(table.columns, 't')}) AS rows FROM ${keys} AS k JOIN ${main} AS t ON ${same}`,
    ),
    absent: sqlite.prepare(
      `SELECT json_group_array(${objectOf(keyColumns, 'k')}) AS rows FROM ${keys} AS k WHERE NOT EXISTS (SELECT 1 FROM ${main} AS t WHERE ${same})`,
    ),
    clear: sqlite.prepare(`DELETE FROM temp.${keysTable(table)}`),
  }
}

/** Writes rows into a copy whose triggers are removed. */
export class Applier {
  readonly #tables: ReadonlyMap<string, { put: Statement<unknown, [string]>; remove: Statement<unknown, [string]> }>
  readonly #members: Statement<{ name: string; rows: string }, [string]>

  constructor(sqlite: SqliteDatabase, tables: readonly Table[]) {
    this.#members = sqlite.prepare('SELECT key AS name, value AS rows FROM json_each(?)')
    this.#tables = new Map(
      tables.map((table) => [
        table.name,
        { put: sqlite.prepare(putStatement(table)), remove: sqlite.prepare(removeStatement(table)) },
      ]),
    )
  }

  /** @param json a part of {@link Collector.parts}: a table may be in it several times. Returns true if it erases a person. */
  apply(json: string): boolean {
    const members = this.#members.all(unescaped(json))
    for (const { name, rows } of members) {
      if (name === ERASURE) continue
      const isRemoved = name.startsWith('-')
      const table = this.#tableOf(isRemoved ? name.slice(1) : name)
      if (isRemoved || name === COUNTERS) table.remove.run(rows)
      if (!isRemoved) table.put.run(rows)
    }
    return members.some(({ name }) => name === ERASURE)
  }

  /** Writes rows of one table, given as a JSON array. */
  put(name: string, rows: string): void {
    this.#tableOf(name).put.run(unescaped(rows))
  }

  #tableOf(name: string) {
    const table = this.#tables.get(name)
    if (!table) throw new Error(`the copy has no table ${name}`)
    return table
  }
}

const memberOf = ({ name, type }: Pick<Column, 'name' | 'type'>): string => {
  const value = `value ->> ${literal(name)}`
  return type === 'BLOB' ? `unhex(substr(${value}, 3))` : value
}

const putStatement = ({ name, columns }: Table): string =>
  `INSERT OR REPLACE INTO main.${quotedName(name)} (${columns.map((column) => quotedName(column.name)).join(', ')})
    SELECT ${columns.map(memberOf).join(', ')} FROM json_each(?)`

const removeStatement = ({ name, columns, key }: Table): string => {
  const keyColumns = key.flatMap((one) => columns.filter((column) => column.name === one))
  return `DELETE FROM main.${quotedName(name)} WHERE (${key.map(quotedName).join(', ')}) IN
    (SELECT ${keyColumns.map(memberOf).join(', ')} FROM json_each(?))`
}
