import type { Database as SqliteDatabase } from 'bun:sqlite'
import { COUNTS, type Counts } from './migrations/0001_counts.ts'

/** Totals that triggers keep beside the records (decision 175). They are derived: nothing copies them, and a recount makes them again. */

/** The tables of counts, and their triggers, have names that no other part of the schema has. */
export const isOfCounts = (name: string): boolean => /_counts(?:_(?:made|changed|gone))?$/.test(name)

interface CountColumns {
  keys: string[]
  sums: readonly string[]
  /** The values of a row for these columns: of NEW, of OLD, or of the table itself. */
  valuesOf: (row: string) => { keys: string[]; sums: string[]; isCounted: string }
  /** The columns of the records that change the counts. */
  columns: string[]
}

const KEY = /^(?:(.+) AS )?(\w+)$/s

const columnsOf = ({ by, sums = [], where = 'TRUE' }: Counts): CountColumns => {
  const keys = by.map((key) => {
    const [, expression, name = ''] = KEY.exec(key) ?? []
    return { name, sql: expression ?? `ROW.${name}` }
  })
  const of = (sql: string, row: string) => sql.replaceAll('ROW.', `${row}.`)
  const read = [...keys.map(({ sql }) => sql), ...sums.map((sum) => `ROW.${sum}`), where]
  return {
    keys: keys.map(({ name }) => name),
    sums,
    valuesOf: (row) => ({
      keys: keys.map(({ sql }) => of(sql, row)),
      sums: sums.map((sum) => `${row}.${sum}`),
      isCounted: of(where, row),
    }),
    columns: [...new Set(read.flatMap((sql) => Array.from(sql.matchAll(/ROW\.(\w+)/g), ([, column = '']) => column)))],
  }
}

/** The table of some counts and its triggers: a part of the migration. */
export const countsSchema = (counts: Counts): string => {
  const { name, of } = counts
  const { keys, sums, valuesOf, columns } = columnsOf(counts)
  const added = (row: string, sign: '' | '-') => {
    const values = valuesOf(row)
    const numbers = [`${sign}1`, ...values.sums.map((sum) => sign + sum)]
    return `INSERT INTO ${name} SELECT ${[...values.keys, ...numbers].join(', ')} WHERE ${values.isCounted}
  ON CONFLICT DO UPDATE SET ${['n', ...sums].map((one) => `${one} = ${one} + excluded.${one}`).join(', ')};`
  }
  const [before, after] = ['OLD', 'NEW'].map((row) => columns.map((column) => `${row}.${column}`).join(', '))
  // A sum of any type: one that leaves the range of integers must not refuse the record.
  return `CREATE TABLE ${name} (
  ${[...keys.map((key) => `${key} ANY NOT NULL`), 'n INTEGER NOT NULL', ...sums.map((sum) => `${sum} ANY NOT NULL`)].join(',\n  ')},
  PRIMARY KEY (${keys.join(', ')})
) STRICT, WITHOUT ROWID;
CREATE TRIGGER ${name}_made AFTER INSERT ON ${of} BEGIN
  ${added('NEW', '')}
END;
CREATE TRIGGER ${name}_gone AFTER DELETE ON ${of} BEGIN
  ${added('OLD', '-')}
END;
CREATE TRIGGER ${name}_changed AFTER UPDATE OF ${columns.join(', ')} ON ${of} WHEN (${before}) IS NOT (${after}) BEGIN
  ${added('OLD', '-')}
  ${added('NEW', '')}
END;`
}

const recounted = (counts: Counts, sign: '' | '-'): string => {
  const { of } = counts
  const { keys, sums, isCounted } = columnsOf(counts).valuesOf(of)
  const numbers = ['count(*)', ...sums.map((sum) => `sum(${sum})`)].map((one) => sign + one)
  const places = keys.map((_, index) => index + 1).join(', ')
  return `SELECT ${[...keys, ...numbers].join(', ')} FROM ${of} WHERE ${isCounted} GROUP BY ${places}`
}

/** Counts all records again, for a database that was filled without triggers. */
export const recount = (sqlite: SqliteDatabase): void => {
  for (const counts of COUNTS)
    sqlite.run(`DELETE FROM ${counts.name}; INSERT INTO ${counts.name} ${recounted(counts, '')}`)
}

/**
 * Selects each count that a recount does not confirm. A count of 0 needs no row. The rows of the audit form a chain with a check of its own, whose
 * faults its counts would repeat.
 */
export const COUNT_FAULTS = COUNTS.filter(({ of }) => of !== 'audit')
  .map((counts) => {
    const { keys, sums } = columnsOf(counts)
    const numbers = ['n', ...sums]
    const text = keys.map((key) => `coalesce(${key}, 'null')`).join(` || ' ' || `)
    return `SELECT '${counts.name} of ' || ${text} || ' differ by ' || ${numbers.map((one) => `sum(${one})`).join(` || ', ' || `)} AS fault
  FROM (SELECT ${[...keys, ...numbers].join(', ')} FROM ${counts.name} UNION ALL SELECT * FROM (${recounted(counts, '-')}))
  GROUP BY ${keys.join(', ')} HAVING ${numbers.map((one) => `sum(${one}) <> 0`).join(' OR ')}`
  })
  .join('\nUNION ALL ')
