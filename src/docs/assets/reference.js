/** What the reference does besides being read: navigation without reloads, search, copying, and requests that are sent. */

const find = (selector, within = document) => within.querySelector(selector)
const findAll = (selector, within = document) => [...within.querySelectorAll(selector)]

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** The login of this page: in memory alone, so that a reload forgets it. */
let login
/** What was typed for headers that are secrets, by their names: in memory alone as well. */
const secrets = new Map()
/** The language that was last chosen. */
let language

// ---- Navigation: pages are swapped, because a login would not outlive a reload.

const isPage = (url) =>
  url.origin === location.origin && /^\/docs(\/(operations|events|guides)\/[^/]+)?$/.test(url.pathname)

const goTo = async (url) => {
  try {
    const response = await fetch(url.pathname)
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    document.title = page.title
    find('main').replaceChildren(...find('main', page).childNodes)
    markCurrent(url.pathname)
    enliven()
    const target = url.hash === '' ? undefined : document.getElementById(decodeURIComponent(url.hash.slice(1)))
    find('main').focus({ preventScroll: true })
    if (target) target.scrollIntoView()
    else scrollTo(0, 0)
  } catch {
    location.assign(url)
  }
}

const markCurrent = (path) => {
  for (const link of findAll('nav a')) {
    const isCurrent = new URL(link.href).pathname === path
    link.toggleAttribute('aria-current', isCurrent)
    if (!isCurrent) continue
    link.setAttribute('aria-current', 'page')
    link.closest('details').open = true
    link.scrollIntoView({ block: 'nearest' })
  }
}

const isNarrow = matchMedia('(max-width: 860px)')
const fitMenu = () => {
  find('.menu').open = !isNarrow.matches
}

document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
  const url = new URL(link.href)
  if (!isPage(url) || (url.pathname === location.pathname && url.hash !== '')) return
  event.preventDefault()
  find('#search').close()
  if (isNarrow.matches) find('.menu').open = false
  history.pushState(null, '', url)
  goTo(url)
})
let shownPath = location.pathname
addEventListener('popstate', () => {
  if (location.pathname !== shownPath) goTo(new URL(location.href))
})

// ---- What each page gets.

const enliven = () => {
  shownPath = location.pathname
  useThisAddress()
  for (const block of findAll('.code')) addCopyButton(block)
  for (const group of findAll('.tabs')) makeTabs(group)
  for (const form of findAll('.try form')) {
    form.hidden = false
    for (const field of findAll('[data-secret]', form)) {
      field.value = secrets.get(field.name) ?? ''
      field.addEventListener('input', () => secrets.set(field.name, field.value))
    }
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      send(form)
    })
  }
  for (const button of findAll('main [data-login]')) button.addEventListener('click', openLogin)
  showLogin()
}

/** Examples name the address that the page came from, whatever the program knows of how it is reached. */
const useThisAddress = () => {
  const { url } = document.body.dataset
  for (const code of findAll('.tabs code')) code.textContent = code.textContent.replaceAll(url, location.origin)
}

const addCopyButton = (block) => {
  const button = element('button', { type: 'button', className: 'quiet', textContent: 'Copy' })
  button.setAttribute('aria-label', `Copy: ${find('pre', block).getAttribute('aria-label')}`)
  button.addEventListener('click', async () => {
    const code = find('code', block)
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

const makeTabs = (group) => {
  const panels = findAll('[data-tab]', group)
  const list = element('div')
  list.setAttribute('role', 'tablist')
  list.setAttribute('aria-label', 'Language')
  const tabs = panels.map((panel) => {
    const name = panel.dataset.tab
    const tab = element('button', { type: 'button', id: `tab-${name}`, textContent: name })
    tab.setAttribute('role', 'tab')
    tab.setAttribute('aria-controls', `panel-${name}`)
    panel.id = `panel-${name}`
    panel.setAttribute('role', 'tabpanel')
    panel.setAttribute('aria-labelledby', tab.id)
    find('h3', panel).hidden = true
    tab.addEventListener('click', () => choose(name))
    list.append(tab)
    return tab
  })
  const choose = (name) => {
    language = name
    panels.forEach((panel, index) => {
      const isChosen = panel.dataset.tab === name
      panel.hidden = !isChosen
      tabs[index].setAttribute('aria-selected', String(isChosen))
      tabs[index].tabIndex = isChosen ? 0 : -1
    })
  }
  list.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key]
    if (step === undefined) return
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length]
    choose(next.textContent)
    next.focus()
  })
  panels[0].before(list)
  choose(language ?? panels[0].dataset.tab)
}

