import { Type } from '@sinclair/typebox'
import type { Tx } from '../db/database.ts'
import { Id } from '../http/schemas.ts'
import { Text } from '../http/validation.ts'
import { misused, refused } from '../kernel/exit.ts'
import { invalid, type Problem, violation } from '../kernel/failure.ts'
import type { Currency } from '../reference/reference.ts'
import { findEnabledClient } from '../sessions/queries.ts'
import { adjust, fund } from '../wallets/ledger.ts'
import { setThreshold } from '../wallets/publish.ts'
import { findAnyWallet, makeDefault, openWallet, updateWallet, type Wallet, walletsOf } from '../wallets/queries.ts'
import type { Acting, StepContext } from './act.ts'
import { type Row, rowOf } from './cells.ts'
import { CLIENT } from './clients.ts'
import {
  field,
  type Given,
  type Input,
  minorOf,
  positiveFault,
  positiveMinor,
  wholeNumber,
  wrongValue,
} from './fields.ts'
import { get, type Kind, listing, making, members, type Noun, showing, step } from './kind.ts'

/** `scrip wallet`: the wallets that clients pay from. Every movement goes through the ledger (contract C11). */

const isOpen = ({ closedAtMs }: Wallet): boolean => closedAtMs === null

export const WALLET: Kind<number, Wallet> = {
  name: 'wallet',
  group: 'wallet',
  argument: field('<id>', 'the wallet', { read: wholeNumber }),
  find: findAnyWallet,
  columns: {
    ...members<Wallet>('id', 'clientId', 'currencyId', 'amountMinor'),
    reserved_amount: ({ reservedMinor, currencyId }, { amount }) => amount(reservedMinor, currencyId),
    ...members<Wallet>('type', 'creditLimitMinor', 'thresholdMinor', 'isDefault'),
    is_active: isOpen,
    ...members<Wallet>('createdAtMs'),
  },
  allows: (wallet, verb) => isOpen(wallet) && (verb !== 'limit' || wallet.type === 'POSTPAID'),
}

/** A command changes only these two, so the audit shows only them. */
const BALANCE: Kind<number, Wallet> = { ...WALLET, audited: members<Wallet>('amountMinor', 'thresholdMinor') }

const MOVED = { ...BALANCE, isMoney: true } as const

const AMOUNT = 'in major units, for example 1000.50'
const HOW_FAR = `how far below zero it may go, ${AMOUNT}`

const amountOf = (about: string) =>
  field<'<amount>', Given>('<amount>', about, {
    schema: Type.Number({ description: 'More than 0, and at most 1,000,000,000' }),
  })
const REMARKS = field('--remarks <text>', 'remarks shown to the client', { schema: Text({ maxLength: 1_000 }) })

/** A body can leave it out. */
const THRESHOLD = field<'<amount>', Given | undefined>(
  '<amount>',
  `below it the wallet is low, which is an event; ${AMOUNT}; off for none`,
  {
    schema: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'In major units; null, or left out, for none',
      }),
    ),
  },
)

const ADJUSTED = { amount: amountOf(`${AMOUNT}; negative to deduct`), remarks: REMARKS }
const BRIEF = 'id client amount reserved_amount type is_default is_active'
const NARROWED = { brief: BRIEF, client: true, times: 'opened', inSandbox: 'GET /wallets' } as const

const causeOf = ({ world }: StepContext, remarks: string | null = null) => ({
  remarks,
  nowMs: world.clock.nowMs(),
})

const CREDIT_LIMIT = Type.Number({ maximum: 1_000_000_000 })

const DEDUCTS = 'scrip wallet adjust deducts.'

const ADDED = {
  client: field<'<client>', string | number>('<client>', 'username of the client', {
    member: {
      name: 'client_id',
      schema: Type.Optional({ ...Id, description: 'The client that owns it; by default sandbox' }),
    },
  }),
  currency: field('<currency>', 'ISO 4217, for example USD', { schema: Text({ description: 'ISO 4217' }) }),
  credit_limit: field<'--postpaid <limit>', Given>('--postpaid <limit>', `credit limit: ${HOW_FAR}`, {
    schema: CREDIT_LIMIT,
  }),
}

