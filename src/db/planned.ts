import type { SQLQueryBindings } from 'bun:sqlite'
import { type AnyColumn, is, Param, Placeholder } from 'drizzle-orm'
import { type Query, statementOn } from './database.ts'

/**
 * Prepared statements. Drizzle builds their text, and SQLite runs them: a record by id takes half the time that it takes with
 * drizzle's own (decision 95).
 */

/** What drizzle has built. The fields of its rows are not in its types. */
interface PreparedQuery {
  getQuery(): Text
}

interface Text {
  sql: string
  params: unknown[]
}

/** What can be done with it, in drizzle's types. */
type Runnable<Prepared> = Pick<Prepared, keyof Prepared & ('run' | 'all' | 'get')>

type Values = Record<string, unknown>

/**
 * Prepared for a connection at its first use: most connections need few statements, and one takes some 30 kB. The text is
 * built for the first connection alone, which takes longer than SQLite takes to prepare it for another one.
 */
export const prepared = <Connection extends Query, Prepared extends PreparedQuery>(
  build: (connection: Connection) => Prepared,
): ((connection: Connection) => Runnable<Prepared>) => {
  const made = new WeakMap<Connection, Runnable<Prepared>>()
  let prepare: ((connection: Query) => Runnable<Prepared>) | undefined
  return (connection) => {
    const known = made.get(connection)
    if (known !== undefined) return known
    prepare ??= planned(build(connection))
    const statement = prepare(connection)
    made.set(connection, statement)
    return statement
  }
}

/**
 * Plans a statement: where each parameter gets its value from, and each member of a row, which drizzle would find out again
 * for each run. Returns what prepares it for a connection.
 */
const planned = <Prepared extends PreparedQuery>(built: Prepared): ((connection: Query) => Runnable<Prepared>) => {
  const { sql, params } = plannedOnce(built.getQuery())
  const sources = params.map(sourceOf)
  const members = membersOf(built)
  const bindings = (values: Values) => sources.map((source) => source(values) as SQLQueryBindings)
  const rowOf = (row: readonly unknown[]): Values => {
    const read: Values = {}
    for (const [index, { name, decoder }] of members.entries()) {
      const value = row[index]
      read[name] = value === null ? null : decoder.mapFromDriverValue(value)
    }
    return read
  }
  return (connection) => {
    const statement = statementOn(connection, sql)
    const all = (values: Values = {}) => statement.values(...bindings(values)).map(rowOf)
    const get = (values?: Values) => all(values)[0]
    const run = (values: Values = {}) => statement.run(...bindings(values))
    return { run, all, get } as unknown as Runnable<Prepared>
  }
}

/**
 * A text that SQLite plans once. A parameter that a plan can depend on, such as a LIMIT, or one that is compared in a query with a
 * join or an order, makes SQLite prepare the statement again for each value, which takes ten times as long as to read a row. A plus
 * sign hides it from the planner, and changes no value. Numbers that are always the same are part of the text.
 */
const plannedOnce = ({ sql, params }: Text): Text => {
  const [first = '', ...others] = sql.split('?')
  if (others.length !== params.length) throw new Error(`a question mark is not a parameter: ${sql}`)
  const parts = others.map((part, index) => (isFixed(params[index]) ? `${params[index]}` : '+?') + part)
  return { sql: first + parts.join(''), params: params.filter((param) => !isFixed(param)) }
}

const isFixed = (param: unknown): boolean => Number.isSafeInteger(param)

const sourceOf = (param: unknown): ((values: Values) => unknown) => {
  const { placeholder, encode } = is(param, Param)
    ? { placeholder: param.value, encode: (value: unknown) => param.encoder.mapToDriverValue(value) }
    : { placeholder: param, encode: (value: unknown) => value }
  if (!is(placeholder, Placeholder)) return () => param
  const { name } = placeholder
  return (values) => {
    if (!(name in values)) throw new Error(`the statement has no value for ${name}`)
    return encode(values[name])
  }
}

type Decoder = Pick<AnyColumn, 'mapFromDriverValue'>
interface Selected {
  path: string[]
  field: Decoder | { decoder: Decoder } | { sql: { decoder: Decoder } }
}

/** The members of a row; none where no rows are read. */
const membersOf = (built: PreparedQuery) => {
  const selected: Selected[] = Reflect.get(built, 'fields') ?? []
  return selected.map(({ path: [name = '', ...inner], field }) => {
    if (inner.length > 0) throw new Error(`a row of several tables names its members: ${name}`)
    const source = 'sql' in field ? field.sql : field
    return { name, decoder: 'decoder' in source ? source.decoder : source }
  })
}
