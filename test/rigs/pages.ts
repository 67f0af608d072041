import type { Page } from 'playwright-core'
import { violationsIn } from '../browser.ts'

/** The states of a page in Chromium: axe finds nothing, nothing is wider than the window, and all is reached by the keyboard. */

export const SCREENS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1_280, 390].map((width) => ({ colorScheme, viewport: { width, height: 844 } })),
)

/** A state of a page: its address, its content once it is loaded, and further actions. */
export interface State {
  place: string
  shows: string
  act?: (page: Page) => Promise<unknown>
}

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

/** The findings in some states of a page, which leads to each of them. */
export const look = async (page: Page, states: Record<string, State>, hasKeys: boolean): Promise<string[]> => {
  const found: string[] = []
  for (const [name, { place, shows, act }] of Object.entries(states)) {
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
