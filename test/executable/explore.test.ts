import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMAND, type Ended, folderTest, inFolder, type Place, run, start } from '../program.ts'
import { blocksOf, documentText } from './documents.ts'

/** `scrip run --explore`: the effects of a lost response to a write (contract C15, decision 49). */

/** A client without any care: `send` sends one request, once, on its own connection. */
const CLIENT = `
import { writeFileSync, readFileSync, existsSync } from 'node:fs'
const { SCRIP_URL: url, SCRIP_ACCESS_TOKEN: token } = process.env
const sendAs = (token) => async (path, body, headers = {}) => {
  const response = await fetch(url + path, {
    method: 'POST',
    keepalive: false,
    headers: { authorization: 'Bearer ' + token, connection: 'close', ...headers },
    body: JSON.stringify(body),
  })
  return response.json()
}
const send = sendAs(token)
const again = async (work, attempts = 3) => {
  try {
    return await work()
  } catch (error) {
    if (attempts === 1) throw error
    return again(work, attempts - 1)
  }
}
const loggedIn = async (name) => {
  const { access_token } = await sendAs('')('/auth/login', { username: 'sbx_' + name, password: 'x' })
  return sendAs(access_token)
}
const PERSON = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
const CARD = { product_id: 1, denomination: 100, quantity: 2 }
const payout = (reference_id, first, amount = 50) => ({
  reference_id, wallet_id: 1, amount, currency: 'USD', beneficiary_email: first + '@example.com',
  beneficiary_first_name: first, beneficiary_last_name: 'Lovelace',
})
`

/** Explores a program text. */
const explore = (text: string, flags: string[] = [], place: Place = {}): Promise<Ended> =>
  run(['run', '--explore', ...flags, '--', process.execPath, '-e', CLIENT + text], place)

/** The counts of the summary. */
const countsIn = (stderr: string) => {
  const [, writes = '', losses = ''] =
    /^explore: (\d+) of \d+ writes?, (\d+) of \d+ lost responses?/m.exec(stderr) ?? []
  const counts = [...stderr.matchAll(/^ {2}(\d+) /gm)].map(([, count]) => Number(count))
  const [tooMany, tooFew, failed, none, missed = 0] = counts
  return { writes: Number(writes), losses: Number(losses), tooMany, tooFew, failed, none, missed }
}

const NOTHING_FOUND = { tooMany: 0, tooFew: 0, missed: 0 }

