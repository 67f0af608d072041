import type { Page } from 'playwright-core'
import { hasBrowser, violationsIn } from '../browser.ts'
import { ConsoleBrowser, TOKEN } from '../sandbox/chromium.ts'
import type { Rig } from './report.ts'
import { serve } from './server.ts'

/**
 * Every page and state of the console in light and dark, on a desktop and a phone: axe finds nothing, nothing is wider than
 * the window, all is reached by the keyboard, no error is logged and no other host asked. A browser is needed: without
 * one the rig says so and finds nothing.
 */

const SCREENS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1_280, 390].map((width) => ({ colorScheme, viewport: { width, height: 844 } })),
)

/** A state of a page: its address, its content once it is loaded, and further actions. */
interface State {
  place: string
  shows: string
  act?: (page: Page) => Promise<unknown>
}

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).first().click()

const statesOf = (world: string): Record<string, State> => {
  const requests = `requests?world=${world}`
  const opened = (id: number) => `${requests}&id=${id}&of=${world}`
  return {
    requests: { place: requests, shows: '.row' },
    'requests, paused': { place: requests, shows: '.row', act: press('Pause') },
    'requests, resumed': { place: requests, shows: '.row', act: press('Resume') },
    'requests, none fits': {
      place: requests,
      shows: '.row',
      act: (page) => page.getByLabel('Search requests').fill('nothing'),
    },
    'requests, none': { place: 'requests?world=nobody', shows: '.feed > .lost' },
    'an order': { place: opened(3), shows: '.ledger', act: openAll },
    'a refusal': { place: opened(6), shows: '.request .code' },
    'a request that is gone': { place: opened(4_711), shows: '.failed' },
    faults: { place: `faults?world=${world}`, shows: '.choices li' },
    send: { place: `send?world=${world}&operation=placeOrder`, shows: 'textarea' },
    'no such world': { place: 'money?world=nope', shows: '.lost' },
    worlds: { place: `worlds?world=${world}`, shows: '.timeline' },
    'worlds, clock moved': {
      place: `worlds?world=${world}`,
      shows: '.timeline',
      act: async (page) => {
        await page.getByRole('button', { name: 'Advance the clock by 1 h' }).click()
        await page.getByText('What the last move did').waitFor()
      },
    },
    money: { place: `money?world=${world}`, shows: '.ledger' },
    'money, none spent': { place: 'money?world=nobody', shows: '[id^="wallet-"]' },
    events: { place: `events?world=${world}`, shows: '.webhook', act: openAll },
    'events, none': { place: 'events?world=nobody', shows: 'text=No client of this world' },
    coverage: { place: `coverage?world=${world}`, shows: '.map' },
  }
}

const openAll = (page: Page) =>
  page.evaluate(`document.querySelectorAll('main details').forEach((each) => { each.open = true })`)

/** The usable elements, read in the page. */
const USABLE = `[...document.querySelectorAll('a[href], button:enabled, input, select, summary, [tabindex="0"]')]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }))`

const LEFT = `[...window.left].filter((each) => each.isConnected && !each.disabled)
  .map((each) => each.outerHTML.slice(0, 120))`

/**
 * After the last element the browser has the focus, and gives it back to the first one some time later: presses until
 * then, and elements that come during a round, leave others to the next one.
 */
const ROUNDS = 3

/** The elements that the keyboard does not reach: Tab focuses each element that somebody can use. */
const unreachable = async (page: Page): Promise<string[]> => {
  await page.evaluate(`(() => {
    window.left = new Set(${USABLE})
    document.addEventListener('focusin', ({ target }) => window.left.delete(target))
    document.activeElement.blur()
    window.left.delete(document.activeElement)
  })()`)
  let left: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (let presses = Number(await page.evaluate(`${USABLE}.length`)); presses >= 0; presses--)
      await page.keyboard.press('Tab')
    left = (await page.evaluate(LEFT)) as string[]
    if (left.length === 0) break
  }
  return left
}

const look = async (page: Page, world: string, hasKeys: boolean): Promise<string[]> => {
  const found: string[] = []
  for (const [name, { place, shows, act }] of Object.entries(statesOf(world))) {
    await page.evaluate(`location.hash = ${JSON.stringify(place)}`)
    await page.locator(shows).first().waitFor({ state: 'attached' })
    await act?.(page)
    for (const violation of await violationsIn(page)) found.push(`${name}: ${violation}`)
    const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    if (Number(beyond) > 0) found.push(`${name}: is ${beyond} px wider than the window`)
    if (hasKeys) for (const element of await unreachable(page)) found.push(`${name}: not by keyboard: ${element}`)
  }
  return found
}

export const consolePages: Rig = async ({ isShort, progress }) => {
  if (!hasBrowser) return { tables: [[['no browser: nothing was looked at']]], findings: [] }
  const server = await serve(['--sandbox-token', TOKEN, '--rate-limit', 'off'])
  const consoles = await ConsoleBrowser.launch(`http://127.0.0.1:${server.port}`)
  await consoles.control('PUT', '/worlds/nobody')
  const findings: string[] = []
  const screens = [['screen', 'findings']]
  for (const screen of isShort ? SCREENS.slice(-1) : SCREENS) {
    const name = `${screen.colorScheme} ${screen.viewport.width}`
    progress(name)
    const page = await consoles.open('', screen)
    const found = await look(page, await consoles.filledWorld(), screen.colorScheme === 'dark')
    await page.context().close()
    screens.push([name, String(found.length)])
    findings.push(...found.map((finding) => `${name}: ${finding}`))
  }
  findings.push(...consoles.problems)
  await consoles.close()
  await server.stop()
  return { tables: [screens], findings }
}
