import { useEffect, useState } from 'preact/hooks'

const KEY = 'scrip-theme'
const DARK = matchMedia('(prefers-color-scheme: dark)')

/** As dark as the rest of the screen, until a person says otherwise. */
export const Theme = () => {
  const [chosen, setChosen] = useState(localStorage.getItem(KEY))
  const [isDark, setDark] = useState(DARK.matches)
  useEffect(() => {
    const onChange = () => setDark(DARK.matches)
    DARK.addEventListener('change', onChange)
    return () => DARK.removeEventListener('change', onChange)
  }, [])
  useEffect(() => {
    if (chosen === null) delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = chosen
  }, [chosen])
  const next = (chosen ?? (isDark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark'
  return (
    <button
      type="button"
      class="theme"
      aria-label={`Use ${next} colours`}
      title={`Use ${next} colours`}
      onClick={() => {
        localStorage.setItem(KEY, next)
        setChosen(next)
      }}
    >
      ◐
    </button>
  )
}
