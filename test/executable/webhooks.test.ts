import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook as Stranger } from 'standardwebhooks'
import { certificateIn } from '../certificate.ts'
import { bearer, COMMAND, loggedIn, login, type Pair, run, start } from '../program.ts'
import { openReceiver, type WebhookBody } from '../webhooks/webhooks.ts'
import { Customer, operatorTest, stockedTest } from './live.ts'

/** Webhooks as an operator, a partner and a developer use them. */

const hookOf = async (customer: Customer, url: string): Promise<[number, WebhookBody]> => {
  const response = await customer.post('/webhooks', { name: 'mine', url, events: ['*'] })
  return [response.status, (await response.json()) as WebhookBody]
}

describe('In live mode', () => {
  stockedTest(
    'a delivery goes by https to an address that is allowed, with the certificate checked',
    async (operator, credentials) => {
      const { path, tls } = certificateIn(operator.folder)
      await using receiver = openReceiver(undefined, tls)
      for (const [env, status] of [
        [{}, 'retrying'],
        [{ NODE_EXTRA_CA_CERTS: path }, 'delivered'],
      ] as const) {
        await using server = await start(
          ['--mode', 'live', '--data-dir', operator.dataDir, '--port', '0', '--webhook-allow', '127.0.0.0/8'],
          { env },
        )
        const customer = await Customer.of(server, credentials)
        const [created, { id, secret }] = await hookOf(customer, receiver.url)
        expect(created).toBe(201)
        await customer.post(`/webhooks/${id}/ping`, {})
        const attempts = await untilAttempted(customer, id)
        expect(attempts).toMatchObject([{ event_type: 'ping', status }])
        const error = status === 'delivered' ? null : 'DEPTH_ZERO_SELF_SIGNED_CERT'
        expect(await operator.json('webhooks', 'deliveries', id)).toMatchObject([{ status, error }])
        const [received] = receiver.received
        if (received) new Stranger(secret).verify(received.body, Object.fromEntries(received.headers))
      }
      expect(receiver.received).toHaveLength(1)
    },
  )

  operatorTest('a secret is not in the data folder, and signs as before after vouchers rekey', async (operator) => {
    const flags = ['--port', '0', '--webhook-allow', '127.0.0.0/8']
    const { server, customer, credentials } = await operator.trading(...flags)
    const [, { id, secret }] = await hookOf(customer, 'https://127.0.0.1:9/')
    const bytes = [Buffer.from(secret.slice(6)), Buffer.from(secret.slice(6), 'base64')]
    const databaseFiles = () =>
      ['scrip.sqlite', 'scrip.sqlite-wal'].map((name) => readFileSync(join(operator.dataDir, name)))
    for (const file of databaseFiles()) for (const each of bytes) expect(file.includes(each)).toBe(false)
    await server.stop()
    await operator.json('vouchers', 'rekey')
    const again = await operator.serve(...flags)
    const later = await Customer.of(again, credentials)
    await later.post(`/webhooks/${id}/ping`, {})
    expect(await untilAttempted(later, id)).toMatchObject([{ event_type: 'ping', status: 'retrying' }])
    expect((await again.stop()).stderr).not.toContain('cannot be opened')
  })
})

const untilAttempted = async (customer: Customer, id: string): Promise<object[]> => {
  for (;;) {
    const attempts = await customer.read<object[]>(`/webhooks/${id}/deliveries`)
    if (attempts.length > 0) return attempts
    await Bun.sleep(20)
  }
}

describe('scrip webhooks', () => {
  stockedTest(
    'lists, delivers again and switches off; events of commands go out without a request',
    async (operator, credentials) => {
      await using server = await operator.serve('--port', '0', '--webhook-allow', '127.0.0.0/8')
      const customer = await Customer.of(server, credentials)
      const [, { id }] = await hookOf(customer, 'https://127.0.0.1:9/')
      await operator.json('wallet', 'threshold', '1', '5000')
      expect(await untilAttempted(customer, id)).toMatchObject([{ event_type: 'wallet.low', status: 'retrying' }])
      expect(await operator.json('webhooks', 'list')).toMatchObject([
        { id, client: 'acme', name: 'mine', active: true, waiting: 1, events: ['*'] },
      ])
      const [attempt] = await operator.json<{ event: string }[]>('webhooks', 'deliveries', id)
      expect(attempt).toMatchObject({ type: 'wallet.low', attempt: 1, status: 'retrying', response_status: null })
      expect(await operator.json('webhooks', 'redeliver', String(attempt?.event))).toMatchObject({ webhooks: 1 })
      expect(await operator.json('webhooks', 'disable', id)).toMatchObject({
        active: false,
        disabled_reason: 'operator',
        waiting: 0,
      })
      expect(await customer.read(`/webhooks/${id}`)).toMatchObject({ active: false, disabled_reason: 'operator' })
      expect(await operator.json('audit', 'list')).toContainEqual(
        expect.objectContaining({
          command: 'webhooks disable',
          subject: id,
          before: { active: true },
          after: { active: false },
          outcome: 'done',
        }),
      )
      for (const [command, name] of [
        ['deliveries', 'whk_none'],
        ['disable', 'whk_none'],
        ['redeliver', 'evt_none'],
      ] as const) {
        expect(await operator.run(['webhooks', command, name])).toMatchObject({ exitCode: 1 })
      }
    },
  )
})

