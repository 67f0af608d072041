import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ACTED } from './notices.tsx'

/** Listens while a view is shown, from when it is drawn: a key may be pressed before the next frame. */
export const useListener = <Type extends keyof WindowEventMap>(
  target: EventTarget,
  type: Type | typeof ACTED,
  onEvent: (event: WindowEventMap[Type]) => void,
): void =>
  useLayoutEffect(() => {
    const listener = (event: Event) => onEvent(event as WindowEventMap[Type])
    target.addEventListener(type, listener)
    return () => target.removeEventListener(type, listener)
  })

/** While a view is shown, calls the function of a key, unless somebody types. */
export const useKeys = (actions: Record<string, () => void>, on: readonly unknown[] = []): void =>
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      const { target, key } = event
      const isTaken =
        target instanceof HTMLElement &&
        (target.matches('input, textarea, select') || target.closest('dialog') !== null)
      if (isTaken && key !== 'Escape') return
      const action = actions[key]
      if (!action) return
      event.preventDefault()
      action()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, on)

interface Loaded<Value> {
  value: Value | undefined
  error: string | undefined
  reload: () => void
}

/** Loads something, and again whenever one of the dependencies changes, or a person has acted. */
export const useLoaded = <Value>(load: () => Promise<Value>, on: readonly unknown[]): Loaded<Value> => {
  const [value, setValue] = useState<Value>()
  const [error, setError] = useState<string>()
  const latest = useRef(0)
  const reload = useCallback(() => {
    const attempt = ++latest.current
    load().then(
      (loaded) => {
        if (attempt !== latest.current) return
        setValue(() => loaded)
        setError(undefined)
      },
      (reason: unknown) => {
        if (attempt === latest.current) setError(String(reason instanceof Error ? reason.message : reason))
      },
    )
  }, on)
  useEffect(reload, [reload])
  useListener(window, ACTED, reload)
  return { value, error, reload }
}

/** The error of the last work that a person asked for, and a function that does work. */
export const useAttempt = () => {
  const [error, setError] = useState<string>()
  const attempt = (work: () => Promise<unknown>): Promise<void> =>
    work().then(
      () => setError(undefined),
      (reason: unknown) => setError(reason instanceof Error ? reason.message : String(reason)),
    )
  return [error, attempt] as const
}

/** Scrolls to the record that the address points at, once it exists. */
export const usePointedAt = (record: string | undefined, isThere: boolean): void => {
  useEffect(() => {
    if (record === undefined || !isThere) return
    const element = document.getElementById(record)
    element?.scrollIntoView({ block: 'center' })
    element?.focus()
  }, [record, isThere])
}
