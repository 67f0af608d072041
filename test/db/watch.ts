import { Database } from 'bun:sqlite'
import { afterAll, spyOn } from 'bun:test'

/**
 * Calls a function after each statement that the tests of a file execute. Files share modules, so the connection is as it
 * was when they end: the next file would otherwise spy on a spy.
 */
export const watchStatements = (seen: (sql: string, values: readonly unknown[], result: unknown) => void): void => {
  // A connection keeps the statements of `query`.
  const watched = new WeakSet<object>()
  for (const kind of ['prepare', 'query'] as const) {
    const make = Database.prototype[kind]
    const spy = spyOn(Database.prototype, kind).mockImplementation(function (this: Database, ...args: [string]) {
      const statement = make.apply(this, args)
      if (watched.has(statement)) return statement
      watched.add(statement)
      for (const name of ['run', 'all', 'get', 'values'] as const) {
        const execute = statement[name].bind(statement)
        statement[name] = (...values: never[]) => {
          const result = execute(...values)
          seen(args[0], values, result)
          return result as never
        }
      }
      return statement
    } as never)
    afterAll(() => spy.mockRestore())
  }
}
