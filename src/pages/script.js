import { search, termsIn } from './search.ts'

/** The functions of the reference and the front page: copying, search, and the menu. */

const find = (selector, within = document) => within.querySelector(selector)
const findAll = (selector, within = document) => [...within.querySelectorAll(selector)]

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** Examples name the address of this page, even if the program knows another one. */
const { url } = find('main').dataset
for (const code of findAll('code')) code.textContent = code.textContent.replaceAll(url, location.origin)

const addCopyButton = (block) => {
  const code = find('code', block)
  const button = element('button', { type: 'button', textContent: 'Copy' })
  button.setAttribute('aria-label', `Copy: ${find('pre', block).getAttribute('aria-label')}`)
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code.textContent)
      button.textContent = 'Copied'
    } catch {
      getSelection().selectAllChildren(code)
      button.textContent = 'Selected'
    }
    button.addEventListener('blur', () => (button.textContent = 'Copy'), { once: true })
  })
  block.append(button)
}
for (const block of findAll('.code')) addCopyButton(block)

/** Opens a folded part that the address points at. */
const unfold = () => {
  const folded = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.querySelector('details')
  if (folded) folded.open = true
}
unfold()
addEventListener('hashchange', unfold)

// ---- Search.

const SHOWN_MAX = 30
const BEFORE_LENGTH = 40
const TEXT_LENGTH = 140

/** The part of a text in which something was found, else its beginning. */
const excerptOf = ({ title, text }, terms) => {
  const body = text.toLowerCase()
  const at = terms
    .flatMap(({ word, names }) => (title.toLowerCase().includes(word) ? [] : [word, ...names]))
    .map((name) => body.indexOf(name))
    .find((place) => place >= 0)
  const from = at === undefined || at < BEFORE_LENGTH ? 0 : body.indexOf(' ', at - BEFORE_LENGTH) + 1
  const part = text.slice(from, from + TEXT_LENGTH)
  return `${from > 0 ? '… ' : ''}${part}${from + TEXT_LENGTH < text.length ? ' …' : ''}`
}

const resultOf = (entry, terms) =>
  element(
    'li',
    {},
    element(
      'a',
      { href: entry.href },
      element('strong', { textContent: entry.title }),
      element('span', { textContent: entry.kind }),
      element('span', { textContent: excerptOf(entry, terms) }),
    ),
  )

const makeSearch = (dialog) => {
  const query = find('#query')
  const results = find('#results')
  let index

  const showResults = () => {
    const terms = termsIn(query.value)
    const found = search(index, terms)
    find('#found').textContent =
      terms.length === 0 ? '' : found.length === 0 ? 'Nothing found' : `${found.length} found`
    results.replaceChildren(...found.slice(0, SHOWN_MAX).map((entry) => resultOf(entry, terms)))
  }
  const open = async () => {
    if (dialog.open) return
    dialog.showModal()
    query.select()
    index ??= await (await fetch('/docs/search.json')).json()
    showResults()
  }

  query.addEventListener('input', () => index && showResults())
  dialog.addEventListener('keydown', (event) => {
    const links = findAll('a', results)
    const at = links.indexOf(document.activeElement)
    if (event.key === 'Enter' && document.activeElement === query) {
      event.preventDefault()
      links[0]?.click()
    }
    const next = { ArrowDown: links[at + 1], ArrowUp: at <= 0 ? query : links[at - 1] }[event.key]
    if (!next) return
    event.preventDefault()
    next.focus()
  })
  // A result on the same page moves no further than to its heading.
  results.addEventListener('click', () => dialog.close())
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.closest('input') !== null
    const isShortcut = event.key === '/' ? !isTyping : event.key === 'k' && (event.metaKey || event.ctrlKey)
    if (!isShortcut) return
    event.preventDefault()
    open()
  })
  const button = find('[data-search]')
  button.addEventListener('click', open)
  button.hidden = false
}

// ---- Menu: open beside the page, folded above it.

const makeMenu = (menu) => {
  const isNarrow = matchMedia('(max-width: 860px)')
  const fit = () => {
    menu.open = !isNarrow.matches
  }
  isNarrow.addEventListener('change', fit)
  fit()
  find('[aria-current]', menu)?.scrollIntoView({ block: 'nearest' })
}

const dialog = find('#search')
if (dialog) makeSearch(dialog)
const menu = find('.menu')
if (menu) makeMenu(menu)
