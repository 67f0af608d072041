import type { Page } from 'playwright-core'
import { ConsoleBrowser, hasChromium, TOKEN, violationsIn } from '../sandbox/chromium.ts'
import { percentile, progress, type Rig } from './report.ts'
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
const FRAMES = 300
const FRAME_MS_MAX = 16
/** Work of a page in one frame: what the browser itself reports of script, style and layout. */
const SCROLL = `new Promise((resolve) => {
  const list = document.querySelector('.list')
  const step = list.scrollHeight / ${FRAMES}
  const spent = []
  const next = (count) => {
    const began = performance.now()
    list.scrollTop += step
    list.dispatchEvent(new Event('scroll'))
    queueMicrotask(() => requestAnimationFrame(() => {
      list.getBoundingClientRect()
      const channel = new MessageChannel()
      channel.port1.onmessage = () => {
        spent.push(performance.now() - began)
        if (count < ${FRAMES}) requestAnimationFrame(() => next(count + 1))
        else resolve(spent)
      }
      channel.port2.postMessage(0)
    }))
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

/** How long the work of each frame takes while 10,000 requests are scrolled through. */
const scroll = async (consoles: ConsoleBrowser): Promise<number[]> => {
  const page = await consoles.open('')
  await page.locator('.row').first().waitFor()
  for (let sent = 0; sent < REQUESTS; sent += 100) {
    await Promise.all(Array.from({ length: 100 }, async () => (await consoles.request('/status')).text()))
  }
  await page.getByText('10,000 requests').waitFor()
  const spent: number[] = await page.evaluate(SCROLL)
  await page.context().close()
  return spent
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
  const frames = [['frames', 'median ms', 'p95 ms', 'longest ms']]
  if (!isShort) {
    const spent = await scroll(consoles)
    const [median, most, longest] = [percentile(spent, 0.5), percentile(spent, 0.95), Math.max(...spent)]
    frames.push([String(spent.length), median.toFixed(1), most.toFixed(1), longest.toFixed(1)])
    if (most > FRAME_MS_MAX) findings.push(`a frame of 10,000 requests takes ${most.toFixed(1)} ms`)
  }
  findings.push(...consoles.problems)
  await consoles.close()
  await server.stop()
  return { tables: [rows, frames], findings }
}
