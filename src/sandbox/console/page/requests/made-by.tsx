import { hrefOf } from '../place.ts'
import { makerOf } from '../store.ts'

/** Leads from a record or an event to the request that made it, while the log holds that request. */
export const MadeBy = ({ world, made }: { world: string; made: Parameters<typeof makerOf>[1] }) => {
  const row = makerOf(world, made)
  if (!row) return null
  const { id } = row.head
  return <a href={hrefOf({ page: 'requests', world, id, idWorld: world })}>request {id}</a>
}