type Opened = Input<typeof ADDED> & Pick<Wallet, 'type'>

/** @throws ProgramError, WrongValue */
const open = (tx: Tx, opened: Opened, { reference, world }: StepContext): Wallet => {
  const { client, currency: code, credit_limit: limit, type } = opened
  const currency = reference.findCurrencyByCode(code.toUpperCase())
  if (!currency) throw wrongValue('currency', CURRENCY_PROBLEM, 'Write the three letters of ISO 4217, such as EUR.')
  const creditLimitMinor =
    type === 'POSTPAID' ? positiveMinor('credit_limit', limit ?? 0, currency, WITHOUT_LIMIT) : refusingLimit(limit)
  const { id: clientId } = typeof client === 'string' ? get(CLIENT, tx, client) : ownerOf(tx, client)
  return openWallet(tx, { clientId, currencyId: currency.id, type, creditLimitMinor }, world.clock.nowMs())
}

const CURRENCY_PROBLEM: Problem = { rule: 'enum', problem: 'must be the ISO 4217 code of a circulating currency' }
const WITHOUT_LIMIT = 'Without a limit, a wallet is PREPAID.'

const refusingLimit = (limit: Given = 0): number => {
  if (limit === 0) return 0
  throw wrongValue('credit_limit', { rule: 'max', problem: 'must be 0 for a PREPAID wallet' }, WITHOUT_LIMIT)
}

const ownerOf = (tx: Tx, id: number) => {
  const client = findEnabledClient(tx, id)
  if (client) return client
  throw wrongValue('client_id', { rule: 'enum', problem: 'must be the id of a client of this world' }, SEE_CLIENTS)
}

const SEE_CLIENTS = 'See scrip client list.'

const add = async (data: Acting, input: Input<typeof ADDED>): Promise<Row> => {
  const type = input.credit_limit === undefined ? 'PREPAID' : 'POSTPAID'
  const added = await data.write((tx) => {
    const row = rowOf(WALLET.columns, open(tx, { ...input, type }, data), data)
    data.record(tx, { after: row })
    return row
  })
  if (type === 'PREPAID') data.note(`Next: scrip wallet fund ${String(added.id)} AMOUNT.`)
  return added
}

const LIMITED = { limit: field('<limit>', HOW_FAR, { schema: CREDIT_LIMIT }) }

const setLimit = (tx: Tx, wallet: Wallet, { limit }: { limit: string }, context: StepContext): void => {
  const { world, amount, currency } = context
  const { id, type, amountMinor, currencyId } = wallet
  const creditLimitMinor = minorOf('limit', limit, currency(currencyId))
  if (creditLimitMinor < 0) throw misused(`${limit} is below zero\nA limit of 1000 allows a balance of -1000.`)
  if (type === 'PREPAID')
    throw refused(
      `wallet ${id} is PREPAID, and has no credit limit\nscrip wallet add --postpaid opens one with a credit limit.`,
    )
  refusingClosed(wallet)
  if (amountMinor < -creditLimitMinor) {
    const owed = `${amount(-amountMinor, currencyId)} ${currency(currencyId).currency}`
    throw refused(`wallet ${id} owes ${owed}, which is more\nFund it first.`)
  }
  updateWallet(tx, wallet, { creditLimitMinor }, world.clock.nowMs())
}

const close = (tx: Tx, wallet: Wallet, _: object, { world, amount, currency }: StepContext): void => {
  const { id, isDefault, amountMinor, reservedMinor, currencyId } = refusingClosed(wallet)
  if (isDefault)
    throw refused(
      `wallet ${id} is the default one of its client\nMake another one the default: scrip wallet default ID.`,
    )
  if (amountMinor !== 0 || reservedMinor !== 0) {
    const [spendable, reserved] = [amount(amountMinor, currencyId), amount(reservedMinor, currencyId)]
    throw refused(
      `wallet ${id} has ${spendable} ${currency(currencyId).currency} available and ${reserved} reserved\nBoth must be 0: see scrip wallet adjust.`,
    )
  }
  const nowMs = world.clock.nowMs()
  updateWallet(tx, wallet, { closedAtMs: nowMs }, nowMs)
}

