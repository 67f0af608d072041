import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { freshActId } from '../../src/kernel/ids.ts'
import type { ActForm } from '../../src/pages/act-form.ts'
import { bearer, COMMAND, run, start } from '../program.ts'
import { ask } from '../socket.ts'
import { Desk, type Done, Session } from './desk.ts'
import { asOperator, codesOf, type Operator, operatorTest, stockedTest, TEA } from './live.ts'

/** The desk of the executable (contract C20): access, pages and acts. */

const deskTest = (sentence: string, work: (session: Session, operator: Operator, desk: Desk) => Promise<void>): void =>
  stockedTest(sentence, async (operator) => {
    await using desk = await Desk.of(operator)
    await work(await desk.enter(), operator, desk)
  })

describe('scrip desk', () => {
  test.each([
    ['no text', ' '],
    ['501 characters', 'x'.repeat(501)],
    ['a control character', 'Rewards\u001b[2J'],
  ])('refuses an --issuer of %s: exit 2', async (_, issuer) => {
    const refused = await run(['desk', '--data-dir', 'data', '--issuer', issuer])
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain('An issuer has 1 to 500 characters; of control characters, only line ends.')
    expect(refused.stderr).not.toContain('\u001b')
  })

  operatorTest('refuses a folder that is not there, and makes none: exit 4', async (operator) => {
    const refused = await operator.run(['desk', '--desk-port', '0'])
    const problem = `scrip: ${operator.dataDir} contains no database\nCheck the name, or create one: scrip client add NAME --data-dir ${operator.dataDir}.\n`
    expect(refused).toEqual({ exitCode: 4, stdout: '', stderr: problem })
    expect(existsSync(operator.dataDir)).toBe(false)
  })

  stockedTest('prints one address on loopback that becomes a cookie and works once', async (operator) => {
    await using desk = await Desk.of(operator)
    expect(desk.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/enter\?token=[\w-]{43}$/)
    expect((await fetch(`${desk.url}/`)).status).toBe(403)
    // A program that checks whether the address exists does not use it up.
    expect((await fetch(desk.address, { method: 'HEAD' })).status).toBe(403)
    const first = await fetch(desk.address)
    const { port } = new URL(desk.url)
    expect([first.status, first.headers.get('set-cookie')]).toEqual([
      200,
      expect.stringMatching(
        new RegExp(`^scrip-desk-${port}=[\\w-]{43}; Max-Age=43200; HttpOnly; SameSite=Strict; Path=/$`),
      ),
    ])
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(first.headers.get('referrer-policy')).toBe('no-referrer')
    expect(first.headers.get('content-security-policy')).toContain("default-src 'none'")
    const again = await fetch(desk.address)
    expect([again.status, again.headers.get('set-cookie')]).toEqual([403, null])
  })

  stockedTest('prints another address at Enter, which lets another browser in beside the first', async (operator) => {
    const args = ['desk', '--desk-port', '0', '--data-dir', operator.dataDir]
    const child = Bun.spawn([...COMMAND, ...args], { stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' })
    try {
      const printed = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
      const next = async (): Promise<string> => (await printed.read()).value?.trimEnd() ?? ''
      const unused = await next()
      child.stdin.write('\n')
      const first = await Session.at(await next())
      expect((await fetch(unused)).status).toBe(403)
      child.stdin.write('\n')
      const second = await Session.at(await next())
      for (const session of [first, second]) expect((await session.request('/data/today')).status).toBe(200)
    } finally {
      child.kill()
      await child.exited
    }
  })

  deskTest('logs a browser out, and others not', async (session, operator, desk) => {
    const gone = await session.request('/data/logout', { method: 'POST' })
    const { port } = new URL(desk.url)
    expect([gone.status, gone.headers.get('set-cookie')]).toEqual([
      204,
      `scrip-desk-${port}=; Max-Age=0; HttpOnly; SameSite=Strict; Path=/`,
    ])
    expect((await session.request('/data/today')).status).toBe(403)
    const page = await session.request('/')
    expect([page.status, await page.text()]).toEqual([403, expect.stringContaining('Press Enter in the terminal')])
    expect(await operator.json<object[]>('audit', 'list', '--command', 'desk')).toEqual([])
  })

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    stockedTest(`ends its sessions with the command, at ${signal}`, async (operator) => {
      const desk = await Desk.of(operator)
      const session = await desk.enter()
      desk.running.signal(signal)
      expect((await desk.running.ended()).exitCode).toBe(0)
      await using next = await Desk.of(operator)
      const { cookie = '', ...key } = session.headers
      const [, secret] = cookie.split('=')
      const kept = { ...key, cookie: `scrip-desk-${new URL(next.url).port}=${secret}` }
      expect((await fetch(`${next.url}/data/today`, { headers: kept })).status).toBe(403)
    })

  operatorTest('is of live folders: on the folder of a sandbox it ends with 4', async (operator) => {
    await (await start(['--data-dir', operator.dataDir])).stop()
    const refused = await operator.run(['desk', '--desk-port', '0'])
    expect(refused).toMatchObject({ exitCode: 4, stdout: '' })
    expect(refused.stderr).toContain('works in live mode only')
  })

  test('needs a folder, and takes no flag of the server', async () => {
    expect(await run(['desk'])).toMatchObject({ exitCode: 2, stdout: '' })
    expect(await run(['desk', '--port', '1', '--data-dir', '/none'])).toMatchObject({ exitCode: 2, stdout: '' })
  })

  test('is not served on the port of the server', () =>
    asOperator(async (operator) => {
      const { server } = await operator.trading()
      await using _server = server
      for (const path of ['/enter', '/data/today', '/page.js']) expect((await server.request(path)).status).toBe(404)
    }))
})

describe('a request that its page does not send', () => {
  deskTest('gets 400 and does nothing', async (session, operator) => {
    const id = 'act_0123456789abcdef'
    const fund = { id, command: 'wallet fund', input: { id: '1', amount: '1' } }
    const acts = [
      '{',
      'null',
      '{}',
      JSON.stringify({ acts: [fund] }),
      JSON.stringify({ acts: [null], isDryRun: false }),
      JSON.stringify({ acts: [{ id, command: 'wallet fund' }], isDryRun: false }),
      JSON.stringify({ acts: [{ ...fund, id: 'act_1' }], isDryRun: false }),
      JSON.stringify({ acts: [fund], isDryRun: false, seen: 'x' }),
    ].map((body) => ['acts', { method: 'POST', body }] as const)
    const error = 'the desk cannot read this request\nReload its page.'
    const rows = await operator.json('audit', 'list')
    for (const [path, init] of [...acts, ['record/wallets/%', {}] as const]) {
      const response = await session.request(`/data/${path}`, init)
      expect({ path, status: response.status, body: await response.json() }).toEqual({
        path,
        status: 400,
        body: { error },
      })
    }
    expect(await operator.json('audit', 'list')).toEqual(rows)
  })
})

describe('twenty tries from elsewhere', () => {
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address

  deskTest('get 403, change nothing and learn nothing', async (session, operator, desk) => {
    const { cookie = '', 'x-desk-key': key = '' } = session.headers
    const { host, port } = new URL(desk.url)
    const fund = JSON.stringify({
      acts: [{ command: 'wallet fund', input: { id: '1', amount: '1' } }],
      isDryRun: false,
    })
    const post = (headers: Record<string, string>) => ['/data/acts', { method: 'POST', body: fund, headers }] as const
    const get = (path: string, headers: Record<string, string>) => [path, { headers }] as const
    const all = session.headers
    const tries: (readonly [path: string, init: RequestInit])[] = [
      // Without the cookie and key of the browser.
      get('/data/today', {}),
      get('/data/today', { cookie }),
      get('/data/today', { 'x-desk-key': key }),
      get('/data/today', { ...all, cookie: cookie.slice(0, -1) }),
      get('/data/today', { ...all, 'x-desk-key': `${key}A` }),
      get('/', {}),
      get('/page.js', {}),
      get('/docs/style.css', {}),
      get('/enter', all),
      get('/enter?token=', all),
      get(new URL(desk.address).pathname + new URL(desk.address).search, {}),
      post({ cookie }),
      // From another page.
      post({ ...all, origin: 'https://example.com' }),
      post({ ...all, origin: 'null' }),
      post({ ...all, origin: `http://127.0.0.1:${Number(port) - 1}` }),
      post({ ...all, 'sec-fetch-site': 'same-site' }),
      get('/data/today', { ...all, 'sec-fetch-site': 'cross-site' }),
      // Under another name, as a page does whose name resolves to this machine.
      get('/data/today', { ...all, host: 'example.com' }),
      get('/', { cookie, host: `desk.example.com:${port}` }),
      get('/data/today', { ...all, host: `127.0.0.1.example.com:${port}` }),
      // Under what makes no name.
      get('/data/today', { ...all, host: `user@127.0.0.1:${port}` }),
      get('/', { host: 'a, b' }),
    ]
    expect(tries).toHaveLength(22)
    const before = await operator.json<object[]>('audit', 'list')
    for (const [path, init] of tries) {
      const response = await fetch(desk.url + path, init)
      const body = await response.text()
      expect({ path, init, status: response.status }).toEqual({ path, init, status: 403 })
      expect(body).not.toContain(key)
      expect(response.headers.get('set-cookie')).toBeNull()
    }
    expect(await ask(desk.url, 'GET /data/today HTTP/1.1\r\nHost:\r\n\r\n')).toMatchObject({ status: 403 })
    expect(desk.running.log().split('\n')).toHaveLength(2) // the address, and nothing of these
    if (outside !== undefined) await expect(fetch(`http://${outside}:${port}/`)).rejects.toThrow()
    expect(await operator.json<object[]>('audit', 'list')).toEqual(before)
    // The browser that was let in still has access.
    expect((await session.request('/data/today', { headers: { origin: `http://${host}` } })).status).toBe(200)
  })
})

interface Rows {
  rows: Record<string, unknown>[]
  total: number
}

interface Statement extends Rows {
  sums: Rows
}

interface Story {
  row: Record<string, unknown>
  seen: number
  acts: string[]
  steps: { at: string | null; name: string; note: string | null }[]
  entries: { lines: { amount: number }[] }[]
  events: { type: string }[]
  audit: Rows
}

const rowsIn = (done: Done | undefined) => (done?.result?.rows ?? []) as Rows['rows']

const wallet = async (session: Session): Promise<unknown> => {
  const { rows } = await session.read<Rows>('list/wallets')
  return rows[0]?.amount
}

describe.each(['by a server', 'without a server'])('the desk acts %s', (how) => {
  const actTest = (sentence: string, work: Parameters<typeof deskTest>[1]): void =>
    deskTest(sentence, async (session, operator, desk) => {
      const server = how === 'by a server' ? await operator.serve() : undefined
      try {
        await work(session, operator, desk)
      } finally {
        await server?.stop()
      }
    })

  actTest('as the command does, with the same row of the audit', async (session, operator) => {
    await operator.json('wallet', 'fund', '1', '5', '--remarks', 'By hand')
    const id = freshActId()
    const input = { id: '1', amount: '5', remarks: 'By hand' }
    const [done] = await session.ask([{ id, command: 'wallet fund', input }])
    expect(done?.refusal).toBeUndefined()
    const [ofDesk, ofCommand] = await operator.json<Record<string, unknown>[]>('audit', 'list', '--limit', '2')
    const told = ({ user, command, subject, outcome, address }: Record<string, unknown>) => ({
      ...{ user, command, subject, outcome, address },
    })
    expect(told(ofDesk ?? {})).toEqual(told(ofCommand ?? {}))
    expect(ofDesk?.act).toBe(id)
    expect(await wallet(session)).toBe('1,010.00 USD')
  })

  actTest('on money only after it has said amount, wallet and balance', async (session) => {
    const fund = { id: freshActId(), command: 'wallet fund', input: { id: '1', amount: '12.50' } }
    const [said] = await session.ask([fund], true)
    expect(said?.notes).toEqual([
      'Wallet 1 of acme receives 12.50 USD. Its balance is then 1,012.50 USD.',
      'Dry run: nothing was changed.',
    ])
    expect(await wallet(session)).toBe('1,000.00 USD')
    await session.ask([fund])
    expect(await wallet(session)).toBe('1,012.50 USD')
  })

  actTest('once, however often the same form is sent', async (session) => {
    const fund = { id: freshActId(), command: 'wallet fund', input: { id: '1', amount: '12.50' } }
    await session.ask([fund], true)
    await Promise.all([session.ask([fund]), session.ask([fund]), session.ask([fund])])
    expect(await wallet(session)).toBe('1,012.50 USD')
  })

  actTest('never twice for two desks that look at the same record', async (session, operator) => {
    await using other = await Desk.of(operator)
    const second = await other.enter()
    const { seen } = await session.read<Story>('record/wallets/1')
    const fund = { command: 'wallet fund', input: { id: '1', amount: '100' } }
    const both = [session.ask([fund], false, seen), second.ask([fund], false, seen)]
    const ends = (await Promise.all(both)).flat()
    expect(ends.filter(({ refusal }) => refusal === undefined)).toHaveLength(1)
    expect(ends.flatMap(({ refusal }) => refusal ?? [])).toEqual([
      expect.stringContaining('has done scrip wallet fund 1 100 in the meantime\nReview it first.'),
    ])
    expect(await wallet(session)).toBe('1,100.00 USD')
    const rows = await operator.json<{ outcome: string }[]>('audit', 'list', '--command', 'wallet fund')
    expect(rows.map(({ outcome }) => outcome)).toEqual(['refused', 'done', 'done'])
  })

  actTest('or says why not and what to do, which is a row of the audit too', async (session, operator) => {
    const [refused] = await session.ask([{ command: 'payouts advance', input: { id: 'pyt_none' } }])
    expect(refused).toMatchObject({ refusal: 'there is no payout pyt_none\nSee scrip payouts list.' })
    const [row] = await operator.json<Record<string, unknown>[]>('audit', 'list', '--limit', '1')
    expect(row).toMatchObject({ command: 'payouts advance', subject: 'pyt_none', outcome: 'refused' })
    const [misused] = await session.ask([{ command: 'wallet fund', input: { id: '1', amount: 'much' } }])
    expect(misused?.refusal).toContain("'much' is not an amount in USD")
    const alone = await session.ask([{ command: 'vouchers rekey' }, { command: 'backup' }, { command: 'toString' }])
    for (const { refusal } of alone) expect(refusal).toContain('there is no act')
  })

  actTest('with the text of a file: all of it or nothing', async (session) => {
    const codes = codesOf(1, 'TEA-8', 'TEA-9')
    const [done] = await session.ask([{ command: 'vouchers import', input: { file: 'codes.jsonl' }, file: codes }])
    expect(done?.result).toEqual({ imported: 2 })
    const [refused] = await session.ask([
      { command: 'vouchers import', input: { file: 'codes.jsonl' }, file: `${codes}oops` },
    ])
    expect(refused?.refusal).toContain('codes.jsonl')
    const { rows } = await session.read<Rows>('list/stock?search=Tea')
    expect(rows).toEqual([expect.objectContaining({ product: 'Tea', denomination: '10.00 USD', available: 5 })])
  })
})

test('many acts go on without those that are refused, and are summed by wallet and currency', () =>
  asOperator(async (operator) => {
    const { server, customer } = await operator.trading()
    await using _server = server
    await using desk = await Desk.of(operator)
    const session = await desk.enter()
    const ids = [(await customer.payout('p-1')).id, 'pyt_none', (await customer.payout('p-2')).id]
    const acts = ids.map((id) => ({ id: freshActId(), command: 'payouts advance', input: { id, to: 'completed' } }))
    const sum = { wallet_id: 1, client: 'acme', records: 2, amount: '200.00 USD', total: '203.00 USD' }
    const said = await session.lines(acts, true)
    expect(said.map(({ ended, sums }) => ended?.refusal ?? sums?.rows ?? ended?.result?.status)).toEqual([
      'completed',
      'there is no payout pyt_none\nSee scrip payouts list.',
      'completed',
      [{ ...sum, balance: '797.00 USD', reserved: '203.00 USD' }],
    ])
    expect(await operator.json<object[]>('payouts', 'list', '--status', 'completed')).toEqual([])
    const done = await session.lines(acts)
    expect(done.map(({ ended, sums }) => ended?.refusal ?? sums?.rows ?? ended?.result?.status)).toEqual([
      'completed',
      'there is no payout pyt_none\nSee scrip payouts list.',
      'completed',
      [{ ...sum, balance: '797.00 USD', reserved: '0.00 USD' }],
    ])
    await session.lines(acts)
    const [first] = await operator.json<{ id: string }[]>('payouts', 'list', '--status', 'completed')
    expect(await operator.json('audit', 'list', '--command', 'payouts advance')).toHaveLength(3)
    expect(first?.id).toBe(ids[2] ?? '')
  }))

describe('the desk shows', () => {
  test(
    'who made each step, of two operators in the same second',
    () =>
      asOperator(async (operator) => {
        const { server, customer } = await operator.trading()
        await using _server = server
        await using desk = await Desk.of(operator)
        const session = await desk.enter()
        const payout = await customer.payout('bonus-1')
        const ordered = await customer.order(2, 2)
        const other = { env: { SUDO_UID: '54321' } }
        const advance = ['payouts', 'advance', payout.id]
        await operator.run([...advance, '--to', 'processing'], other)
        await operator.run(advance)
        await operator.run([...advance, '--to', 'completed'], other)
        await operator.run(['orders', 'deliver', String(ordered.id), '1'], other)
        await operator.run(['orders', 'deliver', String(ordered.id)])
        await operator.run(['orders', 'refund', String(ordered.id)], other)
        const [, delivering] = await operator.json<{ user: string }[]>('audit', 'list', '--limit', '2')
        const [self, second] = [delivering?.user, `${delivering?.user} by 54321`]
        const stepsOf = async (path: string) =>
          (await session.read<Story>(`record/${path}`)).steps.map(({ name, note }) => [name, note])
        expect(await stepsOf(`payouts/${payout.id}`)).toEqual([
          ['created', 'by acme'],
          ...['queued', 'processing'].map((name) => [name, `by ${second}, scrip payouts advance`]),
          ['submitted', `by ${self}, scrip payouts advance`],
          ...['settling', 'completed'].map((name) => [name, `by ${second}, scrip payouts advance`]),
        ])
        expect(await stepsOf(`orders/${ordered.id}`)).toEqual([
          ['placed', 'by acme'],
          ['deliver', `by ${second}`],
          ['delivered', `by ${self}, scrip orders deliver`],
          ['refund', `by ${second}`],
        ])
      }),
    60_000,
  )

  test('a record with its whole history, found by any of its ids and names', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      await using _server = server
      await using desk = await Desk.of(operator)
      const session = await desk.enter()
      const payout = await customer.payout('bonus-1')
      await customer.order(2, 2)
      await operator.json('payouts', 'advance', payout.id, '--to', 'completed')
      const [event] = await customer.read<{ id: string }[]>('/events?type=payout.completed')
      for (const hand of ['bonus-1', payout.id, '100', 'ada@example.com', event?.id ?? '', 'BONUS']) {
        const found = await session.read<(Rows & { name: string })[]>(`search?search=${encodeURIComponent(hand)}`)
        const ids = found.flatMap(({ rows }) => rows.map(({ id, source_id }) => source_id ?? id))
        expect({ hand, ids }).toEqual({ hand, ids: expect.arrayContaining([hand === event?.id ? hand : payout.id]) })
      }
      expect(await session.read<object[]>('search?search=nobody-has-this')).toEqual([])
      const { headers } = bearer(customer.pair)
      const cancellation = { method: 'POST', headers: { ...headers, 'x-request-id': 'in-hand-7' } }
      await server.request(`/api/v1/payouts/${(await customer.payout('bonus-2')).id}/cancel`, cancellation)
      expect(await session.read<object[]>('search?search=in-hand-7')).toEqual([
        expect.objectContaining({
          name: 'events',
          rows: [
            expect.objectContaining({ type: 'payout.cancelled' }),
            expect.objectContaining({ type: 'wallet.credited' }),
          ],
        }),
      ])
      const story = await session.read<Story>(`record/payouts/${payout.id}`)
      expect(story.row).toMatchObject({
        reference_id: 'bonus-1',
        client: 'acme',
        status: 'completed',
        amount: '100.00 USD',
        fee: '1.50 USD',
        total: '101.50 USD',
        wallet_id: 1,
      })
      const waiting = await session.read<Story>(`record/payouts/${(await customer.payout('waits')).id}`)
      expect(waiting.steps.map(({ at, name }) => [name, at !== null])).toEqual([
        ['created', true],
        ...['queued', 'processing', 'submitted', 'settling', 'completed'].map((name) => [name, false]),
      ])
      expect(story.acts).toEqual(['payouts return'])
      expect(story.steps.map(({ name }) => name)).toEqual([
        ...['created', 'queued', 'processing', 'submitted', 'settling', 'completed'],
      ])
      expect(story.steps[0]?.note).toBe('by acme')
      expect(story.steps.at(-1)?.note).toMatch(/^by .+, scrip payouts advance$/)
      for (const { lines } of story.entries) expect(lines.reduce((sum, { amount }) => sum + amount, 0)).toBeCloseTo(0)
      expect(story.entries.length).toBeGreaterThan(1)
      expect(story.events.map(({ type }) => type)).toContain('payout.completed')
      expect(story.audit.rows).toEqual([expect.objectContaining({ command: 'payouts advance', outcome: 'done' })])
    }))

  test('no voucher code', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      await using _server = server
      await using desk = await Desk.of(operator)
      const session = await desk.enter()
      const { id } = await customer.order(1, 2)
      const shown = await Promise.all(
        ['today', `record/orders/${id}`, 'list/orders', 'list/stock', 'list/events', 'search?search=TEA-1'].map(
          (path) => session.request(`/data/${path}`).then((response) => response.text()),
        ),
      )
      for (const text of shown) expect(text).not.toMatch(/TEA-\d|BOX-\d|pin_code":"1/)
    }))

  deskTest('a list with its filters and pages, and as CSV like the command', async (session, operator) => {
    for (const name of Array.from({ length: 55 }, (_, index) => `client-${index}`))
      await session.ask([{ command: 'client add', input: { name } }])
    const first = await session.read<Rows>('list/clients')
    const second = await session.read<Rows>('list/clients?offset=50')
    expect([first.rows.length, second.rows.length, first.total]).toEqual([50, 6, 56])
    expect((await session.read<Rows>('list/clients?search=client-5')).total).toBe(6)
    const csv = await (await session.request('/data/list/rates?csv=1')).text()
    expect(csv).toBe((await operator.run(['rates', 'list', '--csv'])).stdout)
    const wrong = await session.request('/data/list/orders?since=yesterday')
    expect([wrong.status, await wrong.json()]).toEqual([400, { error: expect.stringContaining('A time is a date') }])
  })

  test('the sum of the payouts that its filters leave, by currency', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      await using _server = server
      await using desk = await Desk.of(operator)
      const session = await desk.enter()
      for (const name of ['a-1', 'a-2', 'b-1']) await customer.payout(name)
      const [{ id } = { id: '' }] = await operator.json<{ id: string }[]>('payouts', 'list')
      await operator.json('payouts', 'cancel', id)
      const sumsOf = async (query: string) => (await session.read<Statement>(`list/payouts${query}`)).sums.rows
      expect(await sumsOf('')).toEqual([{ records: 3, sum: '300.00 USD' }])
      expect(await sumsOf('?status=created')).toEqual([{ records: 2, sum: '200.00 USD' }])
      expect(await sumsOf('?search=a-')).toEqual([{ records: 2, sum: '200.00 USD' }])
      expect(await sumsOf('?since=2026-01-01&client=acme')).toEqual([{ records: 3, sum: '300.00 USD' }])
      expect(await sumsOf('?status=failed')).toEqual([])
    }))

  test('the sums of orders, transactions and wallets, by currency', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      await using _server = server
      await using desk = await Desk.of(operator)
      const session = await desk.enter()
      await operator.json('wallet', 'add', 'acme', 'EUR')
      await operator.json('wallet', 'fund', '2', '50')
      await operator.json('wallet', 'adjust', '1', '-0.01')
      await customer.order(1, 2)
      await customer.order(1, 1)
      const sumsOf = async (list: string) => (await session.read<Statement>(`list/${list}`)).sums.rows
      expect(await sumsOf('orders')).toEqual([{ records: 2, sum: '29.25 USD' }])
      expect(await sumsOf('orders?search=Tea&client=acme')).toEqual([{ records: 2, sum: '29.25 USD' }])
      expect(await sumsOf('orders?status=FAILED')).toEqual([])
      expect(await sumsOf('transactions')).toEqual([
        { records: 1, in: '50.00 EUR', out: '0.00 EUR' },
        { records: 4, in: '1,000.00 USD', out: '29.26 USD' },
      ])
      expect(await sumsOf('transactions?since=2026-01-01&of=2')).toEqual([
        { records: 1, in: '50.00 EUR', out: '0.00 EUR' },
      ])
      expect(await sumsOf('wallets')).toEqual([
        { records: 1, amount: '50.00 EUR', reserved_amount: '0.00 EUR' },
        { records: 1, amount: '970.74 USD', reserved_amount: '0.00 USD' },
      ])
      expect(await sumsOf('wallets?search=EUR')).toHaveLength(1)
    }))

  test('the records behind each figure of Today', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      await using _server = server
      await using desk = await Desk.of(operator)
      const session = await desk.enter()
      await customer.payout('waits')
      await operator.json('payouts', 'cancel', (await customer.payout('is-over')).id)
      await customer.order(1, 3)
      const { id } = await customer.order(2, 1)
      await operator.json('wallet', 'add', 'acme', 'EUR')
      await operator.json('wallet', 'threshold', '1', '5000')
      const { sections } = await session.read<{ sections: { page: string; part: string; list: Rows }[] }>('today')
      const idsIn = (rows: Rows['rows']) => rows.map((row) => row.reference_id ?? row.id ?? row.product_id)
      const seen: Record<string, unknown> = {}
      for (const { page, part, list } of sections) {
        const shown = await session.read<Rows & { statuses: string[] }>(`list/${page}?status=${part}`)
        expect(shown.statuses[0]).toBe(part)
        expect(shown.total).toBe(list.total ?? list.rows.length)
        seen[`${page} ${part}`] = idsIn(shown.rows)
      }
      expect(seen).toEqual({
        'payouts waiting': ['waits'],
        'orders waiting': [id],
        'stock low': [1],
        'wallets low': [1],
        'webhooks failing': [],
      })
      expect((await session.read<Statement>('list/orders?status=waiting')).sums.rows).toMatchObject([{ records: 1 }])
      expect((await session.read<Statement>('list/payouts?status=waiting&client=acme')).sums.rows).toEqual([
        { records: 1, sum: '100.00 USD' },
      ])
    }))

  stockedTest('the balance of a wallet at the end of each of the last thirty days', async (operator) => {
    const file = new Database(join(operator.dataDir, 'scrip.sqlite'))
    const days = (count: number) => `created_at_ms - ${count} * 86400000`
    file.run(`UPDATE wallets SET created_at_ms = ${days(3)}`)
    file.close()
    await using desk = await Desk.of(operator)
    const session = await desk.enter()
    const { balance } = await session.read<{ balance: object[] }>('record/wallets/1')
    const none = { minor: 0, amount: '0.00 USD' }
    expect(balance).toMatchObject([none, none, none, { minor: 100_000, amount: '1,000.00 USD' }])
    expect(await session.read('record/clients/acme')).not.toHaveProperty('balance')
  })

  deskTest('the audit of one person and of one act', async (session, operator) => {
    await operator.run(['wallet', 'fund', '1', '5'], { env: { SUDO_UID: '54321' } })
    const of = async (query: string) =>
      (await session.read<Rows>(`list/audit?${query}`)).rows.map(({ subject }) => subject)
    expect(await of('user=54321')).toEqual(['1 5'])
    expect(await of('command=wallet+fund')).toEqual(['1 5', '1 1000'])
    expect(await of('user=54321&command=rates')).toEqual([])
  })

  deskTest(
    'a statement with its sums first, 100 lines at a time, and whole as the command prints it',
    async (session, operator) => {
      for (let number = 1; number <= 101; number += 1)
        await session.ask([{ command: 'wallet adjust', input: { id: '1', amount: number % 2 ? '-1' : '3' } }])
      const month = new Date().toISOString().slice(0, 7)
      const query = `list/statement?client=acme&month=${month}`
      const first = await session.read<Statement>(query)
      expect(first.sums.rows).toEqual([
        {
          ...{ wallet_id: 1, opening_balance: '0.00 USD', in: '1,150.00 USD', out: '51.00 USD' },
          ...{ closing_balance: '1,099.00 USD', movements: 102 },
        },
      ])
      expect([first.rows.length, first.total]).toEqual([100, 102])
      expect(first.rows[0]).toMatchObject({ amount: '1,000.00 USD', balance_after: '1,000.00 USD' })
      const second = await session.read<Statement>(`${query}&offset=100`)
      expect([second.rows.length, second.rows.at(-1)?.balance_after]).toEqual([2, '1,099.00 USD'])
      const whole = await session.read<Statement>(`${query}&whole=1`)
      expect(whole.rows).toEqual([...first.rows, ...second.rows])
      const csv = await (await session.request(`/data/${query}&csv=1`)).text()
      expect(csv).toBe((await operator.run(['statement', 'acme', '--month', month, '--csv'])).stdout)
    },
  )

  test('the payouts that a list names, and the lines that name none', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      await using _server = server
      await using desk = await Desk.of(operator)
      const session = await desk.enter()
      const ids = [(await customer.payout('p-1')).id, (await customer.payout('p-2')).id]
      const named = async (body: string) => {
        const response = await session.request('/data/payouts', { method: 'POST', body })
        return [response.status, await response.json()] as const
      }
      const [status, list] = await named(`p-2\r\n${ids[0]}\n`)
      expect([status, (list as Rows).rows.map(({ id }) => id)]).toEqual([200, [ids[1], ids[0]]])
      expect(await named('p-1\nnone\n')).toEqual([
        200,
        expect.objectContaining({
          rows: [expect.objectContaining({ id: ids[0] })],
          left: [],
          unknown: ['line 2: none'],
        }),
      ])
    }))

  test("the payouts of a bank's CSV by the column of the reference, the amount beside it, and none by a row number", () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      await using _server = server
      await using desk = await Desk.of(operator)
      const session = await desk.enter()
      for (const name of ['p-1', 'p-2', '1', '2']) await customer.payout(name)
      const named = async (body: string, how = '') => {
        const response = await session.request(`/data/payouts${how}`, { method: 'POST', body })
        const { rows = [], ...others } = (await response.json()) as Partial<Rows>
        return { status: response.status, named: rows.map(({ reference_id }) => reference_id), ...others }
      }
      const csv = 'no;reference;amount\n1;p-1;-100,00\n2;p-2;99,00\n3;rent;5,00\n'
      const read = { status: 200, column: 'reference', unknown: ['line 4: 3, rent, 5,00'] }
      expect(await named(csv)).toMatchObject({ ...read, named: ['p-1', 'p-2'], left: [] })
      expect(await named(csv, '?amount_column=amount&client=acme')).toMatchObject({
        ...{ ...read, named: ['p-1'] },
        left: ['line 3: p-2 is a payout of 100.00 USD, and the list says 99,00'],
      })
      expect(await named(csv, '?column=Date')).toMatchObject({
        ...{ status: 400, named: [] },
        error: 'the list has no column Date\nThe first line has no, reference, amount.',
      })
    }))

  test('the findings of reconcile by their kind, and all of them as the command prints them', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      await using _server = server
      await using desk = await Desk.of(operator)
      const session = await desk.enter()
      for (const name of ['same', 'other', 'ours']) await customer.payout(name)
      const lines = [
        'same,payout,100,USD',
        'other,payout,99,USD',
        'mine,order,1,USD',
        'twice,order,2,USD',
        'twice,order,2,USD',
      ]
      const text = `reference,type,amount,currency\n${lines.join('\n')}\n`
      const month = new Date().toISOString().slice(0, 7)
      const compared = async (body: string, query = '') => {
        const path = `/data/reconcile?client=acme&month=${month}&file=list.csv${query}`
        return await session.request(path, { method: 'POST', body })
      }
      const { sentences, kinds } = (await (await compared(text)).json()) as {
        sentences: string[]
        kinds: (Rows & { kind: string; columns: string[] })[]
      }
      expect(sentences[0]).toBe('1 match.')
      expect(kinds.map(({ kind, rows }) => [kind, rows.map(({ reference }) => reference)])).toEqual([
        ['differs', ['other']],
        ['counted_twice', ['twice']],
        ['only_theirs', ['mine', 'twice']],
        ['only_ours', ['ours']],
      ])
      expect(kinds[2]?.columns).toEqual(['type', 'reference', 'their_amount', 'their_currency'])
      const command = ['reconcile', 'acme', operator.file('list.csv', text), '--month', month, '--csv']
      expect(await (await compared(text, '&csv=1')).text()).toBe((await operator.run(command)).stdout)
      const wrong = await compared('reference,type,amount,currency\nmine,order,x,USD\n')
      expect([wrong.status, await wrong.json()]).toEqual([
        400,
        { error: expect.stringContaining('list.csv has 1 problem:\nline 2, amount') },
      ])
    }))

  test('more findings than a page has, each of them', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      await using _server = server
      await using desk = await Desk.of(operator)
      const session = await desk.enter()
      await customer.payout('differs')
      const lines = Array.from({ length: 1_500 }, (_, index) => `theirs-${index},payout,1,USD`)
      const body = `reference,type,amount,currency\n${[...lines, 'differs,payout,7,USD'].join('\n')}\n`
      const response = await session.request('/data/reconcile?client=acme', { method: 'POST', body })
      const { kinds } = (await response.json()) as { kinds: (Rows & { kind: string })[] }
      expect(kinds.map(({ kind, rows }) => [kind, rows.length])).toEqual([
        ['differs', 1],
        ['counted_twice', 0],
        ['only_theirs', 1_500],
        ['only_ours', 0],
      ])
    }))

  test('the additions, changes and removals of a catalog, and the orders that wait, before it is imported', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      await using _server = server
      await using desk = await Desk.of(operator)
      const session = await desk.enter()
      await customer.order(2, 1)
      await operator.json('catalog', 'edit', '1', '--max-quantity', '7')
      const file = JSON.stringify({
        products: [
          { ...TEA, id: 1 },
          { ...TEA, id: 3, name: 'Cocoa' },
        ],
      })
      const act = { id: freshActId(), command: 'catalog import', input: { file: 'new.json' }, file }
      const [said] = await session.ask([act], true)
      const rows = rowsIn(said)
      const told = ({ change, product, waiting_orders, takes_back_edit }: Rows['rows'][number]) => [
        ...[change, product, waiting_orders, takes_back_edit],
      ]
      expect(rows.map(told)).toEqual([
        ['changed', 'Tea', null, true],
        ['removed', 'Hamper', 1, false],
        ['added', 'Cocoa', null, false],
      ])
      const names = async () => (await session.read<Rows>('list/products')).rows.map(({ name }) => name)
      expect(await names()).toEqual(['Tea', 'Hamper'])
      expect(await operator.json('catalog', 'import', operator.file('new.json', file), '--dry-run')).toEqual(
        rows as never,
      )
      const [done] = await session.ask([act])
      expect(done).toMatchObject({ result: { added: 1, changed: 1, removed: 1 } })
      expect(done?.notes[0]).toBe('Product 2, Hamper, is removed, and 1 order waits for it.')
      expect(await names()).toEqual(['Tea', 'Cocoa'])
      const [wrong] = await session.ask([{ ...act, id: freshActId(), file: '{"products":[{"id":1}]}' }], true)
      expect(wrong?.refusal).toContain('new.json: the catalog has 17 problems')
    }))

  deskTest('one product as its form has it, which switches it off and changes a discount', async (session) => {
    const before = await session.read<Story & { filled: object }>('record/products/1')
    expect(before.acts).toEqual(['catalog edit'])
    expect(before.filled).toMatchObject({ active: 'on', handling_fee: '0+0%', denominations: '10-50=2.5' })
    const edit = {
      id: freshActId(),
      command: 'catalog edit',
      input: { id: '1', active: 'off', denominations: '10-50=4' },
    }
    const [said] = await session.ask([edit], true)
    expect(said?.result).toMatchObject({ active: false, denominations: ['10-50=4'] })
    expect((await session.read<Story>('record/products/1')).row).toMatchObject({ active: true })
    await session.ask([edit], false, before.seen)
    const after = await session.read<Story>('record/products/1')
    expect(after.row).toMatchObject({ active: false, denominations: ['10-50=4'] })
    expect(after.audit.rows).toMatchObject([{ command: 'catalog edit', subject: '1' }])
    const [late] = await session.ask([{ ...edit, id: freshActId() }], false, before.seen)
    expect(late?.refusal).toContain('has done scrip catalog edit 1 in the meantime')
    const none = await session.request('/data/record/products/99')
    expect(await none.json()).toEqual({ error: 'there is no product 99\nSee scrip catalog export.' })
    const other = await session.request('/data/record/products/abc')
    expect(await other.json()).toEqual({ error: 'there is no product abc\nSee scrip catalog export.' })
  })

  deskTest('the rates that a form or a file sets, before it sets them', async (session) => {
    const shown = async () =>
      (await session.read<Rows>('list/rates')).rows.map(({ currency, rate }) => [currency, rate])
    const before = await shown()
    const set = { id: freshActId(), command: 'rates set', input: { pairs: 'USD/EUR=0.9 USD/GBP=0.8' } }
    const [said] = await session.ask([set], true)
    const rows = rowsIn(said)
    expect(rows).toContainEqual({ base: 'USD', currency: 'GBP', rate: '0.8' })
    expect(await shown()).toEqual(before)
    await session.ask([set])
    expect(await shown()).toContainEqual(['EUR', '0.9'])
    const file = '{"base":"USD","rates":{"JPY":"150"}}'
    await session.ask([{ command: 'rates set', input: { file: 'rates.json' }, file }])
    expect(await shown()).toEqual([['JPY', '150']])
    const [neither] = await session.ask([{ command: 'rates set' }], true)
    expect(neither?.refusal).toContain('rates are needed, as pairs or in a file, and not both')
    // As they are copied from elsewhere.
    await session.ask([{ command: 'rates set', input: { pairs: ' USD/CHF=0.8, USD/SEK=10\n' } }])
    expect(await shown()).toEqual(
      expect.arrayContaining([
        ['CHF', '0.8'],
        ['SEK', '10'],
      ]),
    )
  })

  deskTest('each act by its name, with a form whose labels and hints are for people', async (session) => {
    const forms = await session.read<ActForm[]>('forms')
    expect(forms.find(({ command }) => command === 'wallet fund')).toEqual({
      command: 'wallet fund',
      title: 'Add money',
      about: 'Fund a wallet',
      isMoney: true,
      fields: [
        { name: 'id', label: 'Id', hint: 'the wallet', isRequired: true },
        { name: 'amount', label: 'Amount', hint: 'in major units, for example 1000.50', isRequired: true },
        { name: 'remarks', label: 'Remarks', hint: 'remarks shown to the client', isRequired: false },
      ],
    })
    const titleOf = (act: string) => forms.find(({ command }) => command === act)?.title
    expect(titleOf('payouts advance')).toBe('Mark as paid')
    expect(titleOf('orders refund')).toBe('Refund vouchers')
    expect(titleOf('client rotate')).toBe('New password')
    expect(JSON.stringify(forms)).not.toMatch(/standard input|--/)
  })

  deskTest('what verify found', async (session, operator) => {
    const found = await (await session.request('/data/verify', { method: 'POST' })).json()
    expect(found).toEqual(await operator.json('verify'))
  })

  operatorTest('an empty folder as one, until its first client is added', async (operator) => {
    mkdirSync(join(operator.dataDir), { recursive: true, mode: 0o700 })
    await using desk = await Desk.of(operator)
    const session = await desk.enter()
    expect(await session.read<object>('today')).toEqual({ isEmpty: true })
    const [done] = await session.ask([{ command: 'client add', input: { name: 'acme' } }])
    expect(done?.result).toMatchObject({ username: 'acme', password: expect.stringMatching(/^[a-z0-9]{32}$/) })
    expect(await session.read<object>('today')).toMatchObject({ isEmpty: false, backup: null })
  })
})

stockedTest(
  'scrip desk --read-only shows lists and offers no act, and its server refuses every act with 403',
  async (operator) => {
    await using desk = await Desk.of(operator, {}, '--read-only')
    const session = await desk.enter()
    expect(await (await session.request('/')).text()).toContain('data-read-only="true"')
    expect((await session.request('/data/list/clients')).status).toBe(200)
    const acts = [{ command: 'wallet fund', input: { id: '1', amount: '5' } }]
    for (const body of [JSON.stringify({ acts, isDryRun: false }), JSON.stringify({ acts, isDryRun: true }), 'x'])
      for (const path of ['/data/acts', '/data/../data/acts', '/data/acts?csv=1']) {
        const response = await session.request(path, { method: 'POST', body })
        expect([response.status, await response.json()]).toEqual([
          403,
          { error: 'this desk only shows\nStart scrip desk without --read-only to act.' },
        ])
      }
    for (const path of ['/data/acts/', '/data//acts', '/data/%61cts'])
      expect(
        (await session.request(path, { method: 'POST', body: JSON.stringify({ acts, isDryRun: false }) })).status,
      ).toBe(400)
    expect(await operator.json<object[]>('wallet', 'list')).toMatchObject([{ amount: 1000 }])
  },
)
