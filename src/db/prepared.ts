import type { SQLQueryBindings, Statement } from 'bun:sqlite'
import {
  type AnyColumn,
  and,
  asc,
  count,
  eq,
  getTableColumns,
  is,
  isNotNull,
  Param,
  Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Query, statementOn, type Tx } from './database.ts'

/**
 * Prepared statements. Drizzle builds their text, and SQLite runs them: a payout takes two thirds of the time that it takes with
 * drizzle's own (decision 95).
 */

/** What drizzle says of a statement. The fields of its rows are not in its types. */
export interface PreparedQuery {
  getQuery(): Text
}

interface Text {
  sql: string
  params: unknown[]
}

/**
 * Prepared for a connection at its first use: most connections need few statements, and one takes some 30 kB. The text is
 * built for the first connection alone, which takes longer than SQLite takes to prepare it for another one.
 */
export const prepared = <Connection extends Query, Prepared extends PreparedQuery>(
  build: (connection: Connection) => Prepared,
): ((connection: Connection) => Runnable<Prepared>) => {
  const made = new WeakMap<Connection, Runnable<Prepared>>()
  let plan: Plan | undefined
  return (connection) => {
    const known = made.get(connection)
    if (known !== undefined) return known
    plan ??= planOf(build(connection))
    const statement = on<Prepared>(connection, plan)
    made.set(connection, statement)
    return statement
  }
}

/** The same for a statement that its user keeps. */
export const preparedOn = <Prepared extends PreparedQuery>(connection: Query, built: Prepared): Runnable<Prepared> =>
  on(connection, planOf(built))

const on = <Prepared>(connection: Query, plan: Plan): Runnable<Prepared> =>
  new PlannedStatement(statementOn(connection, plan.sql), plan) as unknown as Runnable<Prepared>

type Values = Record<string, unknown>

/** Where each parameter gets its value from, and each member of a row: drizzle would find that out again for each run. */
interface Plan {
  sql: string
  argumentsOf: (values: Values) => SQLQueryBindings[]
  rowOf: (row: readonly unknown[]) => Values
}

/** What can be done with it, in drizzle's types. */
type Runnable<Prepared> = Pick<Prepared, keyof Prepared & keyof PlannedStatement>

/** Stands in for drizzle's: the same values, and the same rows. */
class PlannedStatement {
  constructor(
    private readonly statement: Statement,
    private readonly plan: Plan,
  ) {}

  run(values: Values = {}) {
    return this.statement.run(...this.plan.argumentsOf(values))
  }

  get(values: Values = {}): Values | undefined {
    const [row] = this.values(values)
    return row && this.plan.rowOf(row)
  }

  all(values: Values = {}): Values[] {
    return this.values(values).map(this.plan.rowOf)
  }

  /** The rows as SQLite has them. */
  values(values: Values = {}): unknown[][] {
    return this.statement.values(...this.plan.argumentsOf(values))
  }
}

const planOf = (built: PreparedQuery): Plan => {
  const { sql, params } = plannedOnce(built.getQuery())
  const sources = params.map(sourceOf)
  const members = membersOf(built)
  return {
    sql,
    argumentsOf: (values) => sources.map((source) => source(values) as SQLQueryBindings),
    rowOf: (row) => {
      const read: Values = {}
      for (const [index, { name, decoder }] of members.entries()) {
        const value = row[index]
        read[name] = value === null ? null : decoder.mapFromDriverValue(value)
      }
      return read
    },
  }
}

/**
 * A text that SQLite plans once. A parameter that a plan can depend on, such as a LIMIT, or one that is compared in a query with a
 * join or an order, makes SQLite prepare the statement again for each value, which takes ten times as long as to read a row. A plus
 * sign hides it from the planner, and changes no value. Numbers that are always the same are part of the text.
 */
