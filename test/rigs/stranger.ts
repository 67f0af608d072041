import type { Locator } from 'playwright-core'
import type { ConsoleBrowser } from '../sandbox/chromium.ts'
import { bytesOf, Connection } from './connection.ts'
import { logIn } from './server.ts'

/** From a failing test to its cause: what somebody does who has never seen the console, and how long that takes. */

/** The keystroke-level model (Card, Moran and Newell, 1983): to think, to point at something, and to press. */
const THINK_MS = 1_350
const POINT_MS = 1_100
const PRESS_MS = 200
/** 200 words a minute, as somebody reads who looks for something. */
const WORD_MS = 300

class Stranger {
  clicks = 0
  #spentMs = 0

  /** What the program takes counts as it is. */
  async waitFor(shown: Locator): Promise<void> {
    const startedMs = Date.now()
    await shown.waitFor()
    this.#spentMs += Date.now() - startedMs
  }

  async read(text: Locator): Promise<string> {
    await this.waitFor(text)
    const words = (await text.textContent()) ?? ''
    this.#spentMs += words.split(/\s+/).length * WORD_MS
    return words
  }

  async click(target: Locator): Promise<void> {
    await this.waitFor(target)
    this.clicks += 1
    this.#spentMs += THINK_MS + POINT_MS + PRESS_MS
    await target.click()
  }

  get seconds(): number {
    return this.#spentMs / 1_000
  }
}

const OTHERS = 300

/** A test that fails, as its order is refused, among others that pass. */
const runSuite = async (port: number): Promise<void> => {
  const connection = await Connection.open(port)
  const order = async (username: string, body: object) => {
    const headers = { Authorization: `Bearer ${await logIn(port, username)}` }
    return connection.send(bytesOf({ path: '/api/v1/orders', headers, body: JSON.stringify(body) }))
  }
  await order('sbx_checkout', { product_id: 2, denomination: 50, quantity: 1, ref: 'cart-1' })
  const { status } = await order('sbx_checkout', { product_id: 2, denomination: 50, quantity: 1, ref: 'cart-1' })
  if (status < 400) throw new Error(`the order was not refused: ${status}`)
  for (let n = 0; n < OTHERS; n++) await connection.send(bytesOf({ path: '/status' }))
  connection.close()
}

export interface WayToCause {
  clicks: number
  seconds: number
  cause: string
}

/** Opens what the terminal printed, and goes on with what is seen there. */
export const wayToCause = async (consoles: ConsoleBrowser, port: number): Promise<WayToCause> => {
  await runSuite(port)
  const stranger = new Stranger()
  const context = await consoles.browser.newContext({ viewport: { width: 1_280, height: 800 } })
  const page = await context.newPage()
  await page.goto(`http://127.0.0.1:${port}`)
  await stranger.read(page.locator('.lead'))
  await stranger.click(page.getByRole('link', { name: 'Open the console' }))
  await stranger.read(page.getByRole('navigation'))
  await stranger.read(page.locator('.row').first())
  await stranger.click(page.getByRole('button', { name: '4xx' }))
  const refused = page.locator('.row').first()
  await stranger.read(refused)
  await stranger.click(refused)
  const cause = await stranger.read(page.getByRole('region', { name: 'Body of the response' }))
  await context.close()
  return { clicks: stranger.clicks, seconds: stranger.seconds, cause }
}
