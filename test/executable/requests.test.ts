import { describe, expect, test } from 'bun:test'
import { freePort } from '../free-port.ts'
import { forFile, TestWorld } from '../harness.ts'
import { COMMAND, folderOfFile, type Running, run, start, startReady } from '../program.ts'
import { ADA, BENEFICIARIES, HUNDRED, INSTANT, NOON, ORDERS, PAYOUTS } from '../records.ts'
import { succeed } from '../sandbox/surface.ts'

/** `scrip requests`: the request log of a running sandbox in a terminal (contract C15). */

const server = forFile(await start(['--rate-limit', 'off']))

const requests = async (...args: string[]): Promise<string> => {
  const { exitCode, stdout, stderr } = await run(['requests', ...args, '--url', server.url])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return stdout
}

/** A world with a login, a payout, a refused order and a lost one. */
const filled = async (name: string): Promise<TestWorld> => {
  await succeed(server, 'PUT', `/worlds/${name}`)
  await succeed(server, 'POST', `/clock?world=${name}`, { now: NOON, frozen: true })
  const world = await TestWorld.open(server, name)
  await world.post(PAYOUTS, { ...HUNDRED, reference_id: 'bonus-1' })
  await world.post(ORDERS, { ...INSTANT, product_id: 999 })
  await succeed(server, 'POST', `/faults?world=${name}`, {
    drop: true,
    when: 'after',
    match: { path: ORDERS },
    times: 1,
  })
  await world.post(ORDERS, INSTANT).catch(() => undefined)
  await world.post(ORDERS, INSTANT)
  return world
}

const timeless = (text: string): string => text.replace(/ +[\d.]+ ms/g, ' N ms')

