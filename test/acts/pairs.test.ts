// Runs in process alone: it does the acts, and reads rows that no response shows.

import { expect, test } from 'bun:test'
import { Command, CommanderError } from 'commander'
import type { Act } from '../../src/acts/act.ts'
import { administrationOf } from '../../src/acts/administration.ts'
import { inputOf } from '../../src/acts/fields.ts'
import { createServices } from '../../src/app/services.ts'
import { productEntry } from '../../src/catalog/edit.ts'
import { seedSampleCatalog } from '../../src/catalog/import.ts'
import { perform } from '../../src/commands/acts/perform.ts'
import { loadActs } from '../../src/commands/acts/table.ts'
import { explained } from '../../src/commands/advice.ts'
import { addField } from '../../src/commands/arguments.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { secureRandomness } from '../../src/kernel/ids.ts'
import { seedReferenceData } from '../../src/start/seed.ts'
import { World } from '../../src/work/world.ts'
import { forFile, found, openProgram, type TestWorld } from '../harness.ts'
import { DELAYED, INSTANT, pay, place } from '../records.ts'
import { control, NOON, succeed } from '../sandbox/surface.ts'

/** A command and the operation of the sandbox that does the same take and refuse the same, in the same words (contract C20). */

const program = forFile(openProgram({ flags: ['--seed', '53'] }))
const { reference, ciphers, catalog } = program.deps
const { supply } = createServices(program.deps).ordering
const acts = await loadActs()

/** Order 1 is delivered, order 2 waits; a payout is created. Nothing moves by itself. */
const prepare = async (): Promise<{ world: TestWorld; payout: string }> => {
  const world = await program.world(NOON)
  await succeed(program, 'PUT', `/pace?world=${world.name}`, { payouts: 'manual', orders: 'manual' })
  await place(world, INSTANT)
  await place(world, DELAYED)
  const { id: payout } = await pay(world)
  await succeed(program, 'POST', `/clients?world=${world.name}`, { name: 'taken' })
  return { world, payout }
}
const prepared = await prepare()

const worldOf = (name: string): World => found(program.deps.worlds.find(name))

let copies = 0
const copied = async (): Promise<World> => {
  const name = `copy-${++copies}`
  await succeed(program, 'PUT', `/worlds/${name}`, { from: prepared.world.name })
  return worldOf(name)
}

const catalogImage = (): Uint8Array => {
  const database = Database.inMemory()
  migrate(database.sqlite, systemClock)
  seedReferenceData(database)
  seedSampleCatalog(database, reference)
  return database.image()
}
const CATALOG = catalogImage()

/** The data of live mode, with the catalog of the sandbox. */
const live = (): World => new World('default', Database.inMemory(CATALOG), systemClock, secureRandomness)

type Result = { done: true } | { refused: string }

/** The words of a command: the problem alone, which the framework puts behind the argument, and no advice. */
const refusalOf = (error: unknown): Result => {
  const [first = '', second = ''] = explained(error).split('\n')
  const line = /problems?:$/.test(first) ? second : first
  const problem = error instanceof CommanderError ? /It (.*)\.$/.exec(explained(error))?.[1] : undefined
  return { refused: wordsOf(problem ?? line) }
}

/** Without the name of the field, which has another one in a command. */
const wordsOf = (message: string): string =>
  message
    .replace(/^The \S+ field (.*)\.$/, '$1')
    .replace(/^\w+ (must .*)$/, '$1')
    .replace(/^\S*: /, '')
    .replace(/^[A-Z]/, (letter) => letter.toLowerCase())

