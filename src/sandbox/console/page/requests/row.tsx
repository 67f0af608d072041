import type { Row } from '../store.ts'
import { clockTime, ms, Status, visible } from '../ui.tsx'
import type { Group } from './groups.ts'

/** What a column of the list is called. */
export const Headings = () => (
  <div class="headings" aria-hidden="true">
    <span>Status</span>
    <span>Method</span>
    <span>Path</span>
    <span>Error</span>
    <span class="world">World</span>
    <span class="duration">Took</span>
    <span class="at">Clock</span>
  </div>
)

export const RowView = ({ head, test, isEarlier }: Row) => (
  <>
    <Status status={head.response.status} />
    <span class={`method m-${head.method.toLowerCase()}`}>{head.method}</span>
    <span class="path">{visible(head.path)}</span>
    <span class="outcome">
      {head.outcome !== 'success' && <Reason {...head} />}
      {head.fault !== null && <span class="tag warn">fault: {head.fault}</span>}
    </span>
    <span class="world" title={test}>
      {isEarlier ? `${head.world}, earlier` : head.world}
    </span>
    <span class="duration">{ms(head.duration_ms)}</span>
    <span class="at">{clockTime(head.at)}</span>
  </>
)

/** The name of an error, and what it says. */
const Reason = ({ outcome, message }: Row['head']) => (
  <>
    {outcome ?? ''} {message !== null && <span class="message">{visible(message)}</span>}
  </>
)

export const GroupView = ({ group, isClosed }: { group: Group; isClosed: boolean }) => (
  <span class="group">
    <span class={`dot ${group.failures === 0 ? 'good' : 'bad'}`} />
    <strong>{visible(group.key)}</strong>
    <span class="soft">
      {group.count.toLocaleString('en')} {group.count === 1 ? 'request' : 'requests'}
      {group.failures > 0 && `, ${group.failures.toLocaleString('en')} refused or failed`}
    </span>
    <span class="soft">{isClosed ? 'closed' : ''}</span>
  </span>
)