describe('an order or a payout too many', () => {
  test('is found in a client that repeats an order without an Idempotency-Key', async () => {
    const { exitCode, stdout, stderr } = await explore(`
      const order = await again(() => send('/api/v1/orders', CARD))
      console.log(order.status)`)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: 'DELIVERED\n' })
    expect(stderr).toMatch(
      /^1 {2}too many {2}POST \/api\/v1\/orders {2}response lost after its commit {2}default {2}2 × .+ of 100\.00 INR {2}1, paid 230\.10 INR {2,}2, paid 460\.20 INR$/m,
    )
    expect(stderr).toContain('#1 POST /api/v1/orders of sandbox {"product_id":1,"denomination":100,"quantity":2}')
    expect(stderr.match(/^ {3}order \d, 230\.10 INR from wallet 3, ledger entry \d+$/gm)).toHaveLength(2)
    expect(countsIn(stderr)).toEqual({ writes: 1, losses: 2, tooMany: 1, tooFew: 0, failed: 0, none: 1, missed: 0 })
  })

  test.skipIf(!Bun.which('curl'))('names the HTTP client, which may have repeated the order by itself', async () => {
    const order = '{"product_id":1,"denomination":100,"quantity":2}'
    const auth = '-H "Authorization: Bearer $SCRIP_ACCESS_TOKEN"'
    const used = `curl -sSf ${auth} $SCRIP_URL/api/v1/countries/1 --next ${auth} $SCRIP_URL/api/v1/orders -d '${order}'`
    const { exitCode, stderr } = await run(['run', '--explore', '--', 'sh', '-c', used])
    expect(exitCode).toBe(1)
    expect(countsIn(stderr)).toMatchObject({ writes: 1, losses: 2, tooMany: 1, tooFew: 0 })
    expect(stderr).toContain(
      '   The same request was sent and done again: by your code or by its HTTP client (curl and Java’s HttpURLConnection do so by themselves). See: scrip docs clients\n',
    )
  })

  test('is found in one that repeats a payout with a new reference', async () => {
    const { exitCode, stderr } = await explore(`
      await again(() => send('/api/v1/payouts', payout('salary-' + Math.random(), 'ada')))`)
    expect(exitCode).toBe(1)
    expect(stderr).not.toContain('The same request')
    expect(stderr).toMatch(
      /^1 {2}too many {2}POST \/api\/v1\/payouts {2}response lost after .* payout of 50\.00 USD for ada@example\.com {2}1, paid 50\.75 USD {2,}2, paid 101\.50 USD$/m,
    )
    expect(stderr.match(/^ {3}payout pyt_\w+, 50\.75 USD from wallet 1, ledger entry \d+$/gm)).toHaveLength(2)
  })

  test('is found when one person is paid twice and another one never', async () => {
    const { exitCode, stderr } = await explore(`
      let next = 0
      const people = ['ada', 'bob']
      for (const number of [1, 2]) {
        await send('/api/v1/payouts', payout('p-' + number, people[next])).then(() => next++, () => undefined)
      }`)
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/too many .* for ada@example\.com {2}1, paid 50\.75 USD {2,}2, paid 101\.50 USD$/m)
    expect(stderr).toMatch(/too many .* for bob@example\.com {2}1, paid 50\.75 USD {2,}0, paid 0\.00 USD$/m)
  })

  test('is found when a cancellation is lost and the command does not see it', async () => {
    const { exitCode, stderr } = await explore(`
      const { id } = await send('/api/v1/orders', { product_id: 5, denomination: 25, quantity: 3 })
      await send('/api/v1/orders/' + id + '/cancel').catch(() => undefined)`)
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /too many {2}POST \/api\/v1\/orders\/:id\/cancel {2}response lost before its commit .* {2}0, paid 0\.00 EUR {2,}1, paid/,
    )
    expect(countsIn(stderr)).toMatchObject({ writes: 2, tooMany: 1, tooFew: 0, failed: 2, none: 1 })
  })
})

describe('an order or a payout too few', () => {
  test('is found if the command ends as if the write had been done', async () => {
    const { exitCode, stderr } = await explore(`await send('/api/v1/orders', CARD).catch(() => undefined)`)
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /^1 {2}too few {2}POST \/api\/v1\/orders {2}response lost before its commit .* {2}0, paid 0\.00 INR$/m,
    )
    expect(stderr).toContain('   nothing in the ledger\n')
    expect(countsIn(stderr)).toMatchObject({ tooMany: 0, tooFew: 1, none: 1 })
  })
})

const ORDER_TWICE = "again(() => send('/api/v1/orders', CARD, { 'idempotency-key': 'the same key' }))"
const CANCELLED = "const { id } = await send('/api/v1/orders', { product_id: 5, denomination: 25, quantity: 3 })"

