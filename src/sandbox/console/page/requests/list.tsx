import { useState } from 'preact/hooks'
import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { Button } from '../../../../pages/ui/forms.tsx'
import { clockTime, ms, Tag } from '../../../../pages/ui/pieces.tsx'
import type { RequestHead } from '../types.ts'
import { FaultTag, Method, Status } from './tags.tsx'

/** The number of rows that are drawn at once. A button draws more. */
const DRAWN = 500
/** Rows that Page Up and Page Down move by. */
const PAGE = 10
const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  j: 1,
  ArrowUp: -1,
  k: -1,
  PageDown: PAGE,
  PageUp: -PAGE,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

interface Props {
  requests: readonly RequestHead[]
  /** The index of the open request; -1 without one. */
  selected: number
  onSelect: (request: RequestHead) => void
}

/** The list of requests for mouse and keys, of which the first rows are drawn. */
export const List = ({ requests, selected, onSelect }: Props) => {
  const [drawn, setDrawn] = useState(DRAWN)
  const shown = requests.slice(0, drawn)

  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const step = STEPS[event.key]
    if (step === undefined || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const from = selected === -1 && step < 0 ? 0 : selected
    const index = Math.min(shown.length - 1, Math.max(0, from + step))
    event.currentTarget.children[index]?.scrollIntoView({ block: 'nearest' })
    if (shown[index]) onSelect(shown[index])
  }

  return (
    <div class="scrolled">
      <div
        class="list"
        role="listbox"
        tabIndex={0}
        aria-label="Requests, the newest first"
        aria-activedescendant={selected >= 0 && selected < drawn ? `row-${selected}` : undefined}
        onKeyDown={onKeyDown}
      >
        {shown.map((request, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list itself takes the keys
          <div
            key={`${request.world} ${request.id}`}
            id={`row-${index}`}
            class="row"
            role="option"
            tabIndex={-1}
            aria-selected={index === selected}
            aria-setsize={requests.length}
            aria-posinset={index + 1}
            onClick={() => onSelect(request)}
          >
            <Row {...request} />
          </div>
        ))}
      </div>
      {requests.length > drawn && (
        <Button text={`Show more of ${requests.length.toLocaleString('en')}`} onClick={() => setDrawn(drawn + DRAWN)} />
      )}
    </div>
  )
}

const Row = ({ request, response, method, path, outcome, message, ...rest }: RequestHead) => (
  <>
    <Status status={response.status} />
    <Method method={method} />
    <span class="mono path">{visible(path)}</span>
    <span class="outcome">
      {outcome !== 'success' && outcome}
      {message !== null && <span class="soft"> {visible(message)}</span>}
      {rest.fault !== null && <FaultTag fault={rest.fault} />}
      {rest.resent && <Tag kind="warn">sent again</Tag>}
      {rest.dry_run && <Tag kind="info">dry run</Tag>}
    </span>
    <span class="soft world" title={request.headers['x-test-name']}>
      {rest.world}
    </span>
    <span class="soft duration">{ms(rest.duration_ms)}</span>
    <span class="soft at" title="By the clock of the world">
      {clockTime(rest.at)}
    </span>
  </>
)
