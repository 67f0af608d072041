import { useEffect, useState } from 'preact/hooks'
import { Button } from './forms.tsx'

const KEY = 'scrip-theme'

/** The choice of the theme, which is that of the system until a person chooses. */
export const Theme = () => {
  const [chosen, setChosen] = useState(localStorage.getItem(KEY))
  useEffect(() => {
    if (chosen === null) delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = chosen
  }, [chosen])
  const isDark = chosen === null ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark'
  const next = isDark ? 'light' : 'dark'
  const choose = () => {
    localStorage.setItem(KEY, next)
    setChosen(next)
  }
  const label = `Use ${next} colours`
  return <Button text="◐" aria-label={label} title={label} onClick={choose} />
}
