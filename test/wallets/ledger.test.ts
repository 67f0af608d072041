// Runs in process alone: it reads data that no response shows.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Tx } from '../../src/db/database.ts'
import { foundOr } from '../../src/kernel/failure.ts'
import { AMOUNT_MINOR_MAX } from '../../src/kernel/money.ts'
import { WALLET_NOT_FOUND } from '../../src/wallets/contract.ts'
import { adjust, type Cause, fund, type Line, moveWallet, refund, reserve, settle } from '../../src/wallets/ledger.ts'
import { findTransaction, findWallet, openWallet, type Wallet } from '../../src/wallets/queries.ts'
import { failureOf } from '../errors.ts'
import { openProgram, type Program } from '../harness.ts'
import { HUNDRED } from '../records.ts'
import { expectSoundLedger, lastEntryOf } from './books.ts'

const NOW_MS = 1_893_456_000_000
const USD = 139
const JPY = 64
const KWD = 71
const CLIENT = 1

let program: Program
beforeEach(() => {
  program = openProgram()
})
afterEach(() => program.stop())

const write = <T>(work: (tx: Tx) => T): Promise<T> => program.defaultWorld.db.write(work)
const context = () => ({ world: program.defaultWorld, reference: program.deps.reference })
const sql = (statement: string) => () => program.defaultWorld.db.sqlite.run(statement)
const cause = (change: Partial<Cause> = {}): Cause => ({
  sourceType: 'order',
  sourceId: '1',
  remarks: 'a card',
  nowMs: NOW_MS,
  ...change,
})
/** An empty wallet of a type. */
const opened = (currencyId: number, type: Wallet['type'] = 'PREPAID', creditLimitMinor = 0) =>
  write((tx) => openWallet(tx, { clientId: CLIENT, currencyId, type, creditLimitMinor }, NOW_MS))
const funded = async (currencyId: number, amountMinor: number) => {
  const wallet = await opened(currencyId)
  await write((tx) => fund(tx, context(), now(wallet), amountMinor, { remarks: null, nowMs: NOW_MS }))
  return wallet
}
const now = ({ id }: Wallet): Wallet => foundOr(findWallet(program.defaultWorld.db.query, CLIENT, id), WALLET_NOT_FOUND)
const holds = (wallet: Wallet) => {
  const { amountMinor, reservedMinor } = now(wallet)
  return { amountMinor, reservedMinor }
}
const written = ({ clientId }: Wallet, { transactionId }: { transactionId: number }) =>
  findTransaction(program.defaultWorld.db.query, clientId, transactionId)
test('a wallet below its limit accepts credits', async () => {
  const wallet = await opened(USD, 'POSTPAID', 1_000)
  await write((tx) => adjust(tx, context(), now(wallet), -1_000, { remarks: 'a correction', nowMs: NOW_MS }))
  const lowered = { ...now(wallet), creditLimitMinor: 0 }
  await write((tx) => fund(tx, context(), lowered, 300, { remarks: null, nowMs: NOW_MS }))
  expect(holds(wallet)).toEqual({ amountMinor: -700, reservedMinor: 0 })
  expectSoundLedger(program.defaultWorld.db.sqlite)
})

