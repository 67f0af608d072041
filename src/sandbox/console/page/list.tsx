import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../../pages/ui/forms.tsx'

/** The number of rows that are drawn at once. A button draws more. */
const DRAWN = 500
/** Rows that Page Up and Page Down move by. */
const PAGE = 10

interface Props<Item> {
  items: readonly Item[]
  label: string
  selected: number
  keyOf: (item: Item) => string
  onSelect: (item: Item) => void
  draw: (item: Item) => ComponentChildren
}

/** A list for mouse and keys, of which the first rows are drawn. */
export const List = <Item,>({ items, label, selected, keyOf, onSelect, draw }: Props<Item>) => {
  const [drawn, setDrawn] = useState(DRAWN)
  const shown = items.slice(0, drawn)

  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const steps: Record<string, number> = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: PAGE,
      PageUp: -PAGE,
      Home: -shown.length,
      End: shown.length,
    }
    const step = steps[event.key]
    if (step === undefined || shown.length === 0 || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const from = selected === -1 && step < 0 ? 0 : selected
    const index = Math.min(shown.length - 1, Math.max(0, from + step))
    const item = shown[index]
    if (!item) return
    event.currentTarget.children[index]?.scrollIntoView({ block: 'nearest' })
    onSelect(item)
  }

  return (
    <div class="scrolled">
      <div
        class="list"
        role="listbox"
        tabIndex={0}
        aria-label={label}
        aria-activedescendant={selected >= 0 && selected < drawn ? `row-${selected}` : undefined}
        onKeyDown={onKeyDown}
      >
        {shown.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list itself takes the keys
          <div
            key={keyOf(item)}
            id={`row-${index}`}
            class="row"
            role="option"
            tabIndex={-1}
            aria-selected={index === selected}
            aria-setsize={items.length}
            aria-posinset={index + 1}
            onClick={() => onSelect(item)}
          >
            {draw(item)}
          </div>
        ))}
      </div>
      {items.length > drawn && (
        <Button text={`Show more of ${items.length.toLocaleString('en')}`} onClick={() => setDrawn(drawn + DRAWN)} />
      )}
    </div>
  )
}
