import { InvalidArgumentError } from 'commander'
import type { Act, ActRequest, ActResult } from '../../acts/act.ts'
import { type List, listOf } from '../../acts/cells.ts'
import { type Field, type Fields, isOptional, readerOf } from '../../acts/fields.ts'
import { get, type Shown } from '../../acts/kind.ts'
import { ORDER } from '../../acts/orders.ts'
import { PAYOUT } from '../../acts/payouts.ts'
import type { DataConfig } from '../../config/config.ts'
import { operatorName } from '../../config/environment.ts'
import type { Query } from '../../db/database.ts'
import type { ActsLine, Requested } from '../../desk/wire.ts'
import { misused, ProgramError } from '../../kernel/exit.ts'
import { plus } from '../../kernel/money.ts'
import type { ActField, ActForm, EndedAct, FilledAct } from '../../pages/act-form.ts'
import { findAnyWallet, type Wallet } from '../../wallets/queries.ts'
import { ask, recordingRefusal } from '../acts/ask.ts'
import { loadActs } from '../acts/table.ts'
import { explainFaults } from '../advice.ts'
import { type Reading, reading } from '../records/administration.ts'

/** Acts on the desk: each act makes a form, and its values are read as the command reads them. */

type Options = Omit<Requested, 'acts'>

/** This command does its work itself, and its act only records that. */
const ELSEWHERE = 'backup'

/** @throws ProgramError */
const getAct = async (path: string): Promise<Act> => {
  const acts = await loadActs()
  const act = Object.hasOwn(acts, path) && path !== ELSEWHERE ? acts[path] : undefined
  if (!act) throw misused(`there is no act ${path}`)
  return act
}

const isOption = ({ flags }: Field): boolean => flags.startsWith('-')

/** The forms of all acts. */
export const formsOfActs = async (): Promise<ActForm[]> =>
  Object.entries(await loadActs()).map(([command, { title, summary: about, takes, among, isMoney = false }]) => ({
    ...{ command, title, about, isMoney, fields: fieldsOf(takes) },
    ...(among && { among: fieldsOf(among.takes) }),
  }))

const fieldsOf = (takes: Fields): ActField[] => Object.entries(takes).map(([name, one]) => fieldOf(name, one))

const fieldOf = (name: string, one: Field): ActField => {
  const { label = inWords(name), about: hint, choices, isFile, preset } = one
  return {
    ...{ name, label, isRequired: !isOptional(one) },
    ...(hint !== undefined && { hint }),
    ...(choices && { choices }),
    ...(isFile && { isFile }),
    ...(preset !== undefined && { preset }),
  }
}

/** `credit_limit`: "Credit limit". */
const inWords = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')

/** @throws ProgramError for an invalid value */
const readValue = (name: string, one: Field, text = ''): unknown => {
  const { flags, fallback } = one
  if (text === '' && isOptional(one)) return fallback
  if (flags.includes('...')) return text.split(/[\s,]+/).filter((part) => part !== '')
  try {
    if (text === '') throw new InvalidArgumentError('It is missing.')
    return readerOf(one)?.(text) ?? text
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw misused(`${name} is invalid: ${text}\n${error.message}`)
    throw error
  }
}

const valuesBy = (input: FilledAct['input'], takes: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(takes).map(([name, one]) => [name, readValue(name, one, input[name])]))

/** The request that the command of the act would make with the same values. @throws ProgramError */
const actRequestBy = ({ id, command, input }: FilledAct, { takes }: Act, { isDryRun, seen }: Options): ActRequest => {
  const args = Object.entries(takes).flatMap(([name, one]) => (isOption(one) || !input[name] ? [] : [input[name]]))
  return {
    ...{ id, command, seen, isDryRun, subject: args.join(' '), user: operatorName() },
    input: valuesBy(input, takes),
  }
}

