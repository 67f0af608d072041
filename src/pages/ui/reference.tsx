import { render } from 'preact'
import type { Searched } from '../search.ts'
import { Finder } from './finder.tsx'
import { copy, Notices } from './notices.tsx'

/** The functions of the reference and the front page, which can be read without them: copying, search, and the menu. */

/** Examples name the address of this page, even if the program knows another one. */
const { url = '' } = document.querySelector('main')?.dataset ?? {}
for (const code of document.querySelectorAll('code'))
  code.textContent = code.textContent.replaceAll(url, location.origin)

for (const block of document.querySelectorAll('.code')) {
  const pre = block.querySelector('pre')
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Copy' })
  button.setAttribute('aria-label', `Copy: ${pre?.getAttribute('aria-label')}`)
  button.addEventListener('click', () => copy(pre?.textContent ?? '', 'the code'))
  block.append(button)
}

/** Opens a folded part that the address points at. */
const unfold = (): void => {
  const folded = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.querySelector('details')
  if (folded) folded.open = true
}
unfold()
addEventListener('hashchange', unfold)

/** The menu is open beside the page, and folded above it. */
const menu = document.querySelector<HTMLDetailsElement>('.menu')
const isNarrow = matchMedia('(max-width: 860px)')
const fit = (): void => {
  if (menu) menu.open = !isNarrow.matches
}
isNarrow.addEventListener('change', fit)
fit()
menu?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })

const readIndex = async () => {
  const entries: (Searched & { kind: string; href: string })[] = await (await fetch('/docs/search.json')).json()
  return entries.map((entry) => ({ ...entry, choose: () => location.assign(entry.href) }))
}
const tools = document.createElement('div')
tools.className = 'search'
;(document.querySelector('.top') ?? document.body).append(tools)
render(
  <>
    {menu && <Finder label="Search operations, events and guides" hasButton load={readIndex} />}
    <Notices />
  </>,
  tools,
)
