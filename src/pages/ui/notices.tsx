import { useEffect, useState } from 'preact/hooks'

/** Shows the result of an action, also to screen readers. */
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

/** An event after each action of a person, which may have changed data elsewhere on the page. */
export const ACTED = 'scrip-acted'

/** Does an action of a person, and shows its result. */
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

/** Saves a file as the browser saves a download. */
export const saveFile = (name: string, content: Blob): void => {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(content), download: name })
  link.click()
  URL.revokeObjectURL(link.href)
}