const byCommand = async (world: World, line: string, file = ''): Promise<Result> => {
  const words = line.split(' ').map((word) => (word === "''" ? '' : word))
  const command = words.slice(0, 2).join(' ')
  const act = acts[command] as Act
  const parser = new Command(command).exitOverride().configureOutput({ writeErr: () => undefined })
  for (const one of Object.values(act.takes)) addField(parser, one)
  let input: Record<string, unknown> = {}
  parser.action((...args) => {
    input = inputOf(act.takes, args)
  })
  const performer = {
    ...administrationOf(world, reference),
    findProduct: (id: number) => catalog.findAny(world, id),
    config: { ...defaultConfig(), dataDir: '/none' } as never,
    database: world.db,
    delivering: { reference, supply, ciphers },
    isCopy: false,
    write: <T>(unit: (tx: never) => T) => world.db.write(unit as never) as Promise<T>,
    refresh: () => undefined,
  }
  const request = { id: 'act_1', command, subject: '', user: 'root', isDryRun: false }
  const asking = { input: file, note: () => undefined, onProgress: () => undefined }
  try {
    parser.parse(words.slice(2), { from: 'user' })
    await perform(performer as never, act, { ...request, input }, asking)
    return { done: true }
  } catch (error) {
    return refusalOf(error)
  }
}

const byOperation = async ({ name }: World, route: string, body: unknown): Promise<Result> => {
  const [method = '', path = ''] = route.split(' ')
  const { status, body: answer } = await control(program, method, `${path}?world=${name}`, body)
  if (status < 300) return { done: true }
  expect(status).toBeOneOf([400, 404])
  const { message, messages = {} } = (
    answer as { error: { message: string; messages?: Record<string, { message: string }[]> } }
  ).error
  return { refused: wordsOf(Object.values(messages)[0]?.[0]?.message ?? message) }
}

/** A command has an act in the audit, each encryption its own nonce, and a password is drawn before a client is refused. */
const UNLIKE = { act: null, sealed: null, position: null }

/** All rows that an act can change. */
const rows = ({ db: { sqlite } }: World) =>
  sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'audit%'")
    .all()
    .map(({ name }) => [
      name,
      sqlite
        .query<object, []>(`SELECT * FROM "${name}"`)
        .all()
        .map((row) => ({ ...row, ...UNLIKE })),
    ])
const BEFORE = rows(await copied())

const DONE: Result = { done: true }
const band = (min_value: number, max_value: number, discount: number) => ({ min_value, max_value, discount })
const LONG = 'x'.repeat(1_001)
const MANY = 99_999_999_999_999
const POSTPAID = 'wallet add sandbox'

/** A record is named in one and has an id in the other: each refuses it in its own words. */
const TRANSLATED: [command: RegExp, operation: RegExp][] = [
  [/^there is no client/, /^(?:must be the id of a client of this world|client not found)$/],
  // A name of live mode is a username, and one in a world a part of it.
  [/A name is 1 to 64/, /^must be lower-case letters/],
  [/^there is no (?:wallet|order|payout|event|product)/, /^(?:wallet|order|payout|event|product) not found$/],
  [/^order \d+ is DELIVERED/, /^cannot go from DELIVERED to/],
  [/^payout \S+ is created/, /^cannot go from created to/],
]

