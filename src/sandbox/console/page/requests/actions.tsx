import { useState } from 'preact/hooks'
import { ask, askText, get } from '../api.ts'
import { go, hrefOf, type Place } from '../place.ts'
import type { DocumentedError, RequestDetail, RequestHead } from '../types.ts'
import { act, copy, say, useLoaded } from '../ui.tsx'

const COPIES = { curl: 'curl', har: 'HAR', node: 'node:test', pytest: 'pytest' } as const

/** Opens the newest request of a world. */
export const openNewest = async (place: Place, world: string): Promise<void> => {
  const [newest] = await get<RequestHead[]>('/requests', { world, query: { limit: '1' } })
  if (newest) go({ ...place, page: 'requests', id: newest.id, idWorld: world, beside: undefined })
}

/** Sends a request again, as it was, changed, or with a fault, and copies it for elsewhere. */
export const Actions = ({ recorded, world, place }: { recorded: RequestDetail; world: string; place: Place }) => {
  const path = `/requests/${recorded.id}`
  const replay = (fault?: string) =>
    act(async () => {
      const { status } = await ask<{ status: number }>('POST', `${path}/replay`, {
        world,
        body: fault ? { fault } : {},
      })
      await openNewest(place, world)
      say(`Sent again: ${status}`)
    })
  /** A rule for the one request, because a header can ask only for documented errors. */
  const loseAnswer = () =>
    act(async () => {
      const match = { method: recorded.method, path: recorded.route ?? recorded.path }
      await ask('POST', '/faults', { world, body: { drop: true, when: 'after', match, times: 1 } })
      await ask('POST', `${path}/replay`, { world, body: {} })
      await openNewest(place, world)
      say('Sent again. The work is done, and the response is lost')
    })
  return (
    <div class="actions">
      <button type="button" class="primary" onClick={() => replay()}>
        Replay
      </button>
      <a class="button" href={hrefOf({ page: 'send', world, id: recorded.id })}>
        Edit and send
      </a>
      <button type="button" onClick={loseAnswer}>
        Send again and lose the response
      </button>
      <fieldset class="toggle" aria-label="Copy as">
        <span class="toggle-label">Copy as</span>
        {Object.entries(COPIES).map(([format, name]) => (
          <button
            key={format}
            type="button"
            aria-label={`Copy as ${name}`}
            onClick={async () => copy(await askText('GET', path, { world, query: { format } }), `as ${name}`)}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <WithFault recorded={recorded} onAsk={replay} />
    </div>
  )
}

/** Asks for the same with one of the errors that are documented for it. */
const WithFault = ({ recorded, onAsk }: { recorded: RequestDetail; onAsk: (fault: string) => void }) => {
  const { value: errors = [] } = useLoaded(() => get<DocumentedError[]>('/errors'), [])
  const [name, setName] = useState('')
  const [isAfter, setAfter] = useState(false)
  const possible = errors.filter(({ method, path }) => method === recorded.method && path === recorded.route)
  if (possible.length === 0) return null
  return (
    <form
      class="fault"
      onSubmit={(event) => {
        event.preventDefault()
        if (name !== '') onAsk(isAfter ? `${name}; when=after` : name)
      }}
    >
      <select aria-label="Fault" value={name} onChange={(event) => setName(event.currentTarget.value)}>
        <option value="">Replay with an error…</option>
        {possible.map((error) => (
          <option key={error.name} value={error.name}>
            {error.status} {error.name}
          </option>
        ))}
      </select>
      <label>
        <input type="checkbox" checked={isAfter} onChange={(event) => setAfter(event.currentTarget.checked)} /> after
        the work
      </label>
      <button type="submit" disabled={name === ''}>
        Replay with it
      </button>
    </form>
  )
}
