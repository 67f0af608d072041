import type { Page } from 'playwright-core'
import { ConsoleBrowser, hasChromium, TOKEN, violationsIn } from '../sandbox/chromium.ts'
import { progress, type Rig } from './report.ts'
import { serve } from './server.ts'

/**
 * Every page of the console in light and dark, on a desktop and a phone: axe finds nothing, nothing is wider than the
 * window, no error is logged and no other host asked. Then 10,000 requests are scrolled through. A browser is needed:
 * without one the rig says so and finds nothing.
 */

const SCREENS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1_280, 390].map((width) => ({ colorScheme, viewport: { width, height: 844 } })),
)

/** A place, and what it shows once it is loaded. */
const placesOf = (world: string): Record<string, string> => ({
  [`requests?world=${world}`]: '.row',
  [`requests?world=${world}&id=3&of=${world}`]: '.ledger',
  [`worlds?world=${world}`]: '.found li',
  [`money?world=${world}`]: '.ledger',
  [`events?world=${world}`]: '.webhook',
  [`coverage?world=${world}`]: '.outcomes',
  'json?path=/_sandbox/test-values': '.j-name',
})

const REQUESTS = 10_000
const AT_ONCE = 500
const FRAMES = 300
const FRAME_MS_MAX = 16
const SCROLL = `new Promise((resolve) => {
  const list = document.querySelector('.list')
  const step = list.scrollHeight / ${FRAMES}
  const next = (count) => {
    list.scrollTop += step
    requestAnimationFrame(() => (count < ${FRAMES} ? next(count + 1) : resolve()))
  }
  next(1)
})`

const look = async (page: Page, world: string): Promise<string[]> => {
  const found: string[] = []
  for (const [place, content] of Object.entries(placesOf(world))) {
    await page.evaluate(`location.hash = ${JSON.stringify(place)}`)
    await page.locator(content).first().waitFor()
    for (const violation of await violationsIn(page)) found.push(`${place}: ${violation}`)
    const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    if (Number(beyond) > 0) found.push(`${place}: is ${beyond} px wider than the window`)
  }
  return found
}

/** The processor time of a page for each frame while 10,000 requests are scrolled through, in milliseconds. */
const scroll = async (consoles: ConsoleBrowser): Promise<number> => {
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
  const before = await taskSeconds()
  await page.evaluate(SCROLL)
  const spentMs = ((await taskSeconds()) - before) * 1_000
  await page.context().close()
  return spentMs / FRAMES
}

export const consolePages: Rig = async ({ isShort }) => {
  if (!hasChromium) return { tables: [[['no browser: nothing was looked at']]], findings: [] }
  const server = await serve(['--sandbox-token', TOKEN, '--rate-limit', 'off'])
  const consoles = await ConsoleBrowser.launch(`http://127.0.0.1:${server.port}`)
  const findings: string[] = []
  const rows = [['screen', 'findings']]
  for (const screen of isShort ? SCREENS.slice(-1) : SCREENS) {
    const name = `${screen.colorScheme} ${screen.viewport.width}`
    progress(name)
    const page = await consoles.open('', screen)
    const found = await look(page, await consoles.filledWorld())
    await page.context().close()
    rows.push([name, String(found.length)])
    findings.push(...found.map((finding) => `${name}: ${finding}`))
  }
  const frames = [['frames', 'ms of processor time each']]
  if (!isShort) {
    const spentMs = await scroll(consoles)
    frames.push([String(FRAMES), spentMs.toFixed(1)])
    if (!(spentMs <= FRAME_MS_MAX)) findings.push(`a frame of 10,000 requests takes ${spentMs.toFixed(1)} ms`)
  }
  findings.push(...consoles.problems)
  await consoles.close()
  await server.stop()
  return { tables: [rows, frames], findings }
}