/** @param body `PAYOUT` in the lines and paths is the id of the payout */
const PAIRS: [line: string, route: string, body: unknown, expected?: Partial<Record<'done' | 'refused', unknown>>][] = [
  // wallet add
  ['wallet add sandbox EUR', 'POST /wallets', { currency: 'EUR' }, DONE],
  ['wallet add limited KWD', 'POST /wallets', { currency: 'KWD', client_id: 2 }, DONE],
  ['wallet add sandbox usd', 'POST /wallets', { currency: 'usd' }, DONE],
  ['wallet add sandbox EURO', 'POST /wallets', { currency: 'EURO' }],
  ['wallet add sandbox XXX', 'POST /wallets', { currency: 'XXX' }],
  [`wallet add sandbox ''`, 'POST /wallets', { currency: '' }],
  ['wallet add nobody USD', 'POST /wallets', { currency: 'USD', client_id: 9 }],
  ...[
    ['USD', 100, DONE],
    ['KWD', 0.125, DONE],
    ['USD', 1_000_000_000, DONE],
    ['USD', 1_000_000_000.01, { refused: 'must be at most 1000000000' }],
    ['USD', 0, { refused: '0 is not above zero' }],
    ['USD', -1, { refused: '-1 is not above zero' }],
    ['JPY', MANY, { refused: 'must be at most 1000000000' }],
    ['USD', MANY, { refused: 'must be at most 1000000000' }],
    ['JPY', 0.5, { refused: 'must have at most the 0 decimals of JPY' }],
    ['USD', 0.001, { refused: 'must have at most the 2 decimals of USD' }],
  ].map(([currency, limit, expected]): (typeof PAIRS)[number] => [
    `${POSTPAID} ${currency} --postpaid=${limit}`,
    'POST /wallets',
    { currency, type: 'POSTPAID', credit_limit: limit },
    expected as object,
  ]),
  // wallet fund and threshold
  ...[250.5, 0.01, 1_000_000_000, 1_000_000_000.01, 0, -1, 0.001, MANY].map((amount): (typeof PAIRS)[number] => [
    `wallet fund 1 -- ${amount}`,
    'POST /wallets/1/fund',
    { amount },
  ]),
  ['wallet fund 1 5 --remarks=Invoice', 'POST /wallets/1/fund', { amount: 5, remarks: 'Invoice' }, DONE],
  ['wallet fund 99 5', 'POST /wallets/99/fund', { amount: 5 }],
  [`wallet fund 1 5 --remarks=${LONG}`, 'POST /wallets/1/fund', { amount: 5, remarks: LONG }],
  ...[500, 0, -1, 0.001, 1_000_000_000, 1_000_000_001, MANY].map((threshold): (typeof PAIRS)[number] => [
    `wallet threshold 1 -- ${threshold}`,
    'PATCH /wallets/1',
    { threshold },
  ]),
  ['wallet threshold 1 off', 'PATCH /wallets/1', { threshold: null }, DONE],
  ['wallet threshold 99 5', 'PATCH /wallets/99', { threshold: 5 }],
  // client
  ['client add shop', 'POST /clients', { name: 'shop' }, DONE],
  ['client add taken', 'POST /clients', { name: 'taken' }, { refused: 'client taken already exists' }],
  ['client add ä', 'POST /clients', { name: 'ä' }],
  [`client add ''`, 'POST /clients', { name: '' }],
  [`client add ${LONG}`, 'POST /clients', { name: LONG }],
  ['client feature sandbox vouchers off', 'PATCH /clients/1', { features: { vouchers: false } }, DONE],
  ['client feature limited vouchers on', 'PATCH /clients/2', { features: { vouchers: true } }, DONE],
  ['client feature nobody vouchers on', 'PATCH /clients/9', { features: { vouchers: true } }],
  ...[1, 1_000_000_000, 0, -1, 1.5, 1_000_000_001, 1e15].map((quantity): (typeof PAIRS)[number] => [
    `client limits sandbox --max-quantity=${quantity}`,
    'PATCH /clients/1',
    { max_quantity: quantity },
  ]),
  ['client limits limited --max-quantity=off', 'PATCH /clients/2', { max_quantity: null }, DONE],
  ['client limits limited --rate-limit=default', 'PATCH /clients/2', { rate_limit: null }, DONE],
  ...['100/h,3/m', 'off', 'fast', '0/h', '', '1/h'.repeat(40)].map((limit): (typeof PAIRS)[number] => [
    `client limits sandbox --rate-limit=${limit}`,
    'PATCH /clients/1',
    { rate_limit: limit },
  ]),
  ...[7.5, 0, 100, 100.01, -1, 1.234].map((percent): (typeof PAIRS)[number] => [
    `client discount sandbox 1 -- ${percent}`,
    'PATCH /clients/1',
    { discounts: { 1: percent } },
  ]),
  ['client discount sandbox 999999 5', 'PATCH /clients/1', { discounts: { 999999: 5 } }],
  ['client discount nobody 1 5', 'PATCH /clients/9', { discounts: { 1: 5 } }],
  // rates
  ...['0.92', '1', '0', '-1', '1.123456789', '90071993', 'much'].map((rate): (typeof PAIRS)[number] => [
    `rates set USD/EUR=${rate}`,
    'PUT /rates',
    { base: 'USD', rates: { EUR: rate } },
  ]),
  ['rates set USD/USD=1', 'PUT /rates', { base: 'USD', rates: { USD: '1' } }, DONE],
  ['rates set USD/USD=1 USD/EUR=0.5', 'PUT /rates', { base: 'USD', rates: { USD: '1', EUR: '0.5' } }, DONE],
  ['rates set USD/USD=2', 'PUT /rates', { base: 'USD', rates: { USD: '2' } }],
  ['rates set USD/XXX=1', 'PUT /rates', { base: 'USD', rates: { XXX: '1' } }],
  ['rates set usd/EUR=1', 'PUT /rates', { base: 'usd', rates: { EUR: '1' } }],
  ['rates set USD/eur=1', 'PUT /rates', { base: 'USD', rates: { eur: '1' } }],
  // A file has the form of the body.
  ...[{ EUR: 0.92 }, { EUR: '0' }, { USD: '1' }, { USD: '2' }, { XXX: '1' }, {}].map(
    (rates): (typeof PAIRS)[number] => ['rates set --file=FILE', 'PUT /rates', { base: 'USD', rates }],
  ),
  // orders
  ['orders deliver 2', 'POST /orders/2/deliver', {}, DONE],
  ...[1, 0, -1, 1.5, 1_000, 1e15].map((quantity): (typeof PAIRS)[number] => [
    `orders deliver 2 -- ${quantity}`,
    'POST /orders/2/deliver',
    { quantity },
  ]),
  ['orders deliver 1', 'POST /orders/1/deliver', {}],
  ['orders deliver 99', 'POST /orders/99/deliver', {}],
  ['orders fail 2 --reason=Gone', 'POST /orders/2/fail', { failure_reason: 'Gone' }, DONE],
  ['orders fail 2 --reason=', 'POST /orders/2/fail', { failure_reason: '' }],
  ['orders fail 1', 'POST /orders/1/fail', {}],
  ['orders refund 1', 'POST /orders/1/refund', {}, DONE],
  ['orders refund 2', 'POST /orders/2/refund', {}],
  ['orders refund 1 --vouchers=none', 'POST /orders/1/refund', { vouchers: ['none'] }],
  [`orders refund 1 --vouchers=${'x'.repeat(101)}`, 'POST /orders/1/refund', { vouchers: ['x'.repeat(101)] }],
  ['orders refund 1 --remarks=', 'POST /orders/1/refund', { remarks: '' }],
  // payouts
  ['payouts advance PAYOUT', 'POST /payouts/PAYOUT/advance', {}, DONE],
  ['payouts advance PAYOUT --to=settling', 'POST /payouts/PAYOUT/advance', { to: 'settling' }, DONE],
  ['payouts advance none', 'POST /payouts/none/advance', {}],
  ['payouts fail PAYOUT', 'POST /payouts/PAYOUT/fail', {}],
  ['payouts fail PAYOUT --code=', 'POST /payouts/PAYOUT/fail', { failure_code: '' }],
  [`payouts fail PAYOUT --code=${'x'.repeat(101)}`, 'POST /payouts/PAYOUT/fail', { failure_code: 'x'.repeat(101) }],
  ['payouts return PAYOUT', 'POST /payouts/PAYOUT/return', {}],
  // webhooks
  ['webhooks redeliver none', 'POST /events/none/redeliver', {}],
  [
    `webhooks redeliver none --webhook=${'x'.repeat(65)}`,
    'POST /events/none/redeliver',
    { webhook_id: 'x'.repeat(65) },
  ],
]

