import { Tag } from '../../../../pages/ui/pieces.tsx'
import { hrefOf } from '../../../../pages/ui/place.ts'
import { store } from '../store.ts'

/** The tags of a request, and the link to one. */

export const Status = ({ status }: { status: number }) => (
  <span class={`status s${Math.floor(status / 100)}`}>{status === 0 ? 'lost' : status}</span>
)

export const Method = ({ method }: { method: string }) => <span class={`method ${method.toLowerCase()}`}>{method}</span>

/** A fault in words, from its name in the log: `drop; when=after`. */
export const FaultTag = ({ fault }: { fault: string }) => {
  const [name = '', isAfter] = fault.split(';')
  const text =
    name === 'drop' ? `${isAfter ? 'response' : 'request'} lost` : `${name}${isAfter ? ', after the work' : ''}`
  return <Tag kind="warn">fault: {text}</Tag>
}

interface Origin {
  world: string
  /** A row by its table and its key, or an event by its id. */
  made: { table: string; key: string } | { event: string }
}

/** Leads from a record or an event to the request that made it, while the list holds that request. */
export const MadeBy = ({ world, made }: Origin) => {
  const maker = store.requests.find(
    (request) =>
      request.world === world &&
      ('event' in made
        ? request.events.includes(made.event)
        : request.changes.some(
            ({ table, key, operation }) => operation === 'insert' && table === made.table && key === made.key,
          )),
  )
  if (!maker) return null
  return <a href={hrefOf({ page: 'requests', world, id: String(maker.id), of: world })}>request {maker.id}</a>
}
