import type { Page } from 'playwright-core'
import { hasBrowser, violationsIn } from '../browser.ts'
import type { Running } from '../program.ts'
import { ConsoleBrowser, TOKEN } from '../sandbox/chromium.ts'
import { costsOfPage } from './page-cost.ts'
import { percentile, type Rig } from './report.ts'
import { serve } from './server.ts'
import { wayToCause } from './stranger.ts'

/**
 * Every page and state of the console in light and dark, on a desktop and a phone: axe finds nothing, nothing is wider than
 * the window, all is reached by the keyboard, no error is logged and no other host asked. Then 10,000 requests are scrolled
 * through, a stranger looks for the cause of a failing test, and requests are measured with a page and without. A browser
 * is needed: without one the rig says so and finds nothing.
 */

const SCREENS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1_280, 390].map((width) => ({ colorScheme, viewport: { width, height: 844 } })),
)

/** A state of a page: its place, what it shows once it is loaded, and what somebody does then. */
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
    'requests, none': { place: 'requests?world=nobody', shows: '.feed > .empty' },
    'an order': { place: opened(3), shows: '.ledger', act: openAll },
    'a refusal': { place: opened(6), shows: '.request .code' },
    'a request that is gone': { place: opened(4_711), shows: '.failed' },
    'requests, by world': { place: 'requests?by=world', shows: '.group' },
    'a request on its own page': { place: `request?world=${world}&id=3`, shows: '.ledger' },
    'two requests': { place: `${opened(3)}&beside=4`, shows: '.part ins' },
    faults: { place: `faults?world=${world}`, shows: '.choices li' },
    send: { place: `send?world=${world}&operation=placeOrder`, shows: 'textarea' },
    'no such world': { place: 'money?world=nope', shows: '.lost' },
    worlds: { place: `worlds?world=${world}`, shows: '.due' },
    'worlds, clock moved': {
      place: `worlds?world=${world}`,
      shows: '.due',
      act: async (page) => {
        await page.getByRole('button', { name: 'Advance the clock by 1 h' }).click()
        await page.getByText('What the last move did').waitFor()
      },
    },
    money: { place: `money?world=${world}`, shows: '.ledger' },
    'money, none spent': { place: 'money?world=nobody', shows: '.wallet' },
    events: { place: `events?world=${world}`, shows: '.webhook', act: openAll },
    'events, none': { place: 'events?world=nobody', shows: 'text=A receiver in ten lines' },
    coverage: { place: `coverage?world=${world}`, shows: '.outcomes' },
    'an address without a page': { place: 'json?path=/_sandbox/test-values', shows: '.j-name' },
  }
}

const openAll = (page: Page) =>
  page.evaluate(`document.querySelectorAll('main details').forEach((each) => { each.open = true })`)

/** In the page: what somebody can use. */
const USABLE = `[...document.querySelectorAll('a[href], button:enabled, input, select, summary, [tabindex="0"]')]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }))`

const LEFT = `[...window.left].filter((each) => each.isConnected && !each.disabled)
  .map((each) => each.outerHTML.slice(0, 120))`

/**
 * After the last element the browser has the focus, and gives it back to the first one some time later: presses until
 * then, and elements that come during a round, leave others to the next one.
 */
const ROUNDS = 3

/** What the keyboard does not reach: each element that somebody can use gets the focus by Tab. */
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

const REQUESTS = 10_000
const AT_ONCE = 500
const FRAMES = 300
const FRAME_MS_MAX = 16
const SCROLL = `new Promise((resolve) => {
  const list = document.querySelector('.list')
  list.scrollTop += list.scrollHeight / ${FRAMES}
  requestAnimationFrame(() => requestAnimationFrame(resolve))
})`

/** The processor time of a page for each frame while 10,000 requests are scrolled through, in milliseconds. */
const scroll = async (consoles: ConsoleBrowser): Promise<number[]> => {
  const page = await consoles.open('')
  await page.getByText('Live').waitFor()
  for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE - 1 }, async () => (await consoles.request('/status')).text()))
    // Faster than they are shown, requests would be skipped.
    await (await consoles.request(`/status?sent=${sent}`)).text()
    await page.locator('.row', { hasText: `/status?sent=${sent}` }).waitFor()
  }
  const profile = await page.context().newCDPSession(page)
  await profile.send('Performance.enable', { timeDomain: 'threadTicks' })
  const taskSeconds = async (): Promise<number> => {
    const { metrics } = await profile.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
  }
  const frames: number[] = []
  for (let frame = 0; frame < FRAMES; frame++) {
    const before = await taskSeconds()
    await page.evaluate(SCROLL)
    frames.push(((await taskSeconds()) - before) * 1_000)
  }
  await page.context().close()
  return frames
}

const SECONDS_MAX = 30
const RATIO_MAX = 1.05
const PAIRS = 120

/** With a server of its own, which asks for no token, as a stranger has it. */
const lookForCause = async (isTimed: boolean): Promise<{ row: string[]; findings: string[] }> => {
  const server = await serve(['--rate-limit', 'off'])
  const consoles = await ConsoleBrowser.launch(`http://127.0.0.1:${server.port}`)
  const { clicks, seconds, cause } = await wayToCause(consoles, server.port)
  await consoles.close()
  await server.stop()
  const findings = cause.includes('reference') ? [] : [`the cause is not told: ${cause}`]
  if (isTimed && seconds > SECONDS_MAX) findings.push(`from a failing test to its cause: ${seconds.toFixed(0)} s`)
  return { row: [String(clicks), seconds.toFixed(1)], findings }
}

const costs = async (server: Running): Promise<{ rows: string[][]; findings: string[] }> => {
  const found = await costsOfPage(server, { 'x-sandbox-token': TOKEN }, PAIRS)
  const rows = found.map(({ name, closedMs, ratio }) => [name, (closedMs * 1_000).toFixed(0), ratio.toFixed(3)])
  const findings = found
    .filter(({ ratio }) => !(ratio <= RATIO_MAX))
    .map(({ name, ratio }) => `${name}: costs ${ratio.toFixed(3)} times as much while a page is open`)
  return { rows, findings }
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
  const path = await lookForCause(!isShort)
  findings.push(...path.findings, ...consoles.problems)
  const tables = [screens, [['clicks to the cause', 'seconds'], path.row]]
  if (!isShort) {
    progress('10,000 requests')
    const frames = await scroll(consoles)
    const [median, late] = [percentile(frames, 0.5), percentile(frames, 0.99)]
    tables.push([
      ['frames', 'processor time: median', '99 of 100'],
      [String(FRAMES), `${median.toFixed(1)} ms`, `${late.toFixed(1)} ms`],
    ])
    if (!(late <= FRAME_MS_MAX)) findings.push(`a frame of 10,000 requests takes ${late.toFixed(1)} ms`)
    progress('with a page, and without')
    const measured = await costs(server)
    tables.push([['µs of processor time', 'no page', 'a page: ratio'], ...measured.rows])
    findings.push(...measured.findings)
  }
  await consoles.close()
  await server.stop()
  return { tables, findings }
}