describe('nothing is found in a client', () => {
  test.each<[string, object, string]>([
    ['that sends the same key with each attempt', { none: 2 }, `await ${ORDER_TWICE}`],
    [
      'whose repeated order has the same reference',
      { none: 2 },
      "const ref = 'order-' + Math.random(); await again(() => send('/api/v1/orders', { ...CARD, ref }))",
    ],
    [
      'that fails, whatever it leaves undone',
      { failed: 4 },
      "await send('/api/v1/orders', CARD); await send('/api/v1/payouts', payout('p', 'ada'))",
    ],
    [
      'that fails before it cancels what it has ordered',
      { failed: 2, none: 2 },
      `${CANCELLED}; await again(() => send('/api/v1/orders/' + id + '/cancel'))`,
    ],
    [
      'that fails before it deletes a beneficiary',
      { failed: 4 },
      `const { id } = await send('/api/v1/beneficiaries', PERSON)
       await fetch(url + '/api/v1/beneficiaries/' + id, { method: 'DELETE', headers: { authorization: 'Bearer ' + token } })`,
    ],
    [
      'whose payout fails by itself, however long a run took',
      { none: 2 },
      `const pay = () => send('/api/v1/payouts', { ...payout('p', 'ada'), beneficiary_email: 'failed@payouts.example' })
       await pay().catch(() => Bun.sleep(5_500).then(pay))`,
    ],
    [
      'that is refused, asks for charges, or gets a replay',
      { none: 2 },
      `await send('/api/v1/products/1/charges', CARD)
       await send('/api/v1/orders', { ...CARD, product_id: 999_999 })
       for (const _ of [1, 2]) await ${ORDER_TWICE}`,
    ],
  ])('%s', async (_, counts, text) => {
    const { exitCode, stderr } = await explore(text)
    expect(exitCode).toBe(0)
    expect(countsIn(stderr)).toMatchObject({ tooMany: 0, tooFew: 0, failed: 0, none: 0, missed: 0, ...counts })
  })
})

describe('one write of two is found', () => {
  test.each([
    [
      'in worlds and for people whose names are new in each run',
      `for (const careful of [true, false]) {
         const key = crypto.randomUUID()
         const post = await loggedIn('test-' + crypto.randomUUID())
         await again(() => post('/api/v1/orders', { ...CARD, email: key + '@example.com' }, careful && { 'idempotency-key': key }))
       }`,
    ],
    [
      'in a world as it was before a reset',
      `for (const careful of [false, true]) {
         const post = await loggedIn('shared')
         await again(() => post('/api/v1/orders', CARD, careful && { 'idempotency-key': 'the same key' }))
         await sendAs('')('/_sandbox/reset?world=shared', {})
       }`,
    ],
  ])('%s', async (_, text) => {
    const { exitCode, stderr } = await explore(text)
    expect(exitCode).toBe(1)
    expect(countsIn(stderr)).toEqual({ writes: 2, losses: 4, tooMany: 1, tooFew: 0, failed: 0, none: 3, missed: 0 })
  })
})

describe('the compared state', () => {
  test('is the world in which the response was lost, by its name', async () => {
    const { exitCode, stderr } = await explore(`
      const [careless, careful] = [await loggedIn('careless'), await loggedIn('careful')]
      await again(() => careless('/api/v1/orders', CARD))
      await again(() => careful('/api/v1/orders', CARD, { 'idempotency-key': 'the same key' }))`)
    expect(exitCode).toBe(1)
    expect(countsIn(stderr)).toEqual({ writes: 2, losses: 4, tooMany: 1, tooFew: 0, failed: 0, none: 3, missed: 0 })
    expect(stderr).toMatch(/after its commit {2}careless/)
  })

  test('is each of the writes that a command makes at the same time', async () => {
    const { exitCode, stderr } = await explore(`
      const orders = [1, 2, 3, 4, 5].map((quantity) => again(() => send('/api/v1/orders', { ...CARD, quantity })))
      await Promise.all(orders)`)
    expect(exitCode).toBe(1)
    expect(countsIn(stderr)).toEqual({ writes: 5, losses: 10, tooMany: 5, tooFew: 0, failed: 0, none: 5, missed: 0 })
    for (const quantity of [1, 2, 3, 4, 5]) expect(stderr).toMatch(new RegExp(` ${quantity} × .* 1, paid .* 2, paid `))
  })

  test('are the saved beneficiaries of each client, whoever they are', async () => {
    const { exitCode, stderr } = await explore(`
      const email = Math.random() + '@example.com'
      await again(() => send('/api/v1/beneficiaries', { ...PERSON, email }))
      await again(() => send('/api/v1/beneficiaries', PERSON, { 'idempotency-key': 'the same key' }))`)
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /^1 {2}too many {2}POST \/api\/v1\/beneficiaries {2}response lost after its commit {2}default {2}beneficiary {2}2 {2,}3$/m,
    )
    expect(stderr.match(/^ {3}beneficiary ben_\w+$/gm)).toHaveLength(3)
    expect(countsIn(stderr)).toEqual({ writes: 2, losses: 4, tooMany: 1, tooFew: 0, failed: 0, none: 3, missed: 0 })
  })
})

