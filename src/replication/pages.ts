import type { Database as SqliteDatabase } from 'bun:sqlite'
import type { Ask } from './connection.ts'
import { escaped, objectOf } from './rows.ts'
import { type Column, POSTGRES_TYPES, quotedName, type Table } from './tables.ts'

/** The rows of a table in PostgreSQL and in a copy, page by page in the order of its key, as arrays of JSON. */

export interface RowPage {
  rows: string
  count: number
}

type Key = readonly (string | number)[]

const PAGE_ROWS = 10_000

const keyColumnsOf = ({ columns, key }: Table): Column[] =>
  key.flatMap((name) => columns.filter((column) => column.name === name))

/** The next page is read while the last one is used. */
export async function* postgresPages(ask: Ask, table: Table): AsyncGenerator<RowPage> {
  let next: ReturnType<typeof postgresPage> | undefined = postgresPage(ask, table, undefined)
  while (next) {
    const { rows, count, last }: RowPage & { last: Key | undefined } = await next
    next = count === PAGE_ROWS && last ? postgresPage(ask, table, last) : undefined
    next?.catch(() => undefined) // thrown when it is its turn
    if (count > 0) yield { rows, count }
  }
}

const postgresPage = async (
  ask: Ask,
  table: Table,
  after: Key | undefined,
): Promise<RowPage & { last: Key | undefined }> => {
  const key = keyColumnsOf(table)
  const names = key.map(({ name }) => quotedName(name)).join(', ')
  const places = key.map(({ type }, index) => `$${index + 1}::text::${POSTGRES_TYPES[type]}`).join(', ')
  const [page] = await ask<{ rows: string | null; count: string; last: string | null }>(
    `WITH page AS MATERIALIZED (SELECT * FROM scrip.${quotedName(table.name)}
        ${after ? `WHERE (${names}) > (${places})` : ''} ORDER BY ${names} LIMIT ${PAGE_ROWS})
      SELECT '[' || string_agg(row_to_json(page)::text, ',' ORDER BY ${names}) || ']' AS rows, count(*) AS count,
        (SELECT json_build_array(${key.map(({ name }) => `${quotedName(name)}::text`).join(', ')})::text FROM page
          ORDER BY ${key.map(({ name }) => `${quotedName(name)} DESC`).join(', ')} LIMIT 1) AS last FROM page`,
    after?.map(String),
  )
  return {
    rows: page?.rows ?? '[]',
    count: Number(page?.count ?? 0),
    last: page?.last ? (JSON.parse(page.last) as string[]) : undefined,
  }
}

export function* copyPages(sqlite: SqliteDatabase, table: Table): Generator<RowPage> {
  const key = keyColumnsOf(table)
  const names = key.map(({ name }) => quotedName(name)).join(', ')
  let after: Key | undefined
  for (;;) {
    const read = sqlite.query<{ rows: string; count: number; last: string | null }, Key[number][]>(
      `WITH page AS MATERIALIZED (SELECT * FROM main.${quotedName(table.name)}
          ${after ? `WHERE (${names}) > (${key.map(() => '?').join(', ')})` : ''} ORDER BY ${names} LIMIT ${PAGE_ROWS})
        SELECT json_group_array(${objectOf(table.columns, 'page')} ORDER BY ${names}) AS rows, count(*) AS count,
          (SELECT json_array(${names}) FROM page ORDER BY ${key.map(({ name }) => `${quotedName(name)} DESC`).join(', ')} LIMIT 1)
            AS last FROM page`,
    )
    const page = read.get(...(after ?? []))
    if (!page || page.count === 0) return
    yield { rows: escaped(page.rows), count: page.count }
    if (page.count < PAGE_ROWS || page.last === null) return
    after = JSON.parse(page.last) as Key
  }
}