/** @throws ProgramError */
const refusingClosed = (wallet: Wallet): Wallet => {
  if (isOpen(wallet)) return wallet
  throw refused(`wallet ${wallet.id} is closed\nscrip wallet add opens another one.`)
}

const thresholdIn = (threshold: Given | undefined, currency: Currency): number | null => {
  if (threshold === undefined || threshold === 'off') return null
  return minorOf('threshold', threshold, currency)
}

export const walletActs = {
  add: making('Open wallet', 'Open a wallet; the first wallet of a client is its default', ADDED, open, add, {
    route: 'POST /wallets',
    id: 'openWallet',
    names: 'wallet_open.',
    description: 'Empty at first, and prepaid by default.',
    title: 'SandboxWalletRequest',
    bodyExample: { currency: 'KWD', type: 'POSTPAID', credit_limit: 100 },
    wrong: invalid([{ field: 'currency', ...CURRENCY_PROBLEM }]),
  }),
  list: listing('List the wallets of all clients, newest first', WALLET.columns, walletsOf, NARROWED),
  show: showing(WALLET, 'Show a wallet'),
  fund: step(
    MOVED,
    'Add money',
    'Fund a wallet',
    { amount: amountOf(AMOUNT), remarks: REMARKS },
    (tx, wallet, { amount, remarks }, data) => {
      const amountMinor = positiveMinor('amount', amount, data.currency(wallet.currencyId), DEDUCTS)
      fund(tx, data, refusingClosed(wallet), amountMinor, causeOf(data, remarks))
    },
    {
      route: 'POST /wallets/{id}/fund',
      id: 'fundWallet',
      names: 'wallet_fund.',
      description: 'The amount is booked as a transaction, like a transfer of money.',
      title: 'FundRequest',
      bodyExample: { amount: 250, remarks: 'Top-up' },
      endsWith: { amount: 100_250 },
      wrong: violation('amount', 'required', 'is required'),
      faultOf: ({ amount }: { amount: number }, wallet, { currency }) => {
        const fault = positiveFault(amount, wallet ? currency(wallet.currencyId).precision : 0)
        return fault && invalid([{ field: 'amount', ...fault }])
      },
    },
  ),
  adjust: step(
    MOVED,
    'Correct balance',
    'Correct a wallet, up or down',
    ADJUSTED,
    (tx, wallet, { amount, remarks }, data) => {
      const amountMinor = minorOf('amount', amount, data.currency(wallet.currencyId))
      if (amountMinor === 0)
        throw misused('an adjustment of 0 changes nothing\nWrite an amount such as 12.50 or -12.50.')
      adjust(tx, data, refusingClosed(wallet), amountMinor, causeOf(data, remarks))
    },
  ),
  threshold: step(
    BALANCE,
    'Set threshold',
    'Set the threshold of a wallet',
    { threshold: THRESHOLD },
    (tx, wallet, { threshold }, data) =>
      setThreshold(tx, data, wallet, thresholdIn(threshold, data.currency(wallet.currencyId))),
    {
      route: 'PATCH /wallets/{id}',
      id: 'updateWallet',
      names: 'wallet_update.',
      description:
        'A wallet.low event is published when the amount falls below it, and again only after it has recovered.',
      title: 'WalletUpdate',
      bodyExample: { threshold: 500 },
      wrong: violation('threshold', 'number', 'must be a number'),
    },
  ),
  limit: step(WALLET, 'Set credit limit', 'Set the credit limit of a POSTPAID wallet', LIMITED, setLimit),
  default: step(WALLET, 'Make default', 'Make a wallet the default one of its client', {}, (tx, wallet, _, { world }) =>
    makeDefault(tx, refusingClosed(wallet), world.clock.nowMs()),
  ),
  close: step(WALLET, 'Close wallet', 'Close a wallet that is empty and not the default one', {}, close),
} satisfies Noun