describe('the runs', () => {
  test('are at most those of --explore-max writes, before and after each commit', async () => {
    const { stderr } = await explore(
      `for (const number of [1, 2, 3]) await again(() => send('/api/v1/payouts', payout('p-' + number, 'ada')))`,
      ['--explore-max', '2'],
    )
    expect(stderr).toContain('explore: 2 of 3 writes, 4 of 4 lost responses\n')
  })

  test('give the same report each time', async () => {
    const text = `for (const number of [1, 2, 3]) await again(() => send('/api/v1/payouts', payout(crypto.randomUUID(), 'ada')))`
    const [one, another] = await Promise.all([explore(text), explore(text, ['--explore-jobs', '1'])])
    const withoutIds = (report: string) => report.replace(/pyt_\w+|[0-9a-f-]{36}/g, 'id')
    expect(withoutIds(another.stderr)).toBe(withoutIds(one.stderr))
    expect(countsIn(one.stderr)).toMatchObject({ tooMany: 3, none: 3 })
  })

  test('write nothing but the first one', async () => {
    const { stdout, stderr } = await explore(`
      console.log('out')
      console.error('err')
      await again(() => send('/api/v1/orders', CARD, { 'idempotency-key': 'the same key' }))`)
    expect(stdout).toBe('out\n')
    expect(stderr).toMatch(/^err\nexplore: 1 of 1 write, /)
  })

  test('end after their time limit, and what they have done counts', async () => {
    const { exitCode, stderr } = await explore(
      `await send('/api/v1/orders', CARD).catch(() => new Promise(() => setInterval(() => undefined, 1_000)))`,
      ['--explore-timeout', '2s'],
    )
    expect(exitCode).toBe(0)
    expect(countsIn(stderr)).toMatchObject({ writes: 1, losses: 2, tooMany: 0, tooFew: 0, failed: 0, none: 0 })
    expect(stderr).toContain('\n  2 made the command take too long: see --explore-timeout\n')
  })

  test('are none if the command wrote nothing: exit code 1; it does not explore again in a scrip run of its own', async () => {
    const inner = [...COMMAND, 'run', '--', 'true']
    const { exitCode, stderr } = await run(['run', '--', ...inner], { env: { SCRIP_EXPLORE: '1' } })
    expect(exitCode).toBe(1)
    expect(stderr).toBe('explore: the command wrote nothing to this sandbox. Is SCRIP_URL its base URL?\n')
  })

  test('are not made if the command fails by itself', async () => {
    const { exitCode, stderr } = await explore(`process.exit(7)`)
    expect(exitCode).toBe(7)
    expect(stderr).toBe('scrip: the command failed without a fault\nNothing was explored.\n')
  })

  test.each([
    [
      "await send('/api/v1/webhooks', { name: 'x', url: 'http://127.0.0.1:9/', events: ['*'] })",
      'the second one has more writes',
    ],
    ['process.exit(5)', 'the second one failed'],
    [
      "await send('/_sandbox/orders/2/fail', {})",
      'the world of POST /api/v1/orders in the world default has 2 of 3 × ',
    ],
  ])('are not made if only the second one does something: %s', (text, parting) =>
    inFolder(async (cwd) => {
      const { exitCode, stderr } = await explore(
        `for (const _ of [1, 2]) await send('/api/v1/orders', { product_id: 5, denomination: 25, quantity: 3 })
         if (existsSync('ran')) ${text}
         writeFileSync('ran', '')`,
        [],
        { cwd },
      )
      expect(exitCode).toBe(1)
      expect(stderr).toContain(parting)
    }),
  )

  folderTest('are not all made if the command makes a write only sometimes: 1, and how many', async (cwd) => {
    const { exitCode, stderr } = await explore(
      `const count = existsSync('ran') ? Number(readFileSync('ran')) : 0
         writeFileSync('ran', String(count + 1))
         if (count < 2) await again(() => send('/api/v1/orders', CARD, { 'idempotency-key': 'the same key' }))`,
      ['--explore-jobs', '1'],
      { cwd },
    )
    expect(exitCode).toBe(1)
    expect(countsIn(stderr)).toMatchObject({ missed: 2 })
    expect(stderr).toContain('the command does not make the same writes in every run')
  })
})