describe('a ledger entry', () => {
  test.each([
    ['by a unit', [{ account: 'funding', currencyId: USD, amountMinor: -99 }]],
    ['against nothing', []],
    ['with another currency', [{ account: 'funding', currencyId: JPY, amountMinor: -100 }]],
  ] satisfies [string, Line[]][])('that does not balance is refused and not written: %s', async (_, against) => {
    const wallet = await opened(USD)
    const before = program.defaultWorld.db.image()
    const refused = write((tx) => moveWallet(tx, context(), now(wallet), cause(), 100, against))
    await expect(refused).rejects.toThrow(/^the lines in currency 139 sum to 1(00)?, not to zero$/)
    expect(Buffer.compare(program.defaultWorld.db.image(), before)).toBe(0)
  })

  test('that settles more or less than the reserve is refused', async () => {
    const wallet = await funded(USD, 1_000)
    await write((tx) => reserve(tx, context(), now(wallet), cause(), 100))
    const refused = write((tx) =>
      settle(tx, wallet, cause(), 100, [{ account: 'supplier', currencyId: USD, amountMinor: 101 }]),
    )
    await expect(refused).rejects.toThrow('the lines in currency 139 sum to 1, not to zero')
    expect(holds(wallet)).toEqual({ amountMinor: 900, reservedMinor: 100 })
    expectSoundLedger(program.defaultWorld.db.sqlite)
  })

  test('that does not balance is refused by the database too', () => {
    const line = (currencyId: number, amount: number) =>
      `INSERT INTO journal_lines (entry_id, account, currency_id, amount_minor) VALUES (99, 'funding', ${currencyId}, ${amount});`
    const seal = "INSERT INTO journal_entries (id, source_type, created_at_ms) VALUES (99, 'funding', 1893456000000);"
    const { sqlite } = program.defaultWorld.db
    for (const lines of [line(USD, 1), line(USD, 1) + line(USD, -2), line(USD, 1) + line(JPY, -1)]) {
      expect(sql(`BEGIN; ${lines} ${seal} COMMIT`)).toThrow('a journal entry must balance')
      sqlite.run('ROLLBACK')
    }
    sql(`BEGIN; ${line(USD, 1)} ${line(USD, -1)} ${seal} COMMIT`)()
    expectSoundLedger(sqlite)
  })

  test('is required by its lines', () => {
    const { sqlite } = program.defaultWorld.db
    sql(
      "BEGIN; INSERT INTO journal_lines (entry_id, account, currency_id, amount_minor) VALUES (99, 'funding', 139, 1)",
    )()
    expect(sql('COMMIT')).toThrow('FOREIGN KEY constraint failed')
    sqlite.run('ROLLBACK')
    expectSoundLedger(sqlite)
  })

  test.each([
    [
      'a further line',
      "INSERT INTO journal_lines (entry_id, account, currency_id, amount_minor) VALUES (1, 'fees', 139, 1)",
      'a journal entry takes no further line',
    ],
    ['a change', 'UPDATE journal_entries SET created_at_ms = 0 WHERE id = 1', 'journal entries are final'],
    ['its deletion', 'DELETE FROM journal_entries WHERE id = 1', 'journal entries are kept'],
    ['a change of a line', 'UPDATE journal_lines SET amount_minor = 1 WHERE id = 1', 'journal lines are final'],
    ['the deletion of a line', 'DELETE FROM journal_lines WHERE id = 1', 'journal lines are kept'],
    ['a change of its transaction', 'UPDATE transactions SET remarks = NULL WHERE id = 1', 'transactions are final'],
    ['the deletion of its transaction', 'DELETE FROM transactions WHERE id = 1', 'transactions are kept'],
    [
      'the replacement of its transaction',
      'INSERT OR REPLACE INTO transactions SELECT * FROM transactions WHERE id = 1',
      'transactions are kept',
    ],
  ])('that is written refuses %s', (_, statement, message) => {
    const before = program.defaultWorld.db.image()
    expect(sql(statement)).toThrow(message)
    expect(Buffer.compare(program.defaultWorld.db.image(), before)).toBe(0)
  })

  test('has a transaction with the balance of its wallet, or the database refuses it', async () => {
    await funded(USD, 700)
    const again = (difference: number) =>
      sql(`INSERT INTO transactions SELECT NULL, wallet_id, client_id, currency_id, entry_id, amount_minor, transaction_type, status,
        source_currency, destination_currency, source_rate_e8, destination_rate_e8, conversion_minor,
        balance_after_minor + ${difference}, source_type, source_id, remarks, created_at_ms, amount_rank, search_folded FROM transactions ORDER BY id DESC LIMIT 1`)
    expect(again(1)).toThrow('a transaction says what its wallet holds')
    expect(again(-1)).toThrow('a transaction says what its wallet holds')
  })

  test.each([
    ['a wallet line in another currency', "(99, 'wallet', 1, 64, 1)", 'a wallet holds one currency'],
    ['a reserved line in another currency', "(99, 'reserved', 1, 64, 1)", 'a wallet holds one currency'],
    ['a wallet line without a wallet', "(99, 'wallet', NULL, 139, 1)", 'CHECK constraint failed'],
    ["a wallet in one of the program's own accounts", "(99, 'fees', 1, 139, 1)", 'CHECK constraint failed'],
    ['an unknown account', "(99, 'pocket', NULL, 139, 1)", 'CHECK constraint failed'],
    ['a line of nothing', "(99, 'fees', NULL, 139, 0)", 'CHECK constraint failed'],
  ])('refuses %s', (_, values, message) => {
    expect(
      sql(`INSERT INTO journal_lines (entry_id, account, wallet_id, currency_id, amount_minor) VALUES ${values}`),
    ).toThrow(message)
    expectSoundLedger(program.defaultWorld.db.sqlite)
  })
})

