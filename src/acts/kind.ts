import type { Query } from '../db/database.ts'
import { refused } from '../kernel/exit.ts'
import type { Administration } from './administration.ts'
import type { Columns } from './cells.ts'

export type Shown<Item> = Columns<Item, Administration>

/** What commands need to know of a kind of record. */
export interface Kind<Id, Item> {
  /** `order`: its name in refusals. */
  name: string
  /** `orders`: the group of its commands. */
  group: string
  /** The argument that identifies one. */
  argument: readonly [flags: string, description?: string, read?: (text: string) => Id]
  find: (query: Query, id: Id) => Item | undefined
  columns: Shown<Item>
  /** What `show` shows; by default, the columns. */
  details?: Shown<Item>
  /** The values in the audit before and after a change; by default, the columns. */
  audited?: Shown<Item>
  /** What to do if the status does not allow a change. */
  remedyOf?: (item: Item) => string
}

/** @throws ProgramError if there is none */
export const get = <Id, Item>({ name, group, find }: Kind<Id, Item>, query: Query, id: Id): Item => {
  const item = find(query, id)
  if (item === undefined) throw refused(`there is no ${name} ${id}\nSee scrip ${group} list.`)
  return item
}