/** Starts `scrip listen`. */
const listen = (flags: readonly string[], env: Record<string, string> = {}) =>
  Bun.spawn([...COMMAND, 'listen', ...flags], {
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
  })

describe('scrip listen', () => {
  test('refuses a world that is not there, which it does not make, and a type of no event', async () => {
    await using server = await start()
    for (const [flags, problem] of [
      [['--world', 'typo'], 'No world is called typo'],
      [['--events', 'oder.*'], 'The events field must be one of *, order.*, payout.*, wallet.*, '],
    ] as const) {
      const { exitCode, stdout, stderr } = await run(['listen', '--url', server.url, ...flags])
      expect({ exitCode, stdout, stderr }).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: expect.stringContaining(problem),
      })
      expect(stderr).toStartWith('scrip: the sandbox refuses this: ')
      expect(stderr).not.toContain('{')
    }
    const worlds = (await (await server.request('/_sandbox/worlds')).json()) as { name: string }[]
    expect(worlds.map(({ name }) => name)).toEqual(['default'])
    expect(await (await server.request('/_sandbox/webhooks')).json()).toEqual([])
  })

  test('--since prints the events of that real time first, whatever the clock of the world says, and none twice', async () => {
    await using server = await start()
    const trigger = async (type: string) => (await run(['trigger', type, '--url', server.url])).stdout.trim()
    await server.request('/_sandbox/clock', { method: 'POST', body: '{"now":"2040-01-01T00:00:00Z","frozen":true}' })
    const [first, second] = [await trigger('payout.failed'), await trigger('order.delivered')]
    const listening = listen(['--url', server.url, '--since', '10m', '--events', 'payout.*,order.*'])
    const lines = linesOf(listening.stdout)
    expect((await lines.next()).value).toStartWith('secret whsec_')
    expect((await lines.next()).value).toBe(`2040-01-01T00:00:00.000Z  payout.failed              ${first}`)
    expect((await lines.next()).value).toEndWith(second)
    const third = await trigger('payout.failed')
    expect((await lines.next()).value).toEndWith(third)
    listening.kill('SIGINT')
    expect(await listening.exited).toBe(0)
  })

  test("--world '*' prints the events of all worlds with their names, earlier ones too, and signs nothing", async () => {
    await using server = await start()
    const trigger = async (type: string, world: string) =>
      (await run(['trigger', type, '--url', server.url, '--world', world])).stdout.trim()
    for (const name of ['one', 'two']) await server.request(`/_sandbox/worlds/${name}`, { method: 'PUT' })
    const first = await trigger('payout.failed', 'one')
    const listening = listen(['--url', server.url, '--world', '*', '--since', '1h', '--events', 'payout.*'])
    const lines = linesOf(listening.stdout)
    expect((await lines.next()).value).toEndWith(`payout.failed              ${first}  one`)
    await trigger('order.delivered', 'two')
    const second = await trigger('payout.completed', 'two')
    expect((await lines.next()).value).toEndWith(`${second}  two`)
    expect(await (await server.request('/_sandbox/webhooks?world=one')).json()).toEqual([])
    listening.kill('SIGINT')
    expect([await listening.exited, await listening.stderr.text()]).toEqual([0, ''])
    for (const flags of [
      ['--forward', 'http://127.0.0.1:1'],
      ['--events', 'oder.*'],
    ])
      expect(await run(['listen', '--url', server.url, '--world', '*', ...flags])).toMatchObject({
        exitCode: 2,
        stdout: '',
      })
  })

  test('prints its secret, then a line for each event with the status of the receiver, and removes its webhook', async () => {
    await using server = await start()
    await using receiver = openReceiver(() => new Response('thanks', { status: 202 }))
    const flags = ['--url', server.url, '--forward', receiver.url, '--events', 'payout.*,ping', '--world', 'mine']
    const pair = (await (await login(server, 'sbx_mine', 'my own')).json()) as Pair
    const refused = await run(['listen', '--url', server.url, '--world', 'mine'])
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining('refuses the credentials of sbx_mine: 401\nCheck the username and SCRIP_PASSWORD.'),
    ])
    const listening = listen(flags, { SCRIP_PASSWORD: 'my own' })
    const lines = linesOf(listening.stdout)
    const secret = /^secret (whsec_\S+)$/.exec((await lines.next()).value ?? '')?.[1] ?? ''
    const { stdout: id } = await run(['trigger', 'payout.failed', '--url', server.url, '--world', 'mine'])
    expect((await lines.next()).value).toMatch(
      new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z  payout\\.failed +${id.trim()}  202$`),
    )
    const [received] = receiver.received
    new Stranger(secret).verify(received?.body ?? '', Object.fromEntries(received?.headers ?? []))
    await server.request('/_sandbox/webhooks/settle?world=mine', { method: 'POST' })
    const read = async <T>(path: string): Promise<T[]> =>
      (await (await server.request(path, bearer(pair))).json()) as T[]
    const [hook] = await read<{ id: string }>('/api/v1/webhooks')
    expect(await read(`/api/v1/webhooks/${hook?.id}/deliveries`)).toMatchObject([
      { response_status: 202, response_body: 'thanks' },
    ])
    listening.kill('SIGINT')
    expect(await listening.exited).toBe(0)
    expect(await read('/api/v1/webhooks')).toEqual([])
  })

  test('forwards requests that the server has signed and nothing else; a stranger gets a plain refusal', async () => {
    await using server = await start()
    await using receiver = openReceiver(() => new Response('thanks'))
    const listening = listen(['--url', server.url, '--forward', receiver.url])
    const lines = linesOf(listening.stdout)
    const secret = ((await lines.next()).value ?? '').slice('secret '.length)
    const hooks = await server.request('/api/v1/webhooks', bearer(await loggedIn(server)))
    const [{ url = '' } = {}] = (await hooks.json()) as { url?: string }[]

    const body = JSON.stringify({ id: 'evt_1', type: 'payout.failed', created_at: '2030-01-01T00:00:00Z', data: {} })
    const signed = (by: string, id = 'evt_1') => ({
      'webhook-id': id,
      'webhook-timestamp': '1900000000',
      'webhook-signature': new Stranger(by).sign('evt_1', new Date(1_900_000_000_000), body),
    })
    const strange: RequestInit[] = [
      {},
      { method: 'POST', body: 'no JSON' },
      { method: 'POST', body },
      { method: 'POST', body, headers: { ...signed(secret), 'webhook-timestamp': '1e9' } },
      { method: 'POST', body, headers: signed(`whsec_${Buffer.from('of somebody else').toString('base64')}`) },
      { method: 'POST', body, headers: signed(secret, 'evt_2') },
      { method: 'POST', body: `${body} `, headers: signed(secret) },
    ]
    for (const init of strange) {
      const response = await fetch(url, init)
      expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
        401,
        'text/plain;charset=utf-8',
        'not signed by the server that scrip listen listens to\n',
      ])
    }
    expect(receiver.received).toEqual([])
    expect((await fetch(url, { method: 'POST', body, headers: signed(secret) })).status).toBe(200)
    expect((await lines.next()).value).toBe('2030-01-01T00:00:00Z  payout.failed              evt_1  200')
    expect(receiver.received.map((one) => one.body)).toEqual([body])
    listening.kill('SIGINT')
    expect([await listening.exited, await listening.stderr.text()]).toEqual([0, ''])
  })

  test('ends when no more events come: after a reset, a restart or the end of the sandbox', async () => {
    const server = await start()
    const begun = async () => {
      const listening = listen(['--url', server.url])
      await linesOf(listening.stdout).next()
      return listening
    }
    const ended = async ({ exited, stderr }: ReturnType<typeof listen>) => [await exited, await stderr.text()]
    const [first, second] = [await begun(), await begun()]
    second.kill('SIGHUP')
    expect(await ended(second)).toEqual([0, ''])
    await server.request('/_sandbox/reset', { method: 'POST' })
    expect(await ended(first)).toEqual([1, expect.stringContaining('the sandbox was restarted, or its world')])
    const third = await begun()
    await server.stop()
    expect(await ended(third)).toEqual([1, expect.stringContaining(`${server.url} does not respond`)])
  })

  test('exits with 1 if no sandbox responds, and trigger with 2 for an unknown type', async () => {
    const [listening, triggered] = await Promise.all([
      run(['listen', '--url', 'http://127.0.0.1:1']),
      run(['trigger', 'order.lost']),
    ])
    expect([listening.exitCode, triggered.exitCode]).toEqual([1, 2])
    expect(listening.stderr).toContain('http://127.0.0.1:1 does not respond')
  })
})

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      yield text.slice(0, end)
      text = text.slice(end + 1)
    }
  }
}