// ---- Requests.

const send = async (form) => {
  const button = find('button[type=submit]', form)
  const result = find('.result', form.parentElement)
  const { url, init } = requestOf(form)
  button.disabled = true
  result.replaceChildren(element('p', { className: 'soft', textContent: 'Sending…' }))
  const startedMs = performance.now()
  try {
    const response = await fetch(url, init)
    const type = response.headers.get('content-type') ?? ''
    const body = /^(?:image|application\/(?:vnd|octet))/.test(type) ? await response.blob() : await response.text()
    const tookMs = performance.now() - startedMs
    showResponse(result, response, body, tookMs)
    if (response.ok && /\/auth\/(?:login|refresh)$/.test(url) && typeof body === 'string') keepLogin(JSON.parse(body))
  } catch (error) {
    result.replaceChildren(element('p', { className: 'wrong', textContent: `No response: ${error.message}` }))
  } finally {
    button.disabled = false
  }
}

const requestOf = (form) => {
  let path = form.dataset.path
  const query = new URLSearchParams()
  const headers = new Headers()
  let body
  for (const [key, value] of new FormData(form)) {
    const [place, name] = key.split(/:(.*)/)
    if (key === 'body') body = value
    else if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (place === 'query' && value !== '') query.append(name, value)
    else if (place === 'header' && value !== '') headers.set(name, value)
  }
  for (const { value, dataset } of findAll('[data-after]:checked', form)) {
    const [, name] = dataset.after.split(':')
    if (headers.has(name)) headers.set(name, headers.get(name) + value)
  }
  if (login && 'protected' in form.dataset) headers.set('Authorization', `Bearer ${login.token}`)
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  return {
    url: path + (query.size > 0 ? `?${query}` : ''),
    init: { method: form.dataset.method, headers, ...(body !== undefined && { body }) },
  }
}

const showResponse = (result, response, body, tookMs) => {
  const status = element('span', { className: `status ${response.ok ? 'good' : 'bad'}`, textContent: response.status })
  const list = element('dl')
  for (const [name, value] of response.headers) {
    list.append(element('dt', { textContent: name }), element('dd', { textContent: value }))
  }
  result.replaceChildren(
    element(
      'p',
      {},
      status,
      ` ${response.statusText} `,
      element('span', { className: 'soft', textContent: `${Math.round(tookMs)} ms` }),
    ),
    element('details', {}, element('summary', { textContent: 'Headers' }), list),
    bodyBlock(body),
  )
}

const bodyBlock = (body) => {
  if (typeof body !== 'string') return element('p', { textContent: `${body.size} bytes of ${body.type}` })
  if (body === '') return element('p', { className: 'soft', textContent: 'No body' })
  const pre = element('pre', { tabIndex: 0 }, element('code', { textContent: pretty(body) }))
  pre.setAttribute('role', 'group')
  pre.setAttribute('aria-label', 'Body of the response')
  const block = element('div', { className: 'code' }, pre)
  addCopyButton(block)
  return block
}

const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

// ---- Login.

const loginDialog = find('#login')
const loginForm = find('form', loginDialog)

const openLogin = () => {
  find('.wrong', loginForm).textContent = ''
  loginDialog.showModal()
}

const keepLogin = (pair) => {
  login = { token: pair.access_token, name: `client ${pair.client_id}` }
  showLogin()
}

const showLogin = () => {
  const button = find('.bar [data-login]')
  button.textContent = login ? `Log out ${login.name}` : 'Log in'
  for (const hint of findAll('[data-login-hint]')) hint.hidden = login !== undefined
}

loginForm.addEventListener('submit', async (event) => {
  if (event.submitter?.value === 'cancel') return
  event.preventDefault()
  const credentials = Object.fromEntries(new FormData(loginForm))
  const response = await fetch('/auth/login', { method: 'POST', body: JSON.stringify(credentials) }).catch(
    () => undefined,
  )
  const pair = response?.ok ? await response.json() : undefined
  if (!pair) {
    find('.wrong', loginForm).textContent = response
      ? 'These credentials are not right.'
      : 'The server does not answer.'
    return
  }
  keepLogin(pair)
  login.name = credentials.username
  showLogin()
  loginDialog.close()
})

// ---- Search.

const searchDialog = find('#search')
const query = find('#query')
const results = find('#results')
const SHOWN_MAX = 30
let index

