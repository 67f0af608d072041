import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Rows beyond both ends of what is seen, so that quick scrolling shows no gap. */
const SPARE = 5

interface Props<Item> {
  items: readonly Item[]
  label: string
  rowHeight: number
  selected: number
  keyOf: (item: Item) => string
  onSelect: (item: Item) => void
  /** Keys pass over it. */
  isHeading: (item: Item) => boolean
  draw: (item: Item) => ComponentChildren
}

/** A list of which only the rows that are seen are drawn. What is looked at stays in place when something comes on top. */
export const VirtualList = <Item,>({
  items,
  label,
  rowHeight,
  selected,
  keyOf,
  onSelect,
  isHeading,
  draw,
}: Props<Item>) => {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ first: 0, count: 40 })
  const first = useRef<string | undefined>(undefined)
  const look = useCallback(() => {
    const { current } = box
    if (!current) return
    const from = Math.max(0, Math.floor(current.scrollTop / rowHeight) - SPARE)
    const count = Math.ceil(current.clientHeight / rowHeight) + 2 * SPARE
    setView((old) => (old.first === from && old.count === count ? old : { first: from, count }))
  }, [rowHeight])

  useEffect(() => {
    const { current } = box
    if (!current) return undefined
    const observer = new ResizeObserver(look)
    observer.observe(current)
    return () => observer.disconnect()
  }, [look])

  const head = items[0] && keyOf(items[0])
  useLayoutEffect(() => {
    const { current } = box
    const before = first.current
    first.current = head
    if (!current || current.scrollTop < rowHeight || before === undefined || before === head) return
    const added = items.findIndex((item) => keyOf(item) === before)
    if (added > 0) current.scrollTop += added * rowHeight
  }, [head])

  const reveal = (index: number): void => {
    const { current } = box
    if (!current) return
    const top = index * rowHeight
    if (top < current.scrollTop) current.scrollTop = top
    else if (top + rowHeight > current.scrollTop + current.clientHeight)
      current.scrollTop = top + rowHeight - current.clientHeight
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? rowHeight) / rowHeight) - 1)
    const steps: Record<string, number> = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: page,
      PageUp: -page,
      Home: -items.length,
      End: items.length,
    }
    const step = steps[event.key]
    if (step === undefined || items.length === 0 || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    let index = Math.min(items.length - 1, Math.max(0, (selected === -1 ? (step > 0 ? -1 : 0) : selected) + step))
    for (let at = items[index]; at !== undefined && isHeading(at); at = items[index]) index += Math.sign(step)
    const item = items[index]
    if (!item) return
    reveal(index)
    onSelect(item)
  }

  const from = Math.min(view.first, Math.max(0, items.length - view.count))
  const shown = items.slice(from, from + view.count)
  const selectedKey = selected === -1 ? undefined : items[selected] && keyOf(items[selected])
  const isSelectedShown = selected >= from && selected < from + shown.length
  return (
    <div
      class="list"
      ref={box}
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={isSelectedShown ? `row-${selected}` : undefined}
      onScroll={look}
      onKeyDown={onKeyDown}
    >
      <div class="rows" role="presentation" style={{ height: `${items.length * rowHeight}px` }}>
        {shown.map((item, at) => {
          const key = keyOf(item)
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list itself takes the keys
            <div
              // A row that leaves one end of the view comes back at the other.
              key={(from + at) % view.count}
              id={`row-${from + at}`}
              class="row"
              role="option"
              tabIndex={-1}
              aria-selected={key === selectedKey}
              aria-setsize={items.length}
              aria-posinset={from + at + 1}
              style={{ top: `${(from + at) * rowHeight}px`, height: `${rowHeight}px` }}
              onClick={() => onSelect(item)}
            >
              {draw(item)}
            </div>
          )
        })}
      </div>
    </div>
  )
}
