import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

const KEY = 'scrip-split'
const STEP = 4
const [MIN, MAX] = [20, 80]

/** Two parts side by side. A person drags what is between them, or moves it with the arrow keys. */
export const Split = ({
  first,
  label,
  children,
}: {
  first: ComponentChildren
  label: string
  children: ComponentChildren
}) => {
  const [percent, setPercent] = useState(Number(localStorage.getItem(KEY) ?? 48))
  const move = (to: number): void => {
    const next = Math.round(Math.min(MAX, Math.max(MIN, to)))
    localStorage.setItem(KEY, String(next))
    setPercent(next)
  }
  return (
    <div class="requests opened" style={{ '--first': `${percent}fr`, '--second': `${100 - percent}fr` }}>
      {first}
      {/* biome-ignore lint/a11y/useSemanticElements: a separator that moves is not a thematic break */}
      <div
        class="separator"
        role="separator"
        tabIndex={0}
        aria-label={label}
        aria-orientation="vertical"
        aria-valuenow={percent}
        aria-valuemin={MIN}
        aria-valuemax={MAX}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowLeft' ? -STEP : event.key === 'ArrowRight' ? STEP : undefined
          if (step !== undefined) move(percent + step)
        }}
        onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
        onPointerMove={({ currentTarget, pointerId, clientX }) => {
          if (!currentTarget.hasPointerCapture(pointerId)) return
          move((clientX / window.innerWidth) * 100)
        }}
      />
      {children}
    </div>
  )
}
