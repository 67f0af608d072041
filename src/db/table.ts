import type { HasDefault, IsPrimaryKey, NotNull } from 'drizzle-orm/column-builder'
import {
  blob,
  integer,
  real,
  type SQLiteBlobBufferBuilderInitial,
  type SQLiteBooleanBuilderInitial,
  type SQLiteColumnBuilderBase,
  type SQLiteIntegerBuilderInitial,
  type SQLiteRealBuilderInitial,
  type SQLiteTextBuilderInitial,
  sqliteTable,
  text,
} from 'drizzle-orm/sqlite-core'

/**
 * Makes drizzle's tables from the SQL of the schema, so that a column is declared once. The compiler reads the SQL with the
 * types below, and the program with two expressions. A CHECK that a number is 0 or 1 makes a boolean, and a CHECK of some
 * texts makes their union. A migrated database agrees with the declarations (`test/db/tables.test.ts`).
 */

/** Each definition in the parentheses of a table. */
type Definitions<Sql> = Sql extends `${string} (\n${infer Body}\n) STRICT${string}` ? Lines<Body> : never
type Lines<Body> = Body extends `${infer Line},\n${infer Rest}` ? Bare<Line> | Lines<Rest> : Bare<Body>
/** A definition without its comments. */
type Bare<Line> = Line extends `  -- ${string}\n${infer Rest}`
  ? Bare<Rest>
  : Line extends `  ${infer Bare}`
    ? Bare
    : never
type Trimmed<Facts> = Facts extends ` ${infer Rest}` ? Trimmed<Rest> : Facts

type Texts<List> = List extends `${string}'${infer Text}'${infer Rest}` ? [Text, ...Texts<Rest>] : []

type Typed<Name extends string, Facts> = Facts extends `INTEGER${string} IN (0, 1)${string}`
  ? SQLiteBooleanBuilderInitial<Name>
  : Facts extends `INTEGER${string}`
    ? SQLiteIntegerBuilderInitial<Name>
    : Facts extends `TEXT${string} IN (${infer List})${string}`
      ? SQLiteTextBuilderInitial<Name, Texts<List> extends [string, ...string[]] ? Texts<List> : never, undefined>
      : Facts extends `TEXT${string}`
        ? SQLiteTextBuilderInitial<Name, [string, ...string[]], undefined>
        : Facts extends `REAL${string}`
          ? SQLiteRealBuilderInitial<Name>
          : Facts extends `BLOB${string}`
            ? SQLiteBlobBufferBuilderInitial<Name>
            : never

type Builder<Name extends string, Facts> = Facts extends `INTEGER PRIMARY KEY${string}`
  ? IsPrimaryKey<HasDefault<NotNull<Typed<Name, Facts>>>>
  : Facts extends `${string}PRIMARY KEY${string}`
    ? IsPrimaryKey<NotNull<Typed<Name, Facts>>>
    : Facts extends `${string}NOT NULL${string}`
      ? NotNull<Typed<Name, Facts>>
      : Typed<Name, Facts>

type CamelCase<Name> = Name extends `${infer Word}_folded`
  ? `${CamelCase<Word>}LowerCase`
  : Name extends `${infer Word}_${infer Rest}`
    ? `${Word}${Capitalize<CamelCase<Rest>>}`
    : Name & string

type Columns<Sql> = {
  [Definition in Definitions<Sql> as Definition extends `${infer Name} ${infer Facts}`
    ? [Typed<Name, Trimmed<Facts>>] extends [never]
      ? never
      : CamelCase<Name>
    : never]: Definition extends `${infer Name} ${infer Facts}` ? Builder<Name, Trimmed<Facts>> : never
}

const DEFINITION = /^ {2}(\w+) +(INTEGER|TEXT|REAL|BLOB)\b(.*)/ms

const builder = (name: string, type: string, facts: string) => {
  const list = / IN \(([^)]*)\)/.exec(facts)?.[1]
  switch (type) {
    case 'INTEGER':
      return integer(name, { mode: list === '0, 1' ? 'boolean' : 'number' })
    case 'TEXT': {
      const texts = Array.from(list?.matchAll(/'(.*?)'/g) ?? [], ([, value = '']) => value)
      return text(name, texts.length > 0 ? { enum: texts as [string, ...string[]] } : {})
    }
    case 'REAL':
      return real(name)
    default:
      return blob(name, { mode: 'buffer' })
  }
}

const camelCase = (name: string): string =>
  name.replace(/_folded$/, '_lower_case').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/**
 * @param sql the table's part of the schema
 * @param others columns whose type does not follow from the SQL
 */
export const table = <
  const Sql extends string,
  Others extends Record<string, SQLiteColumnBuilderBase> = Record<never, never>,
>(
  sql: Sql,
  others = {} as Others,
) => {
  const [, name = '', body = ''] = /^CREATE TABLE (\w+) \(\n(.*?)\n\) STRICT/s.exec(sql) ?? []
  const columns = body.split(',\n').flatMap((definition) => {
    const [, column, type = '', facts = ''] = DEFINITION.exec(definition) ?? []
    if (column === undefined) return []
    const made = builder(column, type, facts)
    if (facts.includes('PRIMARY KEY')) made.primaryKey()
    return [[camelCase(column), facts.includes('NOT NULL') ? made.notNull() : made]]
  })
  type All = Omit<Columns<Sql>, keyof Others> & Others
  return sqliteTable(name, { ...Object.fromEntries(columns), ...others } as { [Key in keyof All]: All[Key] })
}