/** Products have a catalog of their own in live mode, and one for all worlds in the sandbox. */
const PRODUCT_PAIRS: [line: string, body: object, expected?: Result][] = [
  ['catalog edit 1 --active=off', { active: false }, DONE],
  ...[1, 40, 0, -1, 1.5, 1e15].map((quantity): (typeof PRODUCT_PAIRS)[number] => [
    `catalog edit 1 --max-quantity=${quantity}`,
    { max_quantity: quantity },
  ]),
  ...[12.5, 0, 100, 100.01, -1, 1.234].map((percent): (typeof PRODUCT_PAIRS)[number] => [
    `catalog edit 1 --gst=${percent}`,
    { gst_percent: percent },
  ]),
  ['catalog edit 1 --handling-fee=2+1.5%', { handling_fee: { fixed: 2, percent: 1.5 } }, DONE],
  ['catalog edit 1 --handling-fee=2', { handling_fee: { fixed: 2 } }, DONE],
  ['catalog edit 1 --handling-fee=101%', { handling_fee: { percent: 101 } }, { refused: 'must be at most 100' }],
  ['catalog edit 1 --handling-fee=0.001', { handling_fee: { fixed: 0.001 } }],
  ['catalog edit 1 --denomination 10-50=2.5 100=0', { denominations: [band(10, 50, 2.5), band(100, 100, 0)] }, DONE],
  ['catalog edit 1 --denomination 50-10=2.5', { denominations: [band(50, 10, 2.5)] }],
  ['catalog edit 1 --denomination 10=2.555', { denominations: [band(10, 10, 2.555)] }],
  ['catalog edit 1 --denomination 10=101', { denominations: [band(10, 10, 101)] }],
  ['catalog edit 1 --denomination 0=1', { denominations: [band(0, 0, 1)] }],
  ['catalog edit 999999 --active=off', { active: false }],
]

