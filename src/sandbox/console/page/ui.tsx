import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/** What several pages draw. */

export const Status = ({ status }: { status: number }) => (
  <span class={`status s${Math.floor(status / 100)}`}>{status === 0 ? 'lost' : status}</span>
)

export const Tag = ({ children, kind = '' }: { children: ComponentChildren; kind?: string }) => (
  <span class={`tag ${kind}`}>{children}</span>
)

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>

/** Text as it is, in a region that scrolls. */
export const Code = ({ label, children }: { label: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
  <section class="code" aria-label={label} tabIndex={0}>
    <pre>{children}</pre>
  </section>
)

export const Card = ({
  title,
  aside,
  children,
}: {
  title: string
  aside?: ComponentChildren
  children: ComponentChildren
}) => (
  <section class="card" aria-label={title}>
    <header>
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
)

/** `2026-11-22 12:00:03.120`, as the world has it. */
export const time = (at: string): string => at.replace('T', ' ').replace('Z', '')
export const clockTime = (at: string): string => at.slice(11, 23)

const digits = new Map<string, number>()

/** As many decimals as the currency has. */
const digitsOf = (currency: string): number => {
  const known = digits.get(currency)
  if (known !== undefined) return known
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
  digits.set(currency, maximumFractionDigits)
  return maximumFractionDigits
}

export const amount = (value: number, currency: string): string => {
  const count = digitsOf(currency)
  return `${value.toLocaleString('en', { minimumFractionDigits: count, maximumFractionDigits: count })} ${currency}`
}

export const ms = (duration: number): string =>
  duration >= 100 ? `${Math.round(duration)} ms` : `${duration.toFixed(duration >= 10 ? 1 : 2)} ms`

/** Characters that control a terminal or the direction of text, made visible: what is shown is what was sent. */
export const visible = (text: string): string =>
  text.replace(
    /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Calls what belongs to a key, unless somebody types. Returns what ends it. */
export const whenKeyIsPressed = (actions: Record<string, () => void>): (() => void) => {
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const { target, key } = event
    const isTaken =
      target instanceof HTMLElement &&
      (target.matches('input, textarea, select, [role="separator"]') || target.closest('dialog') !== null)
    if (isTaken && key !== 'Escape') return
    const action = actions[key]
    if (!action) return
    event.preventDefault()
    action()
  }
  addEventListener('keydown', onKey)
  return () => removeEventListener('keydown', onKey)
}

export interface Loaded<Value> {
  value: Value | undefined
  error: string | undefined
  reload: () => void
}

/** Loads something, and again whenever one of the dependencies changes. */
export const useLoaded = <Value,>(load: () => Promise<Value>, on: readonly unknown[]): Loaded<Value> => {
  const [value, setValue] = useState<Value>()
  const [error, setError] = useState<string>()
  const latest = useRef(0)
  const reload = useCallback(() => {
    const own = ++latest.current
    load().then(
      (loaded) => {
        if (own !== latest.current) return
        setValue(() => loaded)
        setError(undefined)
      },
      (reason: unknown) => {
        if (own === latest.current) setError(String(reason instanceof Error ? reason.message : reason))
      },
    )
  }, on)
  useEffect(reload, [reload])
  return { value, error, reload }
}

/** Says what an action has done, to eyes and to screen readers. */
let show: (text: string, isError: boolean) => void = () => undefined

export const say = (text: string): void => show(text, false)

export const Notices = () => {
  const [notice, setNotice] = useState<{ text: string; isError: boolean }>()
  useEffect(() => {
    let timer = 0
    show = (text, isError) => {
      setNotice({ text, isError })
      clearTimeout(timer)
      timer = window.setTimeout(() => setNotice(undefined), isError ? 8_000 : 4_000)
    }
  }, [])
  return (
    <div role="status" class={notice ? `notice ${notice.isError ? 'bad' : ''}` : 'notice none'}>
      {notice?.text}
    </div>
  )
}

const ACTED = 'scrip-acted'

/** Counts what a person has done: what is shown elsewhere on the page may have changed by it. */
export const useActed = (): number => {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const onActed = () => setCount((before) => before + 1)
    addEventListener(ACTED, onActed)
    return () => removeEventListener(ACTED, onActed)
  }, [])
  return count
}

/** Does something that a person has asked for, and says how it ended. */
export const act = async (work: () => Promise<unknown>, done?: string): Promise<boolean> => {
  try {
    await work()
    dispatchEvent(new Event(ACTED))
    if (done !== undefined) say(done)
    return true
  } catch (reason) {
    show(reason instanceof Error ? reason.message : String(reason), true)
    return false
  }
}

export const copy = (text: string, what: string): Promise<boolean> =>
  act(() => navigator.clipboard.writeText(text), `Copied ${what}`)

export const Failed = ({ error }: { error: string | undefined }) =>
  error === undefined ? null : (
    <p class="failed" role="alert">
      {error}
    </p>
  )

/** Scrolls to a record that the address points at, once it is there. */
export const usePointedAt = (record: string | undefined, isThere: boolean): void => {
  useEffect(() => {
    if (record === undefined || !isThere) return
    const element = document.getElementById(record)
    element?.scrollIntoView({ block: 'center' })
    element?.focus()
  }, [record, isThere])
}

/** Gives a text to a person as a file. */
export const download = (text: string, type: string, name: string): void => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
