import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { clockTime, ms, Tag } from '../../../../pages/ui/pieces.tsx'
import type { Row } from '../store.ts'
import { FaultTag, Method, Status } from '../tags.tsx'

/** The headings of the list. */
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

export const RowView = ({ head, test }: Row) => (
  <>
    <Status status={head.response.status} />
    <Method method={head.method} />
    <span class="path">{visible(head.path)}</span>
    <span class="outcome">
      {head.outcome !== 'success' && <Reason {...head} />}
      {head.fault !== null && <FaultTag fault={head.fault} />}
      {head.dry_run && <Tag kind="info">dry run</Tag>}
    </span>
    <span class="world" title={test}>
      {head.world}
    </span>
    <span class="duration">{ms(head.duration_ms)}</span>
    <span class="at">{clockTime(head.at)}</span>
  </>
)

/** The name of an error, and its message. */
const Reason = ({ outcome, message }: Row['head']) => (
  <>
    {outcome ?? ''} {message !== null && <span class="message">{visible(message)}</span>}
  </>
)
