import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Place, Running } from '../program.ts'
import { asOperator, type Credentials, Customer, type Operator } from './live.ts'

/** `scrip beneficiary` (contract C17): saved beneficiaries, and the erasure of a person, beside a running server. */

const ADA = {
  email: 'Ada.Byron@Example.com',
  first_name: 'Adaline',
  last_name: 'Byronesque',
  country: 'GB',
  phone: '+442079460958',
  metadata: { employee: 'E-1815-XYZ' },
}
const BOB = {
  email: 'bob@example.com',
  first_name: 'Bob',
  last_name: 'Builder',
  metadata: { boss: 'ada.byron@example.com' },
}
const PAYMENT = { wallet_id: 1, amount: 5, currency: 'USD' }
/** Texts that may be left nowhere, in upper or lower case. */
const TRACES = [
  'ada.byron@example.com',
  'adaline',
  'byronesque',
  '442079460958',
  'e-1815-xyz',
  'countess',
  'zx-passport',
]

/** The files of the data folder that hold one of the texts, with that text. */
const foundIn = (dataDir: string, texts: readonly string[]): string[] =>
  readdirSync(dataDir, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap(({ parentPath, name }) => {
      const bytes = readFileSync(join(parentPath, name)).toString('latin1').toLowerCase()
      return texts.filter((text) => bytes.includes(text)).map((text) => `${name}: ${text}`)
    })

const poster =
  (server: Running, { pair }: Customer) =>
  async (path: string, body: object, key?: string): Promise<{ status: number; body: Record<string, unknown> }> => {
    const headers = { authorization: `Bearer ${pair.access_token}`, ...(key && { 'idempotency-key': key }) }
    const response = await server.request(`/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

/** Two clients with Ada and another person; every place that can hold a text of Ada does. */
const furnished = async (operator: Operator) => {
  const credentials = await operator.stocked()
  const other = await operator.json<Credentials>('client', 'add', 'beta')
  await operator.json('wallet', 'add', 'beta', 'USD')
  await operator.json('wallet', 'fund', '2', '100', '--remarks', 'Asked for by ADA.BYRON@example.com')
  const server = await operator.serve('--rate-limit', 'off')
  const acme = await Customer.of(server, credentials)
  const beta = await Customer.of(server, other)
  const [post, postBeta] = [poster(server, acme), poster(server, beta)]
  const saved = await post('/beneficiaries', ADA, 'save-ada.byron@example.com')
  await postBeta('/beneficiaries', { ...ADA, email: ADA.email.toLowerCase() })
  const bob = await post('/beneficiaries', BOB)
  const payment = {
    ...PAYMENT,
    beneficiary_id: saved.body.id,
    description: 'For the Countess',
    metadata: { to: 'the countess' },
  }
  const paid = await post('/payouts', { ...payment, reference_id: 'bonus ada.byron@example.com' }, 'pay-the-person-1')
  const inline = {
    beneficiary_email: ADA.email.toUpperCase(),
    beneficiary_first_name: ADA.first_name,
    beneficiary_last_name: ADA.last_name,
    beneficiary_identifiers: { passport: 'ZX-PASSPORT' },
  }
  const again = await postBeta('/payouts', { ...PAYMENT, wallet_id: 2, reference_id: 'p-1', ...inline })
  const bobs = {
    ...PAYMENT,
    beneficiary_id: bob.body.id,
    reference_id: 'bob-1',
    description: 'cc ada.byron@example.com',
  }
  const paidBob = await post('/payouts', {
    ...bobs,
    metadata: { 'Ada.Byron@example.com': ['x', 'see ADA.BYRON@EXAMPLE.COM'] },
  })
  const order = {
    product_id: 1,
    denomination: 10,
    quantity: 1,
    email: ADA.email,
    ref: 'gift-for-ada.byron@example.com',
  }
  const ordered = await post('/orders', order, 'order-for-her')
  expect([saved, paid, again, paidBob, ordered].map(({ status }) => status)).toEqual([201, 201, 201, 201, 200])
  const payouts = [paid, again, paidBob].map(({ body }) => String(body.id))
  await operator.json('payouts', 'advance', String(payouts[0]), '--to', 'processing')
  await operator.json('payouts', 'fail', String(payouts[0]), '--reason', 'No response from ada.byron@example.com')
  return {
    server,
    acme,
    beta,
    post,
    payment,
    order,
    ids: { saved: String(saved.body.id), payouts, order: Number(ordered.body.id) },
  }
}

/** The response of a receiver, as deliveries record it. */
const recordReply = (operator: Operator, about: string, text: string): void => {
  const sqlite = new Database(join(operator.dataDir, 'scrip.sqlite'))
  sqlite.run(
    `INSERT INTO webhook_deliveries (client_id, webhook_id, event_id, event_type, attempt, status, duration_ms, response_body, created_at_ms)
      SELECT client_id, 'whk_1', event_id, type, 1, 'delivered', 1, ?, ${Date.now()} FROM events WHERE record = ? LIMIT 1`,
    [text, about],
  )
  sqlite.close()
}

/** Writes a text and deletes it as SQLite does by default: the page keeps its bytes. */
const leaveInFreePage = async (operator: Operator, text: string): Promise<void> => {
  const sqlite = new Database(join(operator.dataDir, 'scrip.sqlite'))
  sqlite.run('PRAGMA secure_delete = OFF')
  sqlite.run("INSERT INTO seeds VALUES ('passing', ?)", [text])
  sqlite.run("DELETE FROM seeds WHERE name = 'passing'")
  sqlite.close()
}

/** Makes the database large enough that SQLite does not rewrite it in memory alone. */
const enlarge = (operator: Operator): number => {
  const sqlite = new Database(join(operator.dataDir, 'scrip.sqlite'))
  sqlite.run(
    `INSERT INTO events (event_id, client_id, type, record, data, created_at_ms)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 12000)
      SELECT 'evt_' || n, 1, 'ping', 'ping ' || n, json_object('text', hex(randomblob(1000))), ${Date.now()} FROM numbers`,
  )
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  sqlite.close()
  return statSync(join(operator.dataDir, 'scrip.sqlite')).size
}

const AS_CONTAINER = ['unshare', '--user', '--map-root-user', '--mount']
const canMount = Bun.which('unshare') !== null && Bun.spawnSync([...AS_CONTAINER, 'true']).exitCode === 0

/** The whole system is read-only, with /tmp, except for the data folder, as in the compose file of the guide. */
const onReadOnlySystem = ({ dataDir }: Operator): Place => ({
  through: [
    ...AS_CONTAINER,
    'sh',
    '-c',
    'mount --bind "$0" "$0" && mount -o remount,ro,bind / && cd / && exec "$@"',
    dataDir,
  ],
})

/** The data folder is a disk of this size, whose files are then back in the folder. */
const onDiskOf = (bytes: number, { dataDir, folder }: Operator): Place => {
  const kept = join(folder, 'kept')
  mkdirSync(kept)
  const mount = `mount --bind "$0" ${kept} && mount -t tmpfs -o mode=700,size=${bytes} none "$0" && cp -a ${kept}/. "$0"`
  return {
    through: [...AS_CONTAINER, 'sh', '-c', `${mount} && "$@"; code=$?; cp -a "$0"/. ${kept}; exit $code`, dataDir],
  }
}

describe('scrip beneficiary erase', () => {
  test('takes a person out of everything at every client, beside a server, and leaves the ledger whole', () =>
    asOperator(async (operator) => {
      const { server, acme, beta, post, payment, order, ids } = await furnished(operator)
      const [paid, again, bobs] = ids.payouts
      recordReply(operator, `payout ${paid}`, 'Thank you, Adaline')
      recordReply(operator, `payout ${bobs}`, 'queued for ADA.BYRON@example.com')
      expect(foundIn(operator.dataDir, TRACES)).not.toEqual([])
      const wallet = await acme.wallet()

      const erased = await operator.json<Record<string, unknown>>('beneficiary', 'erase', 'ada.byron@EXAMPLE.com')
      expect(foundIn(operator.dataDir, TRACES)).toEqual([])
      expect(erased).toMatchObject({ payouts: 3, orders: 1, transactions: 3, deliveries: 2, idempotency_keys: 3 })
      expect(erased.beneficiaries).toEqual([ids.saved, expect.stringMatching(/^ben_/)])

      const nobody = { id: null, email: null, first_name: null, last_name: null, country: null, phone: null }
      expect(await acme.read(`/payouts/${paid}`)).toMatchObject({
        reference_id: 'erased',
        status: 'failed',
        beneficiary: nobody,
        description: null,
        metadata: {},
        failure_reason: 'erased',
        events: [{}, {}, {}, { event_type: 'failed', message: 'erased' }],
      })
      expect(await beta.read(`/payouts/${again}`)).toMatchObject({ reference_id: 'p-1', beneficiary: nobody })
      expect(await acme.read(`/payouts/${bobs}`)).toMatchObject({
        beneficiary: { email: BOB.email, first_name: 'Bob' },
        description: 'erased',
        metadata: { erased: ['x', 'erased'] },
      })
      expect(await acme.read(`/orders/${ids.order}`)).toMatchObject({
        email: null,
        ref: 'erased',
        client_reference: 'erased',
      })
      expect(await acme.read<object[]>('/beneficiaries')).toMatchObject([
        { email: BOB.email, metadata: { boss: 'erased' } },
      ])
      expect(await beta.read<object[]>('/beneficiaries')).toEqual([])
      expect(await acme.read<object[]>('/payouts?search=byron')).toEqual([])
      expect(await beta.read<object[]>('/transactions?search=ada.byron')).toEqual([])
      expect(await beta.read<object[]>('/transactions?source_type=funding')).toMatchObject([
        { amount: 100, remarks: 'erased' },
      ])
      const events = await acme.read<{ type: string; data: object }[]>('/events?limit=100')
      expect(events.find(({ type }) => type === 'payout.failed')).toMatchObject({ data: { beneficiary: nobody } })
      expect(events.find(({ type }) => type === 'order.delivered')).toMatchObject({
        data: { email: null, ref: 'erased' },
      })
      expect(await acme.wallet()).toEqual(wallet)

      for (const [path, body, key] of [
        ['/beneficiaries', ADA, 'save-ada.byron@example.com'],
        ['/payouts', { ...payment, reference_id: 'bonus ada.byron@example.com' }, 'pay-the-person-1'],
        ['/orders', order, 'order-for-her'],
      ] as const) {
        const { status, body: refused } = await post(path, body, key)
        expect([path, status, JSON.stringify(refused)]).toEqual([
          path,
          400,
          expect.stringContaining('different request'),
        ])
      }
      const [row] = await operator.json<object[]>('audit', 'list')
      expect(row).toMatchObject({ command: 'beneficiary erase', subject: '[e-mail]', outcome: 'done', after: erased })
      expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
      await server.stop()
      expect(foundIn(operator.dataDir, TRACES)).toEqual([])
    }))

  test('by the id of a saved beneficiary, erases the data of this beneficiary alone', () =>
    asOperator(async (operator) => {
      const { server, acme, beta, ids } = await furnished(operator)
      const [paid, again] = ids.payouts
      const list = (...args: string[]) => operator.json<object[]>('beneficiary', 'list', ...args)
      expect(await list('--email', 'ADA.byron@example.com')).toMatchObject([{ client: 'beta' }, { client: 'acme' }])
      expect(await list('--client', 'beta', '--until', '2020-01-01')).toEqual([])
      expect(await operator.json('beneficiary', 'show', ids.saved)).toMatchObject({
        id: ids.saved,
        email: ADA.email,
        phone: ADA.phone,
        total_amount: 0,
        currency: 'USD',
        metadata: ADA.metadata,
      })
      const erased = await operator.json('beneficiary', 'erase', ids.saved)
      expect(erased).toMatchObject({
        beneficiaries: [ids.saved],
        payouts: 1,
        orders: 0,
        transactions: 2,
        idempotency_keys: 2,
      })
      expect(await acme.read(`/payouts/${paid}`)).toMatchObject({
        reference_id: 'erased',
        beneficiary: { email: null },
      })
      expect(await acme.read(`/orders/${ids.order}`)).toMatchObject({ email: ADA.email })
      expect(await beta.read(`/payouts/${again}`)).toMatchObject({ beneficiary: { first_name: ADA.first_name } })
      expect(await beta.read<object[]>('/beneficiaries')).toMatchObject([{ first_name: ADA.first_name }])
      expect(await operator.json<object[]>('audit', 'list', '--status', 'done')).toContainEqual(
        expect.objectContaining({ command: 'beneficiary erase', subject: ids.saved }),
      )
      await server.stop()
      expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
    }))

  test('leaves the folder to its server: no other one starts on it, commands go through it, and it continues to write', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      await using _server = server
      const post = poster(server, customer)
      for (const email of ['one@example.com', 'two@example.com']) {
        await post('/beneficiaries', { ...BOB, email })
        await operator.json('beneficiary', 'erase', email)
        expect(await operator.run(['serve', '--mode', 'live', '--port', '0'])).toMatchObject({
          exitCode: 4,
          stderr: expect.stringContaining('another scrip serve is using this folder'),
        })
        await operator.json('client', 'list')
        expect((await server.request('/readyz')).status).toBe(200)
        expect((await post('/beneficiaries', { ...BOB, email: `after-${email}` })).status).toBe(201)
      }
    }))

  test('refuses an unknown person, and a text that is neither an address nor an id', () =>
    asOperator(async (operator) => {
      await operator.stocked()
      for (const named of ['nobody@example.com', 'ben_0']) {
        expect(await operator.run(['beneficiary', 'erase', named, '--json'])).toEqual({
          exitCode: 1,
          stdout: '',
          stderr: 'scrip: nothing is stored about this person\nSee scrip beneficiary list.\n',
        })
      }
      expect(await operator.run(['beneficiary', 'erase', '@'])).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: expect.stringMatching(/^scrip: @ is neither an e-mail address nor the id/),
      })
      const rows = await operator.json<{ subject: string }[]>('audit', 'list', '--status', 'refused')
      expect(rows.map(({ subject }) => subject)).toEqual(['@', 'ben_0', '[e-mail]'])
    }))

  test('asked again with its id, as after a server that ended, says that it was done, and rewrites the file', () =>
    asOperator(async (operator) => {
      const { server, ids } = await furnished(operator)
      await using _server = server
      const request = {
        id: 'act_1',
        command: 'beneficiary erase',
        subject: ids.saved,
        user: 'root',
        input: { person: ids.saved },
        isDryRun: false,
      }
      const body = `${JSON.stringify(request)}\n`
      const ask = async (): Promise<Record<string, unknown>> => {
        const unix = join(operator.dataDir, 'run', 'scrip.sock')
        const lines = await (await fetch('http://scrip/acts', { unix, method: 'POST', body })).text()
        return JSON.parse(lines.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
      }
      expect(await ask()).toMatchObject({ result: { beneficiaries: [ids.saved], payouts: 1 } })
      await leaveInFreePage(operator, 'a trace of the countess')
      expect(foundIn(operator.dataDir, ['a trace of the countess'])).not.toEqual([])
      const again = await ask()
      expect(again).toMatchObject({ result: { command: 'beneficiary erase', subject: ids.saved } })
      expect(foundIn(operator.dataDir, ['a trace of the countess'])).toEqual([])
      const rows = await operator.json<{ command: string; outcome: string }[]>('audit', 'list')
      expect(rows.filter(({ command }) => command === 'beneficiary erase')).toMatchObject([{ outcome: 'done' }])
    }))

  test.skipIf(!canMount)('needs no temporary folder but the data folder', () =>
    asOperator(async (operator) => {
      await operator.stocked()
      enlarge(operator)
      await leaveInFreePage(operator, 'a trace of the countess')
      await operator.json('wallet', 'fund', '1', '5', '--remarks', 'Asked for by ada.byron@example.com')
      const ended = await operator.run(['beneficiary', 'erase', 'ada.byron@example.com'], onReadOnlySystem(operator))
      expect(ended).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^transactions +1$/m) })
      expect(foundIn(operator.dataDir, ['a trace of the countess', 'ada.byron'])).toEqual([])
      expect(await operator.run(['verify'], onReadOnlySystem(operator))).toMatchObject({ exitCode: 0 })
    }),
  )

  test.skipIf(!canMount)('says what room it needs, and erases nothing where that is not free', () =>
    asOperator(async (operator) => {
      await operator.stocked()
      await operator.json('wallet', 'fund', '1', '5', '--remarks', 'Asked for by ada.byron@example.com')
      const bytes = enlarge(operator)
      const needed = Math.ceil((2 * bytes) / 1e6)
      const tight = onDiskOf(2.5 * bytes, operator)
      const { exitCode, stdout, stderr } = await operator.run(['beneficiary', 'erase', 'ada.byron@example.com'], tight)
      expect({ exitCode, stdout, stderr }).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: `scrip: nothing was erased: rewriting the database takes ${needed} MB of free space in ${operator.dataDir}, which has ${/which has (\d+)/.exec(stderr)?.[1]} MB\nFree some space first.\n`,
      })
      expect(await operator.json<object[]>('transactions', '--limit', '1')).toMatchObject([
        { remarks: 'Asked for by ada.byron@example.com' },
      ])
      const [row] = await operator.json<object[]>('audit', 'list')
      expect(row).toMatchObject({ command: 'beneficiary erase', outcome: 'refused' })
      const done = await operator.run(['beneficiary', 'erase', 'ada.byron@example.com'])
      expect(done).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(`takes up to ${needed} MB of free`) })
    }),
  )

  test.each([
    [
      'what a restore has set aside',
      (folder: string) => writeFileSync(join(folder, 'scrip.sqlite.before-2026-01-01'), 'x', { mode: 0o600 }),
    ],
    [
      'half a copy, which a server that was to take over has left',
      (folder: string) => {
        mkdirSync(join(folder, '.scrip-draft-1'))
        writeFileSync(join(folder, '.scrip-draft-1/scrip.sqlite'), 'no header yet, but ada.byron@example.com')
      },
    ],
    ['a backup', (folder: string) => copyFileSync(join(folder, 'scrip.sqlite'), join(folder, 'nightly.db'))],
  ])('refuses while %s is in the data folder', (_, put) =>
    asOperator(async (operator) => {
      await operator.stocked()
      put(operator.dataDir)
      const { exitCode, stderr } = await operator.run(['beneficiary', 'erase', 'ada.byron@example.com'])
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: expect.stringContaining('Move it to your backups, or delete it'),
      })
    }),
  )
})