/** Does acts one after the other, whether or not the one before was refused, and sums up several. */
export const actOnDesk = async (
  config: DataConfig,
  { acts, ...options }: Requested,
  send: (line: ActsLine<ActResult, List>) => void,
): Promise<void> => {
  const done: FilledAct[] = []
  for (const filled of acts) {
    const ended = await inTurn(() => endOf(config, filled, options, send))
    if (ended.refusal === undefined) done.push(filled)
    send({ ended })
  }
  if (acts.length > 1) await reading(config, async (data) => send({ sums: sumsOf(data, done) }))
}

/** Acts of this desk wait for each other. */
let last: Promise<unknown> = Promise.resolve()

const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
  const turn = last.then(work)
  last = turn.catch(() => undefined)
  return turn
}

const endOf = async (
  config: DataConfig,
  filled: FilledAct,
  options: Options,
  send: (line: { progress: [string, number, number] }) => void,
): Promise<EndedAct<ActResult>> => {
  const notes: string[] = []
  try {
    const act = await getAct(filled.command)
    const request = actRequestBy(filled, act, options)
    const onProgress = (...progress: [string, number, number]) => send({ progress })
    const call = { config, request, act, onProgress, onNote: (note: string) => void notes.push(note) }
    const { file = '' } = filled
    const { preview } = act
    if (options.isDryRun && preview) {
      const result = await explainFaults(request.subject, () =>
        reading(config, async (data) => {
          const { rows, ...list } = preview(data, file)
          return { ...list, rows: [...rows] }
        }),
      )
      return { notes, result }
    }
    const read = () => explainFaults(request.subject, () => act.readFile?.(file) ?? file)
    const result = await explainFaults(config.dataDir, async () =>
      ask({ ...call, input: await recordingRefusal(call, read) }),
    )
    return { notes, result }
  } catch (error) {
    if (error instanceof ProgramError) return { notes, refusal: error.message }
    throw error
  }
}

/** Records of which one wallet pays an amount. */
interface Summed {
  walletId: number
  currencyId: number
  minor: number
  paidMinor: number
}

const SUMMED: Readonly<Record<string, (query: Query, id: string) => Summed>> = {
  payouts: (query, id) => {
    const { amountMinor: minor, ...payout } = get(PAYOUT, query, id)
    return { ...payout, minor }
  },
  orders: (query, id) => {
    const { totalMinor: minor, payableMinor: paidMinor, ...order } = get(ORDER, query, Number(id))
    return { ...order, minor, paidMinor }
  },
}

const SUM_COLUMNS: Shown<Summed & { count: number; wallet: Wallet | undefined }> = {
  wallet_id: ({ walletId }) => walletId,
  client: ({ wallet }, { clientName }) => (wallet ? clientName(wallet.clientId) : null),
  records: ({ count }) => count,
  amount: ({ minor, currencyId }, { amount }) => amount(minor, currencyId),
  total: ({ paidMinor, walletId }, { walletAmount }) => walletAmount(paidMinor, walletId),
  balance: ({ wallet, walletId }, { walletAmount }) => walletAmount(wallet?.amountMinor ?? null, walletId),
  reserved: ({ wallet, walletId }, { walletAmount }) => walletAmount(wallet?.reservedMinor ?? null, walletId),
}

/** The sums of records by wallet and currency, with the present balance of the wallet. */
const sumsOf = (data: Reading, acts: readonly FilledAct[]): List => {
  const items = acts.flatMap(({ command, input: { id = '' } }) => {
    const [noun = ''] = command.split(' ')
    return SUMMED[noun]?.(data.query, id) ?? []
  })
  const groups = Map.groupBy(items, ({ walletId, currencyId }) => `${walletId} ${currencyId}`).values()
  const total = (amounts: number[]): number => amounts.reduce((sum, one) => plus(sum, one), 0)
  const sums = Array.from(groups, (those) => ({
    ...{ walletId: those[0]?.walletId ?? 0, currencyId: those[0]?.currencyId ?? 0 },
    minor: total(those.map(({ minor }) => minor)),
    paidMinor: total(those.map(({ paidMinor }) => paidMinor)),
    count: those.length,
    wallet: findAnyWallet(data.query, those[0]?.walletId ?? 0),
  }))
  return listOf(SUM_COLUMNS, sums, data)
}
