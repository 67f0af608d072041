import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { Operator } from './live.ts'

/** Changes a database as an attacker would: past its triggers, checks and references. */
export const forceFile = (file: string, ...statements: string[]): void => {
  using database = new Database(file)
  for (const setting of ['foreign_keys = OFF', 'ignore_check_constraints = ON', 'busy_timeout = 5000'])
    database.run(`PRAGMA ${setting}`)
  const triggers = database
    .query<{ name: string; sql: string }, []>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all()
  for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`)
  for (const statement of [...statements, ...triggers.map(({ sql }) => sql)]) database.run(statement)
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
}

export const force = ({ dataDir }: Operator, ...statements: string[]): void =>
  forceFile(join(dataDir, 'scrip.sqlite'), ...statements)