/** What people call things: a word finds what the others of its line find, below what it finds itself. */
const SYNONYMS = [
  ['lose', 'losing', 'lost', 'drop', 'disconnect', 'cut', 'network'],
  ['retry', 'retries', 'repeat', 'again', 'twice', 'duplicate', 'idempotency'],
  ['refund', 'money back', 'returned', 'reverse', 'chargeback'],
  ['buy', 'purchase', 'order', 'place'],
  ['price', 'cost', 'charges', 'quote', 'fee'],
  ['voucher', 'gift card', 'code', 'redeem'],
  ['pay', 'payout', 'transfer', 'send money'],
  ['payee', 'recipient', 'beneficiary', 'beneficiaries'],
  ['fund', 'top up', 'topup', 'deposit', 'credit', 'balance'],
  ['login', 'log in', 'token', 'authenticate', 'password', 'api key'],
  ['callback', 'webhook', 'notification', 'event'],
  ['signature', 'verify', 'hmac', 'secret'],
  ['mock', 'fake', 'simulate', 'fault', 'inject'],
  ['time', 'clock', 'sleep', 'wait', 'advance'],
  ['throttle', 'rate limit', '429', 'too many'],
  ['delete', 'remove', 'erase', 'gdpr', 'privacy'],
  ['dry run', 'rehearse', 'rehearsal', 'preview'],
  ['isolate', 'parallel', 'tenant', 'world'],
  ['failover', 'standby', 'outage', 'take over', 'postgres'],
  ['monitoring', 'metrics', 'prometheus', 'grafana', 'alert'],
]
const namesOf = (word) =>
  SYNONYMS.filter((line) => line.some((name) => name === word || (word.length > 3 && name.startsWith(word)))).flat()

const openSearch = async () => {
  if (searchDialog.open) return
  searchDialog.showModal()
  query.select()
  index ??= (await (await fetch('/docs/search.json')).json()).map((entry) => ({
    ...entry,
    parts: [entry.title, `${entry.kind} ${entry.words}`, entry.text].map((part) => part.toLowerCase()),
  }))
  showResults()
}

/** A title says more than a name, and a name more than a text. What was typed counts more than another name of it. */
const WEIGHTS = [9, 4, 2]
const TYPED = 5
const weightOf = (parts, name) => WEIGHTS[parts.findIndex((part) => part.includes(name))] ?? 0
/** 0 if a word is nowhere, under none of its names. */
const scoreOf = ({ parts }, words) =>
  words.reduce((score, { word, names }) => {
    const weight = Math.max(TYPED * weightOf(parts, word), ...names.map((name) => weightOf(parts, name)))
    return weight === 0 ? 0 : score && score + weight
  }, 1)

const BEFORE_LENGTH = 40
const TEXT_LENGTH = 140
/** The part of a text in which something was found, else its beginning. */
const excerptOf = ({ text, parts: [title, , body] }, words) => {
  const at = words
    .flatMap(({ word, names }) => (title.includes(word) ? [] : [word, ...names]))
    .map((name) => body.indexOf(name))
    .find((place) => place >= 0)
  const from = at === undefined || at < BEFORE_LENGTH ? 0 : body.indexOf(' ', at - BEFORE_LENGTH) + 1
  const part = text.slice(from, from + TEXT_LENGTH)
  return `${from > 0 ? '… ' : ''}${part}${from + TEXT_LENGTH < text.length ? ' …' : ''}`
}

const showResults = () => {
  const words = query.value
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => ({ word, names: namesOf(word) }))
  const found = index
    .map((entry) => ({ ...entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
  const shown = found.slice(0, SHOWN_MAX)
  find('#found').textContent = words.length === 0 ? '' : found.length === 0 ? 'Nothing found' : `${found.length} found`
  results.replaceChildren(
    ...shown.map((entry) =>
      element(
        'li',
        {},
        element(
          'a',
          { href: entry.href },
          element('strong', { textContent: entry.title }),
          element('span', { textContent: entry.kind }),
          element('span', { className: 'excerpt', textContent: excerptOf(entry, words) }),
        ),
      ),
    ),
  )
}

query.addEventListener('input', () => index && showResults())
searchDialog.addEventListener('keydown', (event) => {
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
find('[data-search]').addEventListener('click', openSearch)
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select') !== null
  const isShortcut = event.key === '/' ? !isTyping : event.key === 'k' && (event.metaKey || event.ctrlKey)
  if (!isShortcut) return
  event.preventDefault()
  openSearch()
})

find('.bar [data-login]').addEventListener('click', () => {
  if (!login) return openLogin()
  login = undefined
  showLogin()
})
for (const button of findAll('.bar [hidden]')) button.hidden = false
isNarrow.addEventListener('change', fitMenu)
fitMenu()
markCurrent(location.pathname)
enliven()
