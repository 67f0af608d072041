import type { Page } from 'playwright-core'
import { hasBrowser } from '../browser.ts'
import { ConsoleBrowser, TOKEN } from '../sandbox/chromium.ts'
import { look, SCREENS, type State } from './pages.ts'
import type { Rig } from './report.ts'
import { serve } from './server.ts'

/**
 * Every page and state of the console in light and dark, on a desktop and a phone: axe finds nothing, nothing is wider than
 * the window, all is reached by the keyboard, no error is logged and no other host asked. A browser is needed: without
 * one the rig says so and finds nothing.
 */

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
    events: { place: `events?world=${world}`, shows: '[id^="event-"]', act: openAll },
    'events, none': { place: 'events?world=nobody', shows: 'text=No client of this world' },
    coverage: { place: `coverage?world=${world}`, shows: '.map' },
  }
}

const openAll = (page: Page) =>
  page.evaluate(`document.querySelectorAll('main details').forEach((each) => { each.open = true })`)

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
    const found = await look(page, statesOf(await consoles.filledWorld()), screen.colorScheme === 'dark')
    await page.context().close()
    screens.push([name, String(found.length)])
    findings.push(...found.map((finding) => `${name}: ${finding}`))
  }
  findings.push(...consoles.problems)
  await consoles.close()
  await server.stop()
  return { tables: [screens], findings }
}