const plannedOnce = ({ sql, params }: Text): Text => {
  const [first = '', ...others] = sql.split('?')
  if (others.length !== params.length) throw new Error(`a question mark is no parameter: ${sql}`)
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

export type OwnedTable = SQLiteTable & { id: SQLiteColumn; clientId: SQLiteColumn }

type Order = readonly (SQLiteColumn | SQL)[]

const preparedSelect = <Table extends SQLiteTable>(
  table: Table,
  condition: SQL | undefined,
  order: Order,
  limit?: number,
) => {
  const statement = prepared((query: Query) => {
    const rows = query
      .select()
      .from(table as SQLiteTable)
      .where(condition)
      .orderBy(...order)
    return (limit === undefined ? rows : rows.limit(limit)).prepare()
  })
  return (query: Query, values: Record<string, string | number> = {}): Table['$inferSelect'][] =>
    statement(query).all(values)
}

/** The rows that meet a condition, in order. Its placeholders get the values. */
export const preparedAll = <Table extends SQLiteTable>(table: Table, condition: SQL | undefined, ...order: Order) =>
  preparedSelect(table, condition, order)

/** The first of them. */
export const preparedFirst = <Table extends SQLiteTable>(table: Table, condition: SQL | undefined, ...order: Order) => {
  const rows = preparedSelect(table, condition, order, 1)
  return (query: Query, values?: Record<string, string | number>): Table['$inferSelect'] | undefined =>
    rows(query, values)[0]
}

/** The greatest id of a table; 0 without rows. */
export const preparedLastId = (table: SQLiteTable & { id: SQLiteColumn }) => {
  const statement = prepared((query: Query) =>
    query
      .select({ id: sql<number | null>`max(${table.id})` })
      .from(table)
      .prepare(),
  )
  return (query: Query): number => statement(query).get()?.id ?? 0
}

/** Of a table whose rows can be due: the earliest first. */
export const preparedDue = <Table extends OwnedTable & { dueAtMs: SQLiteColumn }>(table: Table) => {
  const isDue = isNotNull(table.dueAtMs)
  const first = preparedFirst(table, isDue, asc(table.dueAtMs), asc(table.id))
  type Due = Table['$inferSelect'] & { dueAtMs: number }
  return {
    findNextDue: (query: Query) => first(query) as Due | undefined,
    findNextDueMs: (query: Query): number | undefined => (first(query) as Due | undefined)?.dueAtMs,
    countDue: (query: Query): number => query.select({ n: count() }).from(table).where(isDue).get()?.n ?? 0,
    nextDue: (query: Query, limit: number) =>
      query
        .select()
        .from(table as SQLiteTable)
        .where(isDue)
        .orderBy(asc(table.dueAtMs), asc(table.id))
        .limit(limit)
        .all() as Due[],
  }
}

/** Whether a row meets a condition. An index can tell, without the row. */
export const preparedExists = (table: SQLiteTable, condition: SQL | undefined) => {
  const statement = prepared((query: Query) =>
    query.select({ found: sql<number>`1` }).from(table).where(condition).limit(1).prepare(),
  )
  return (query: Query, values: Record<string, string | number>): boolean => statement(query).get(values) !== undefined
}

/** Another client's record is not found. */
export const preparedFind = <Table extends OwnedTable>(table: Table) => {
  const own = eq(table.clientId, sql.placeholder('clientId'))
  const first = preparedFirst(table, and(eq(table.id, sql.placeholder('id')), own))
  return (query: Query, clientId: number, id: Table['id']['_']['data'] & (string | number)) =>
    first(query, { clientId, id })
}

/** A row with all columns. Where the database counts ids, null asks for the next one. */
type WholeRow<Table extends SQLiteTable> = {
  [Column in keyof Table['$inferSelect']]: Table['$inferSelect'][Column] | (Column extends 'id' ? null : never)
}

const placeholders = (names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]))

const namesOf = (table: SQLiteTable): string[] => Object.keys(getTableColumns(table))

export const preparedInsert = <Table extends SQLiteTable>(table: Table) => {
  const statement = prepared((tx: Tx) =>
    tx
      .insert(table)
      .values(placeholders(namesOf(table)) as Table['$inferInsert'])
      .prepare(),
  )
  return (tx: Tx, row: WholeRow<Table>): void => void statement(tx).run(row)
}

/** Takes the place of a row that has the same key. */
export const preparedPut = <Table extends SQLiteTable>(table: Table, key: readonly SQLiteColumn[]) => {
  const values = placeholders(namesOf(table)) as Table['$inferInsert']
  const statement = prepared((tx: Tx) =>
    tx
      .insert(table)
      .values(values)
      .onConflictDoUpdate({ target: [...key], set: values })
      .prepare(),
  )
  return (tx: Tx, row: WholeRow<Table>): void => void statement(tx).run(row)
}

/** For a table of which the database counts the ids. Returns the new one. A RETURNING clause takes as long as the row. */
export const preparedInsertCounted = <
  Table extends SQLiteTable & { id: SQLiteColumn },
  Computed extends string & keyof Table['$inferSelect'],
>(
  table: Table,
  computed: Record<Computed, SQL>,
) => {
  const statement = prepared((tx: Tx) =>
    tx
      .insert(table)
      .values({ ...placeholders(namesOf(table)), ...computed } as Table['$inferInsert'])
      .prepare(),
  )
  return (tx: Tx, row: Omit<WholeRow<Table>, Computed | 'id'>): number => {
    // Drizzle types the result of bun:sqlite as void.
    const { lastInsertRowid } = statement(tx).run({ ...row, id: null }) as unknown as { lastInsertRowid: number }
    return lastInsertRowid
  }
}

/** Unchanged columns are not named: each column that is set costs its indexes a deletion and an insertion. */
export const preparedUpdate = <
  Table extends SQLiteTable & { id: SQLiteColumn },
  Name extends Exclude<string & keyof Table['$inferSelect'], 'id'>,
>(
  table: Table,
  names: readonly Name[],
) => {
  const statement = prepared((tx: Tx) =>
    tx
      .update(table)
      .set(placeholders(names) as Partial<Table['$inferInsert']>)
      .where(eq(table.id, sql.placeholder('id')))
      .prepare(),
  )
  return (tx: Tx, row: Pick<Table['$inferSelect'], Name | ('id' & keyof Table['$inferSelect'])>): void =>
    void statement(tx).run(row)
}