describe('an event of a payout', () => {
  test.each([
    ['a change', 'UPDATE payout_events SET message = NULL', 'payout events are final'],
    ['its deletion', 'DELETE FROM payout_events', 'payout events are kept'],
  ])('refuses %s', async (_, statement, message) => {
    const { client, world } = await program.open()
    const paid = await client.post('/api/v1/payouts', { ...HUNDRED, amount: 1 })
    expect(paid.status).toBe(201)
    expect(() => world.db.sqlite.run(statement)).toThrow(message)
    const { events } = (await paid.json()) as { events: object[] }
    expect(events).toHaveLength(1)
    const kept = world.db.sqlite.query('SELECT event_type, message FROM payout_events').all()
    expect(kept).toEqual([{ event_type: 'created', message: null }])
  })
})

describe('a wallet', () => {
  test('equals the sum of its lines, and its reserve the sum of its reserved lines', async () => {
    const wallet = await funded(KWD, 10_000)
    await write((tx) => reserve(tx, context(), now(wallet), cause(), 2_500))
    expect(holds(wallet)).toEqual({ amountMinor: 7_500, reservedMinor: 2_500 })
    await write((tx) => reserve(tx, context(), now(wallet), cause(), 1_000))
    expect(holds(wallet)).toEqual({ amountMinor: 6_500, reservedMinor: 3_500 })
    await write((tx) => refund(tx, context(), now(wallet), cause({ sourceType: 'refund' }), 1_000))
    expect(holds(wallet)).toEqual({ amountMinor: 7_500, reservedMinor: 2_500 })
    await write((tx) =>
      settle(tx, wallet, cause(), 2_500, [{ account: 'supplier', currencyId: KWD, amountMinor: 2_500 }]),
    )
    expect(holds(wallet)).toEqual({ amountMinor: 7_500, reservedMinor: 0 })
    await write((tx) => adjust(tx, context(), now(wallet), -500, { remarks: 'a mistake', nowMs: NOW_MS }))
    await write((tx) => adjust(tx, context(), now(wallet), 3, { remarks: 'another', nowMs: NOW_MS }))
    expect(holds(wallet)).toEqual({ amountMinor: 7_003, reservedMinor: 0 })
    expectSoundLedger(program.defaultWorld.db.sqlite)
  })

  test('PREPAID pays its last minor unit, but no more', async () => {
    const wallet = await funded(USD, 500)
    const last = lastEntryOf(program.defaultWorld.db.sqlite)
    const refused = write((tx) => reserve(tx, context(), now(wallet), cause(), 501))
    expect(await failureOf(refused)).toMatchObject({ code: 'insufficient_balance' })
    expect(lastEntryOf(program.defaultWorld.db.sqlite)).toBe(last)
    await write((tx) => reserve(tx, context(), now(wallet), cause(), 500))
    expect(holds(wallet)).toEqual({ amountMinor: 0, reservedMinor: 500 })
  })

  test('POSTPAID goes down to minus its credit limit, but no lower', async () => {
    const wallet = await opened(USD, 'POSTPAID', 1_000)
    await write((tx) => reserve(tx, context(), now(wallet), cause(), 999))
    expect(holds(wallet)).toEqual({ amountMinor: -999, reservedMinor: 999 })
    const refused = write((tx) => reserve(tx, context(), now(wallet), cause(), 2))
    expect(await failureOf(refused)).toMatchObject({ code: 'insufficient_balance' })
    const paid = await write((tx) => reserve(tx, context(), now(wallet), cause(), 1))
    expect(paid.wallet).toEqual(now(wallet))
    expect(written(wallet, paid)).toMatchObject({ transactionType: 'DEBIT', amountMinor: 1, balanceAfterMinor: -1_000 })
    expect(holds(wallet)).toEqual({ amountMinor: -1_000, reservedMinor: 1_000 })
    const back = await write((tx) => refund(tx, context(), now(wallet), cause(), 999))
    expect(written(wallet, back)).toMatchObject({ transactionType: 'CREDIT', amountMinor: 999, balanceAfterMinor: -1 })
    expectSoundLedger(program.defaultWorld.db.sqlite)
  })

  test('cannot go below its limit in the database either', () => {
    expect(sql('UPDATE wallets SET amount_minor = -1 WHERE id = 1')).toThrow('CHECK constraint failed')
    expect(sql('UPDATE wallets SET reserved_minor = -1 WHERE id = 1')).toThrow('CHECK constraint failed')
    expectSoundLedger(program.defaultWorld.db.sqlite)
  })

  test('an operator can withdraw the balance, but no more', async () => {
    const wallet = await funded(JPY, 7)
    const refused = write((tx) => adjust(tx, context(), now(wallet), -8, { remarks: null, nowMs: NOW_MS }))
    expect(await failureOf(refused)).toMatchObject({ code: 'insufficient_balance' })
    const taken = await write((tx) => adjust(tx, context(), now(wallet), -7, { remarks: 'closed', nowMs: NOW_MS }))
    expect(written(wallet, taken)).toMatchObject({
      transactionType: 'DEBIT',
      amountMinor: 7,
      sourceType: 'adjustment',
      remarks: 'closed',
    })
    expectSoundLedger(program.defaultWorld.db.sqlite)
  })

  test('the first of a client is its default wallet', async () => {
    const wallets = [await opened(KWD), await opened(KWD)]
    expect(wallets.map(({ isDefault }) => isDefault)).toEqual([false, false])
    expect(sql('UPDATE wallets SET is_default = 1 WHERE id = 2')).toThrow('UNIQUE constraint failed')
  })
})

