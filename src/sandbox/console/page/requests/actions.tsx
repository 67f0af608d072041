import { Button } from '../../../../pages/ui/forms.tsx'
import { act, copy, say } from '../../../../pages/ui/notices.tsx'
import { go, hrefOf, type Place } from '../../../../pages/ui/place.ts'
import { ask, askText, get } from '../api.ts'
import type { RequestDetail, RequestHead } from '../types.ts'

export const openNewest = async (place: Place, world: string): Promise<void> => {
  const [newest] = await get<RequestHead[]>('/requests', { world, query: { limit: '1' } })
  if (newest) go({ ...place, page: 'requests', id: String(newest.id), of: world })
}

/** Sends a request again, unchanged or changed, and copies it for other programs. */
export const Actions = ({ recorded, world, place }: { recorded: RequestDetail; world: string; place: Place }) => {
  const path = `/requests/${recorded.id}`
  const replay = () =>
    act(async () => {
      const { status } = await ask<{ status: number }>('POST', `${path}/replay`, { world, body: {} })
      await openNewest(place, world)
      say(`Sent again: ${status}`)
    })
  const copyAs = async (format: string) =>
    copy(await askText('GET', path, { world, query: { format } }), `as ${format}`)
  return (
    <div class="line">
      <Button text="Replay" class="primary" onClick={replay} />
      <a class="button" href={hrefOf({ page: 'send', world, id: String(recorded.id) })}>
        Edit and send
      </a>
      <Button text="Copy as curl" onClick={() => copyAs('curl')} />
      <Button text="Copy as HAR" onClick={() => copyAs('har')} />
    </div>
  )
}
