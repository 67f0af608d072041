import type { ComponentChildren } from 'preact'
import { visibleLines as visible } from '../../kernel/visible.ts'
import { clockTime } from './pieces.tsx'

interface Props {
  type: string
  at: string
  /** The contents beside its type. */
  about?: ComponentChildren
  /** The id of its element, for addresses that point at it. */
  id?: string
  isOpen?: boolean
  children: ComponentChildren
}

/** An event or a message in a list: a line, which opens what it holds. */
export const Message = ({ type, at, about, id, isOpen = false, children }: Props) => (
  <li id={id} tabIndex={id === undefined ? undefined : -1}>
    <details open={isOpen}>
      <summary>
        <strong>{visible(type)}</strong> {about}
        <span class="soft mono at">{clockTime(at)}</span>
      </summary>
      {children}
    </details>
  </li>
)