describe('scrip requests list', () => {
  test('prints a line for each request, the newest last, and filters them', async () => {
    await filled('listed')
    expect(timeless(await requests('list', '--world', 'listed')).split('\n')).toEqual([
      '12:00:00    #1 POST   200 N ms /auth/login  world listed',
      '12:00:00    #2 POST   201 N ms /api/v1/payouts  sbx_listed',
      '12:00:00    #3 POST   404 N ms /api/v1/orders  orders.product_not_found  sbx_listed',
      '12:00:00    #4 POST   lost N ms /api/v1/orders  sbx_listed',
      '12:00:00    #5 POST   200 N ms /api/v1/orders  sbx_listed',
      '',
    ])
    const idsOf = async (...args: string[]) => (await requests('list', '--world', 'listed', ...args)).match(/#\d+/g)
    expect(await idsOf('--status', '4xx')).toEqual(['#3'])
    expect(await idsOf('--search', 'bonus-1')).toEqual(['#2'])
    expect(await idsOf('--method', 'POST', '--status', '0')).toEqual(['#4'])
    expect(await requests('list', '--world', 'listed', '--method', 'DELETE')).toBe('(none)\n')
  })

  test('fits a terminal of 80 columns: the path gives way', async () => {
    const world = await filled('narrow')
    await world.get('/api/v1/products?category=Groceries%20and%20much%20else&country_id=105&currency_id=139')
    let screen = ''
    const data = (_: unknown, bytes: Uint8Array): void => {
      screen += new TextDecoder().decode(bytes)
    }
    const child = Bun.spawn([...COMMAND, 'requests', 'list', '--world', 'narrow', '--url', server.url], {
      env: { PATH: process.env.PATH, TERM: 'xterm' },
      terminal: { cols: 80, rows: 24, data },
    })
    await child.exited
    while (screen.split('\n').length < 7) await Bun.sleep(10) // the rest of the output
    const lines = screen.split(/\r?\n/)
    expect(lines.filter((line) => Bun.stringWidth(line) > 80)).toEqual([])
    expect(lines.find((line) => line.includes('GET'))).toContain('…')
  })

  test('prints the log as JSON, HAR, curl lines, or a scenario that --scenario plays', async () => {
    await filled('formats')
    const inFormat = (format: string) => requests('list', '--world', 'formats', '--format', format)
    expect(JSON.parse(await inFormat('json'))).toHaveLength(5)
    expect(JSON.parse(await inFormat('har')).log.entries).toHaveLength(5)
    expect((await inFormat('curl')).split('\n')[1]).toStartWith('curl ')
    const scenario = `${folderOfFile()}/session.json`
    await Bun.write(scenario, await inFormat('scenario'))
    await using again = await start(['--scenario', scenario])
    const orders = await (await TestWorld.open(again, 'again')).read<object[]>(ORDERS)
    expect(orders).toHaveLength(2)
  })

  test('exit 1 names a world that is not there', async () => {
    const { exitCode, stderr } = await run(['requests', 'list', '--world', 'nowhere', '--url', server.url])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('No world is called nowhere')
  })
})

describe('scrip requests show', () => {
  test('says why a request was refused, and what to do', async () => {
    await filled('refused')
    const text = await requests('show', '3', '--world', 'refused')
    expect(text).toStartWith(
      'Request 3: POST /api/v1/orders by sbx_refused.\nThe response was 404 orders.product_not_found: Product not found.\nWhat to do: check the id: it may be inactive.\nIt changed nothing: no row, no money, no event.\n',
    )
    expect(text).toContain('\nRequest\n')
    expect(text).toContain('"product_id": 999')
    expect(text).toContain('authorization: [redacted]')
  })

  test('has the rows, ledger entries and events of a request that was done, and says that it was sent again', async () => {
    await filled('done')
    const text = await requests('show', '5', '--world', 'done')
    expect(text).toMatch(/^The same request again \d+ ms later, without an Idempotency-Key: .* It was done twice\.$/m)
    expect(text).toMatch(/^Rows\noperation +table +key$/m)
    expect(text).toMatch(/^insert +orders +2$/m)
    expect(text).toMatch(/^Ledger\nentry +account +wallet +amount +currency$/m)
    expect(text).toMatch(/^evt_\w+ +order\.delivered$/m)
  })

  test('exit 1 for a request that the log does not have', async () => {
    const { exitCode, stderr } = await run(['requests', 'show', '99', '--url', server.url])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('Request not found')
  })
})

describe('scrip requests tail', () => {
  const tail = (url: string, ...args: string[]) => startReady(['requests', 'tail', '--url', url, ...args], {})

  test('prints the last requests and each further one that the filters let through, and ends with 0 on a signal', async () => {
    const world = await filled('followed')
    const tailing = await tail(server.url, '--world', 'followed', '--method', 'POST', '--search', 'example.com')
    expect(tailing.ready).toContain('#2 POST')
    await world.get(`${BENEFICIARIES}?search=example.com`)
    await world.post(ORDERS, INSTANT)
    await world.post(BENEFICIARIES, ADA)
    await tailing.printed('#8 POST')
    tailing.signal('SIGINT')
    const { stdout, ...ended } = await tailing.ended()
    expect({ ids: stdout.match(/#\d+/g), ...ended }).toEqual({ ids: ['#2', '#8'], exitCode: 0, stderr: '' })
  })

  test('follows all worlds, those that are made later among them', async () => {
    await using tailing = await tail(server.url, '--world', '*')
    const world = await TestWorld.open(server, 'made-later')
    await world.get('/api/v1/countries/1')
    await tailing.printed('/api/v1/countries/1  sbx_made-later')
  })

  test.each([
    ['in memory', []],
    ['with a data folder', ['--data-dir', `${folderOfFile()}/kept`]],
  ])('goes on after a restart of the server, %s, and prints what it has missed once', async (_, flags) => {
    const port = String(await freePort())
    const serve = (): Promise<Running> => start(['--port', port, ...flags])
    const before = await serve()
    await (await TestWorld.open(before, 'first')).get('/api/v1/countries/1')
    const tailing = await tail(before.url, '--world', '*')
    await tailing.printed('/api/v1/countries/1')
    await before.stop()
    await using after = await serve()
    const world = await TestWorld.open(after, 'second')
    await world.get('/api/v1/countries/2')
    await tailing.printed('/api/v1/countries/2')
    await world.get('/api/v1/countries/3')
    await tailing.printed('/api/v1/countries/3')
    const { stdout } = await tailing.stop()
    expect(stdout.match(/countries\/\d/g)).toEqual(['countries/1', 'countries/2', 'countries/3'])
  })

  test('exit 1 at once if no sandbox responds', async () => {
    const { exitCode, stderr } = await run(['requests', 'tail', '--url', 'http://127.0.0.1:9'])
    expect(exitCode).toBe(1)
    expect(stderr).toStartWith('scrip: http://127.0.0.1:9 does not respond')
  })
})
