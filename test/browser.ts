import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

/** Pages in a real browser, if one is installed: the first of these names, or the one in CHROMIUM. */

const CHROMIUM =
  process.env.CHROMIUM ?? ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => Bun.which(name) ?? [])[0]
/** A page that has not changed by then does not change. */
const WAIT_MS_MAX = 10_000

export const hasBrowser = CHROMIUM !== undefined

export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

/** The sizes and colours in which every page is checked. */
export const VIEWS = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'light', width: 390 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'dark', width: 390 },
] as const

export type View = (typeof VIEWS)[number]

/** A page, and its faults: errors in the console of the browser, and requests to other hosts. */
export interface Watched {
  page: Page
  context: BrowserContext
  wrong: string[]
}

export const open = async (
  browser: Browser,
  url: string,
  { colorScheme, width }: View = VIEWS[0],
): Promise<Watched> => {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 }, baseURL: url })
  context.setDefaultTimeout(WAIT_MS_MAX)
  const page = await context.newPage()
  const wrong: string[] = []
  watch(page, url, wrong)
  return { page, context, wrong }
}

/** Collects the faults of a page. */
export const watch = (page: Page, url: string, wrong: string[]): void => {
  page.on('console', (message) => {
    // A refusal that a person asks for by a form is shown in the console too.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) wrong.push(message.text())
  })
  page.on('pageerror', (error) => wrong.push(error.message))
  page.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(`${url}/`)) wrong.push(request.url())
  })
}

/** A condition in a page: its menu is scrolled so that the item of the current page, which has this title, is whole. */
export const currentIsShown = (title: string): string => `(() => {
  const item = document.querySelector('header nav [aria-current]')
  if (!item) return false
  const [{ left, right }, menu] = [item.getBoundingClientRect(), item.parentElement.getBoundingClientRect()]
  return item.textContent === ${JSON.stringify(title)} && left >= menu.left && right <= menu.right
})()`

/** The violations that axe finds in a page as it is now, by rule and element. */
export const violationsIn = (page: Page): Promise<string[]> =>
  page.evaluate(`${axe.source}
    axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 160))))`)

/** The faults of a page: violations, and a page wider than its window. */
export const faultsOf = async (page: Page): Promise<string[]> => {
  const violations = await violationsIn(page)
  const isTooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
  return isTooWide ? [...violations, 'wider than the window'] : violations
}
