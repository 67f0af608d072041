import { useEffect, useState } from 'preact/hooks'

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

/** Comes when a person has done something: what is shown elsewhere on the page may have changed by it. */
export const ACTED = 'scrip-acted'

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