/** The same result of both; where they refuse it, each in its own words for a record that is missing. */
const expectSame = (command: Result, operation: Result, expected?: unknown): void => {
  const isTranslated =
    'refused' in command &&
    'refused' in operation &&
    TRANSLATED.some(([said, written]) => said.test(command.refused) && written.test(operation.refused))
  if (!isTranslated) expect({ command, operation }).toEqual({ command: operation, operation })
  if (expected) expect(command).toEqual(expected as Result)
}

for (const [line, route, body, expected] of PAIRS)
  test(`${line} and ${route} ${JSON.stringify(body)}`.slice(0, 110), async () => {
    const [left, right] = [await copied(), await copied()]
    const command = await byCommand(left, line.replace('PAYOUT', prepared.payout), JSON.stringify(body))
    const operation = await byOperation(right, route.replace('PAYOUT', prepared.payout), body)
    expectSame(command, operation, expected)
    const after = rows(left)
    expect(after).toEqual(rows(right))
    if ('refused' in command) expect(after).toEqual(BEFORE)
  })

for (const [line, body, expected] of PRODUCT_PAIRS)
  test(`${line} and PATCH /products/{id} ${JSON.stringify(body)}`, async () => {
    const [left, right] = [live(), await copied()]
    const id = Number(line.split(' ')[2])
    const route = `PATCH /products/${id}`
    const entries = async () => [
      productEntry(left.db.query, reference, id),
      (await control(program, 'PATCH', `/products/${id}?world=${right.name}`, {})).body,
    ]
    const [before] = await entries()
    const command = await byCommand(left, line)
    expectSame(command, await byOperation(right, route, body), expected)
    const [edited, inWorld] = await entries()
    if (edited) expect(inWorld).toEqual(edited)
    if ('refused' in command) expect(edited).toEqual(before)
    else expect(edited).not.toEqual(before)
  })

test('every operation that is made of an act has its pairs', () => {
  const named = Object.values(acts).flatMap(({ inSandbox }) =>
    inSandbox !== undefined && !inSandbox.startsWith('GET') ? [inSandbox] : [],
  )
  const tested = [...PAIRS.map(([, route]) => route), 'PATCH /products/1'].map((route) =>
    route.replace(/\/(?:\d+|PAYOUT|none)(?=\/|$)/, '/{id}'),
  )
  expect([...new Set(tested)].sort()).toEqual([...new Set(named)].sort())
})