describe('a signal', () => {
  test.each<[NodeJS.Signals, number]>([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('%s ends the runs, and nothing of them remains', (signal, code) =>
    inFolder(async (cwd) => {
      const text = `
        console.log(process.pid)
        const isFirst = !existsSync('first')
        if (isFirst) writeFileSync('first', '')
        await again(() => send('/api/v1/orders', CARD, { 'idempotency-key': 'the same key' }))
        if (!isFirst) {
          writeFileSync('pid-' + process.pid, '')
          setInterval(() => undefined, 1_000)
        }`
      const program = await start(['run', '--explore', '--', process.execPath, '-e', CLIENT + text], { env: {}, cwd })
      const pids = () => [...new Bun.Glob('pid-*').scanSync(cwd)].map((name) => Number(name.slice('pid-'.length)))
      while (pids().length === 0) await Bun.sleep(20)
      program.signal(signal)
      expect((await program.ended()).exitCode).toBe(code)
      for (const pid of pids()) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    }),
  )
})

describe('usage errors', () => {
  test.each<[string, string[], RegExp]>([
    ['a data folder', ['--data-dir', '/tmp/none'], /--data-dir cannot be used with --explore/],
    ['a port', ['--port', '4747'], /--port cannot be used with --explore/],
    ['a ready file', ['--ready-file', '/tmp/none/url'], /--ready-file cannot be used with --explore/],
    ['no writes', ['--explore-max', '0'], /whole number from 1/],
    ['no jobs', ['--explore-jobs', '0'], /whole number from 1/],
    ['no time', ['--explore-timeout', '0s'], /number and a unit/],
  ])('%s', async (_, flags, message) => {
    const { exitCode, stderr } = await explore('', flags)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
  })
})

describe.skipIf(!Bun.which('node') || !Bun.which('patch'))('the test project of docs/start/quickstart.md', () => {
  const blocks = blocksOf(documentText('docs/start/quickstart.md'))

  folderTest('buys twice, as the page shows, and does not once it is mended', async (cwd) => {
    for (const { file, text } of blocks) if (file) writeFileSync(join(cwd, file), text)
    const command = ['run', '--explore', '--', 'node', '--test', 'shop.test.mjs']
    const careless = await run(command, { cwd })
    expect(careless.exitCode).toBe(1)
    const shown = blocks.find(({ language }) => language === 'text')
    expect(careless.stderr).toStartWith(shown?.text ?? 'an example')
    Bun.spawnSync(['patch', 'shop.mjs', 'idempotency.diff'], { cwd })
    const careful = await run(command, { cwd })
    expect(careful.exitCode).toBe(0)
    expect(countsIn(careful.stderr)).toEqual({ writes: 1, losses: 2, ...NOTHING_FOUND, failed: 0, none: 2 })
  })
})
