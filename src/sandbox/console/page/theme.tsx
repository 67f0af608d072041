import { useEffect, useState } from 'preact/hooks'
import { Button } from './forms.tsx'
import { useMedia } from './hooks.ts'

const KEY = 'scrip-theme'

/** As dark as the rest of the screen, until a person says otherwise. */
export const Theme = () => {
  const [chosen, setChosen] = useState(localStorage.getItem(KEY))
  const isDark = useMedia('(prefers-color-scheme: dark)')
  useEffect(() => {
    if (chosen === null) delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = chosen
  }, [chosen])
  const next = (chosen ?? (isDark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark'
  const choose = () => {
    localStorage.setItem(KEY, next)
    setChosen(next)
  }
  const label = `Use ${next} colours`
  return <Button text="◐" aria-label={label} title={label} onClick={choose} />
}
