import { Button } from '../../../../pages/ui/forms.tsx'
import { act, copy, say } from '../../../../pages/ui/notices.tsx'
import { ask, askText, get } from '../api.ts'
import { go, hrefOf, type Place } from '../place.ts'
import type { RequestDetail, RequestHead } from '../types.ts'

const COPIES = { curl: 'curl', har: 'HAR' } as const

/** Opens the newest request of a world. */
export const openNewest = async (place: Place, world: string): Promise<void> => {
  const [newest] = await get<RequestHead[]>('/requests', { world, query: { limit: '1' } })
  if (newest) go({ ...place, page: 'requests', id: String(newest.id), of: world })
}

/** Sends a request again, unchanged, changed, or without a response, and copies it for other programs. */
export const Actions = ({ recorded, world, place }: { recorded: RequestDetail; world: string; place: Place }) => {
  const path = `/requests/${recorded.id}`
  const sendAgain = async () => {
    const { status } = await ask<{ status: number }>('POST', `${path}/replay`, { world, body: {} })
    await openNewest(place, world)
    return status
  }
  const replay = () => act(async () => say(`Sent again: ${await sendAgain()}`))
  /** Makes a rule for this request alone, because a header can ask only for documented errors. */
  const loseResponse = () =>
    act(async () => {
      const match = { method: recorded.method, path: recorded.route ?? recorded.path }
      await ask('POST', '/faults', { world, body: { drop: true, when: 'after', match, times: 1 } })
      await sendAgain()
    }, 'Sent again. The work is done, and the response is lost')
  const copyAs = async (format: string, name: string) =>
    copy(await askText('GET', path, { world, query: { format } }), `as ${name}`)
  return (
    <div class="line">
      <Button text="Replay" class="primary" onClick={replay} />
      <a class="button" href={hrefOf({ page: 'send', world, id: String(recorded.id) })}>
        Edit and send
      </a>
      <Button text="Send again and lose the response" onClick={loseResponse} />
      <fieldset class="line" aria-label="Copy as">
        <span class="soft">Copy as</span>
        {Object.entries(COPIES).map(([format, name]) => (
          <Button key={format} text={name} aria-label={`Copy as ${name}`} onClick={() => copyAs(format, name)} />
        ))}
      </fieldset>
    </div>
  )
}
