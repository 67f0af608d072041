import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { faultsOf, hasBrowser, open, startBrowser, VIEWS } from '../browser.ts'
import { forFile } from '../harness.ts'
import { listening } from '../socket.ts'

/** The reference as a person meets it (decision 0083). */

let browser: Browser | undefined
const server = forFile(await listening())
if (hasBrowser) browser = await startBrowser()
afterAll(async () => {
  await browser?.close()
})

const inBrowser = (): Browser => {
  if (!browser) throw new Error('no browser')
  return browser
}

/** One page of each kind, the front page and a page that is not there among them. */
const PAGES = ['/', '/no-such', '/docs', '/docs/events/wallet.low', '/docs/guides/errors', '/docs/guides/no-such']

describe.skipIf(!hasBrowser)('the reference, in Chromium', () => {
  test.each(VIEWS)('has an operation without a fault that axe finds: $colorScheme, $width', async (view) => {
    const { page, context, wrong } = await open(inBrowser(), server.url, view)
    await page.goto('/docs/operations/createPayout')
    await page.locator('main details').evaluateAll((all) => {
      for (const one of all) one.setAttribute('open', '')
    })
    expect(await faultsOf(page)).toEqual([])
    expect(wrong).toEqual([])
    await context.close()
  })

  // Colours and widths are those of the operation: each kind of page once on a desk, and once in the dark on a phone.
  test.each(VIEWS.filter((_, index) => index % 3 === 0))(
    'has no page or dialog with a fault that axe finds: $colorScheme, $width',
    async (view) => {
      const { page, context, wrong } = await open(inBrowser(), server.url, view)
      for (const path of PAGES) {
        await page.goto(path)
        expect({ path, faults: await faultsOf(page) }).toEqual({ path, faults: [] })
      }
      await page.keyboard.press('/')
      await page.locator('#query').fill('payout')
      await page.locator('#results a').first().waitFor()
      expect(await faultsOf(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.locator('.bar [data-login]').click()
      expect(await faultsOf(page)).toEqual([])
      expect(wrong).toEqual([])
      await context.close()
    },
  )

  test('logs in, tries a call, and forgets the token with a reload', async () => {
    const { page, context, wrong } = await open(inBrowser(), server.url)
    await page.goto('/docs/operations/calculateCharges')
    await page.locator('[data-login-hint] button').click()
    await page.locator('#login [name=password]').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('These credentials are not right.').waitFor()
    await page.locator('#login [name=password]').fill('sandbox')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Log out sandbox' }).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.result .status').waitFor()
    expect(await page.locator('.result .status').textContent()).toBe('200')
    expect(await page.locator('.result pre').textContent()).toContain('"total_payable"')
    // The login holds on the next page, which is not a reload.
    await page.locator('nav').getByText('Wallets', { exact: true }).click()
    await page.locator('nav').getByText('List wallets').click()
    await page.getByRole('heading', { level: 1, name: 'List wallets' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/docs/operations/listWallets')
    await page.getByRole('button', { name: 'Send' }).click()
    expect(await page.locator('.result .status').textContent()).toBe('200')
    expect(await faultsOf(page)).toEqual([])
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([0, 0, ''])
    await page.reload()
    expect(await page.getByRole('button', { name: 'Log in' }).first().textContent()).toBe('Log in')
    expect(wrong).toEqual([])
    await context.close()
  })

  test('asks for a fault, before and after the work', async () => {
    const { page, context } = await open(inBrowser(), server.url)
    await page.goto('/docs/operations/createBeneficiary')
    await page.locator('.bar [data-login]').click()
    await page.locator('#login button[value=login]').click()
    await page.getByRole('button', { name: /Log out/ }).waitFor()
    await page.locator('select[name="header:X-Sandbox-Fault"]').selectOption('internal')
    const count = async () => {
      const token = await page.evaluate<string>(
        `fetch('/auth/login', { method: 'POST', body: '{"username":"sandbox","password":"sandbox"}' }).then((r) => r.json()).then((r) => r.access_token)`,
      )
      const list = await fetch(`${server.url}/api/v1/beneficiaries`, { headers: { authorization: `Bearer ${token}` } })
      return Number(list.headers.get('x-total-count'))
    }
    const send = async () => {
      await page.getByRole('button', { name: 'Send' }).click()
      await page.locator('.result .status').waitFor()
      return page.locator('.result .status').textContent()
    }
    const before = await count()
    expect(await send()).toBe('500')
    expect(await count()).toBe(before)
    await page.getByLabel('Do the work, and lose only its response').check()
    expect(await send()).toBe('500')
    expect(await count()).toBe(before + 1)
    await context.close()
  })

  test('asks for the token of a guarded sandbox once, and keeps it in memory', async () => {
    await using guarded = await listening('--sandbox-token', 'a-token')
    const { page, context, wrong } = await open(inBrowser(), guarded.url)
    const send = async () => {
      await page.getByRole('button', { name: 'Send' }).click()
      await page.locator('.result .status').waitFor()
      return page.locator('.result .status').textContent()
    }
    await page.goto('/docs/operations/getClock')
    expect(await send()).toBe('401')
    await page.getByLabel('X-Sandbox-Token').fill('a-token')
    expect(await send()).toBe('200')
    await page.locator('nav').getByText('List the worlds').click()
    await page.getByRole('heading', { level: 1, name: 'List the worlds' }).waitFor()
    expect(await send()).toBe('200')
    expect(await page.evaluate('[localStorage.length, sessionStorage.length]')).toEqual([0, 0])
    expect(wrong).toEqual([])
    await context.close()
  })

  test('is used with the keyboard alone: search, open, choose a language, go back', async () => {
    const { page, context, wrong } = await open(inBrowser(), server.url)
    await page.goto('/docs')
    await page.keyboard.press('/')
    await page.keyboard.type('rotate webhook')
    await page.locator('#results a').first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Get a new secret' }).waitFor()
    await page.getByRole('tab', { name: 'curl' }).focus()
    await page.keyboard.press('ArrowRight')
    expect(await page.locator('[role=tabpanel]:visible code').textContent()).toContain('await fetch(')
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: /Scrip API/ }).waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  test.each([
    ['lose', 'Testing with Scrip'],
    ['refund', 'POST /_sandbox'],
    ['retry', 'Idempot'],
    ['chargeback', 'refund'],
    ['gift card', 'voucher'],
  ])('finds by what people say: %s', async (said, found) => {
    const { page, context, wrong } = await open(inBrowser(), server.url)
    await page.goto('/docs')
    await page.keyboard.press('/')
    await page.keyboard.type(said)
    await page.locator('#results a').first().waitFor()
    expect(((await page.locator('#results').textContent()) ?? '').toLowerCase()).toContain(found.toLowerCase())
    expect(await faultsOf(page)).toEqual([])
    expect(wrong).toEqual([])
    await context.close()
  })

  test('shows what a server sends as text, whatever it holds', async () => {
    const { page, context, wrong } = await open(inBrowser(), server.url)
    const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202e'
    await page.route('**/status', (route) =>
      route.fulfill({ status: 200, contentType: 'text/html', headers: { 'x-said': '<b>' }, body: hostile }),
    )
    await page.goto('/docs/operations/getStatus')
    const title = await page.title()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.result pre').waitFor()
    expect(await page.locator('.result pre').textContent()).toBe(hostile)
    expect(await page.locator('.result img, .result b, .result script').count()).toBe(0)
    expect(await page.title()).toBe(title)
    expect(wrong).toEqual([])
    await context.close()
  })

  test('has no button over code, however long its lines', async () => {
    for (const view of VIEWS.filter(({ colorScheme }) => colorScheme === 'light')) {
      const { page, context } = await open(inBrowser(), server.url, view)
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
      await context.close()
    }
  })

  test('copies a block of code', async () => {
    const { page, context } = await open(inBrowser(), server.url)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto('/docs/guides/quickstart')
    const block = page.locator('.code').first()
    await block.getByRole('button').click()
    await block.getByText('Copied').waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(
      (await block.locator('code').textContent()) ?? '',
    )
    await context.close()
  })
})

describe.skipIf(!hasBrowser)('the reference of live mode, in Chromium', () => {
  test('offers no fault, and no guide of the sandbox', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'scrip-docs-'))
    const live = await listening('--mode', 'live', '--data-dir', folder)
    const { page, context, wrong } = await open(inBrowser(), live.url)
    for (const path of ['/docs', '/docs/operations/createPayout', '/docs/operations/login']) {
      await page.goto(path)
      expect(await faultsOf(page)).toEqual([])
      expect((await page.content()).match(/.{0,40}(?:sandbox|sbx_).{0,40}/gi)).toBeNull()
    }
    expect(wrong).toEqual([])
    await context.close()
    await live.stop()
    rmSync(folder, { recursive: true, force: true })
  })
})