describe('at the limit of the exact range', () => {
  test('a wallet can have the largest amount, but no more', async () => {
    const wallet = await funded(USD, AMOUNT_MINOR_MAX)
    expect(holds(wallet)).toEqual({ amountMinor: AMOUNT_MINOR_MAX, reservedMinor: 0 })
    const refused = write((tx) => fund(tx, context(), now(wallet), 1, { remarks: null, nowMs: NOW_MS }))
    expect(await failureOf(refused)).toMatchObject({ code: 'amount_too_large' })
    expectSoundLedger(program.defaultWorld.db.sqlite)
  })

  test.each([
    ['fund', fund],
    ['adjust', adjust],
  ] as const)('%s keeps room for the reserve, so that a refund always fits', async (_, comeIn) => {
    const wallet = await funded(USD, AMOUNT_MINOR_MAX)
    await write((tx) => reserve(tx, context(), now(wallet), cause(), 100))
    const refused = write((tx) => comeIn(tx, context(), now(wallet), 1, { remarks: null, nowMs: NOW_MS }))
    expect(await failureOf(refused)).toMatchObject({ code: 'amount_too_large' })
    await write((tx) => refund(tx, context(), now(wallet), cause(), 100))
    expect(holds(wallet)).toEqual({ amountMinor: AMOUNT_MINOR_MAX, reservedMinor: 0 })
    expectSoundLedger(program.defaultWorld.db.sqlite)
  })
})
