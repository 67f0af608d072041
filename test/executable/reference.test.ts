import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { faultsOf, hasBrowser, open, startBrowser, VIEWS } from '../browser.ts'
import { forFile } from '../harness.ts'
import { temporaryFolder } from '../program.ts'
import { listening } from '../socket.ts'

/** The reference in a browser (decision 83). */

let browser: Browser | undefined
const server = forFile(await listening())
if (hasBrowser) browser = await startBrowser()
afterEach(async () => {
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()))
})
afterAll(async () => {
  await browser?.close()
})

const inBrowser = (): Browser => {
  if (!browser) throw new Error('no browser')
  return browser
}

/** One page of each kind, including the front page and a missing page. */
const PAGES = ['/', '/docs', '/docs/events/wallet.low', '/docs/guides/errors', '/docs/guides/no-such']
const OPERATION = '/docs/operations/createPayout'

describe.skipIf(!hasBrowser)('the reference, in Chromium', () => {
  test.each(VIEWS)('has no page or dialog with a fault that axe finds: $colorScheme, $width', async (view) => {
    const { page, wrong } = await open(inBrowser(), server.url, view)
    // The page of an operation shows all colours and widths; every other kind is checked once wide, and once dark and narrow.
    for (const path of VIEWS.indexOf(view) % 3 === 0 ? [OPERATION, ...PAGES] : [OPERATION]) {
      await page.goto(path)
      await page.evaluate(`document.querySelectorAll('main details').forEach((each) => { each.open = true })`)
      expect({ path, faults: await faultsOf(page) }).toEqual({ path, faults: [] })
    }
    await page.goto('/docs')
    await page.keyboard.press('/')
    await page.getByLabel('Find').fill('payout')
    await page.getByRole('option').first().waitFor()
    expect(await faultsOf(page)).toEqual([])
    expect(wrong).toEqual([])
  })

  test('leads to the form of the console, where the operation is sent', async () => {
    const { page, wrong } = await open(inBrowser(), server.url)
    await page.goto('/docs/operations/calculateCharges')
    await page.getByRole('link', { name: 'Try it' }).click()
    await page.getByRole('button', { name: /^Send in / }).click()
    await page.getByRole('region', { name: 'Body of the response' }).getByText('"total_payable"').waitFor()
    expect(wrong).toEqual([])
  })

  test('is used with the keyboard alone: search, open, go back', async () => {
    const { page, wrong } = await open(inBrowser(), server.url)
    await page.goto('/docs')
    await page.keyboard.press('/')
    await page.keyboard.type('rotate webhook')
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Get a new secret' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: /Scrip API/ }).waitFor()
    await page.goto('/docs/operations/createPayout#payouts.duplicate_reference')
    await page.getByText('"Duplicate reference_id"').waitFor()
    expect(wrong).toEqual([])
  })

  test('has no button over code, however long its lines', async () => {
    for (const view of VIEWS.filter(({ colorScheme }) => colorScheme === 'light')) {
      const { page } = await open(inBrowser(), server.url, view)
      for (const path of ['/docs/guides/webhooks', '/docs/operations/createOrder']) {
        await page.goto(path)
        const covered = await page.locator('.code').evaluateAll((blocks) =>
          blocks.filter((block) => {
            const [code, button] = ['pre', 'button'].map((name) => block.querySelector(name)?.getBoundingClientRect())
            return code && button && code.right > button.left && code.top < button.bottom
          }),
        )
        expect(covered).toEqual([])
      }
    }
  })

  test('copies a block of code', async () => {
    const { page, context } = await open(inBrowser(), server.url)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto('/docs/guides/quickstart')
    const block = page.locator('.code').first()
    await block.getByRole('button').click()
    await page.getByText('Copied the code').waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(
      (await block.locator('code').textContent()) ?? '',
    )
  })
})

describe.skipIf(!hasBrowser)('the reference of live mode, in Chromium', () => {
  test('shows nothing of the sandbox', async () => {
    using temporary = temporaryFolder()
    const folder = temporary.path
    const live = await listening('--mode', 'live', '--data-dir', folder)
    const { page, wrong } = await open(inBrowser(), live.url)
    for (const path of ['/', '/docs/operations/createPayout', '/docs/operations/login']) {
      await page.goto(path)
      expect(await faultsOf(page)).toEqual([])
      expect((await page.content()).match(/.{0,40}(?:sandbox|sbx_).{0,40}/gi)).toBeNull()
    }
    expect(wrong).toEqual([])
    await live.stop()
  })
})
