import type { Browser, Page } from 'playwright-core'
import { startBrowser, watch } from '../browser.ts'
import { type Server, TestWorld } from '../harness.ts'

export const TOKEN = 'open sesame'
/** Markup, a character that turns the direction of text, and an escape of terminals. */
export const HOSTILE = '<img src=x onerror=alert(1)>\u202e\u001b[31m'
export const DELAYED_ORDER = { product_id: 5, denomination: 25, quantity: 2 }
export const PAYOUT = {
  reference_id: 'one',
  wallet_id: 1,
  amount: 10,
  currency: 'USD',
  beneficiary_email: 'ada@example.com',
  beneficiary_first_name: HOSTILE,
  beneficiary_last_name: 'Lovelace',
}

/** For one step in a page, in milliseconds. */
const PATIENCE_MS = 20_000

type ContextOptions = Parameters<Browser['newContext']>[0]

/** A server whose token is TOKEN, and a browser that shows its console. */
export class ConsoleBrowser {
  /** Errors on the console of any page, and requests to other hosts. */
  readonly problems: string[] = []
  #worlds = 0

  private constructor(
    private readonly url: string,
    readonly browser: Browser,
  ) {}

  static async launch(url: string): Promise<ConsoleBrowser> {
    return new ConsoleBrowser(url, await startBrowser())
  }

  close(): Promise<void> {
    return this.browser.close()
  }

  request: Server['request'] = (path, init) => fetch(this.url + path, init)

  world(): Promise<TestWorld> {
    this.#worlds += 1
    return TestWorld.open(this, `shown-${this.#worlds}`)
  }

  async control(method: string, path: string, body?: object): Promise<void> {
    const headers = { 'x-sandbox-token': TOKEN }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await this.request(`/_sandbox${path}`, init)
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  }

  /** The name of a world with every kind of record and event. */
  async filledWorld(): Promise<string> {
    const world = await this.world()
    const { name } = world
    const url = `${this.url}/_sandbox/inbox/shop?world=${name}`
    await world.post('/api/v1/webhooks', { name: HOSTILE, url, events: ['*'] })
    await world.post('/api/v1/orders', { product_id: 1, denomination: 100, quantity: 2, ref: 'first' })
    await world.post('/api/v1/orders', DELAYED_ORDER)
    await world.post('/api/v1/payouts', PAYOUT)
    await this.control('PUT', `/snapshots/of-${name}?world=${name}`)
    await this.control('POST', `/faults?world=${name}`, { error: 'rate_limited', times: 1 })
    await this.control('POST', `/webhooks/settle?world=${name}`)
    await world.post('/api/v1/products/1/charges', { denomination: 100, quantity: 2 })
    return name
  }

  /** Opens an address of the console in a new window, with the token of the sandbox. */
  async open(place: string, options: ContextOptions = {}): Promise<Page> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    await context.addInitScript(`sessionStorage.setItem('scrip-sandbox-token', ${JSON.stringify(TOKEN)})`)
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    watch(page, this.url, this.problems)
    await page.goto(`${this.url}/_sandbox/console${place}`)
    await page.locator('main#main').waitFor()
    return page
  }
}
