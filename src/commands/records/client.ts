import { type Command, InvalidArgumentError } from 'commander'
import type { Acting, Acts } from '../../acts/act.ts'
import { type Row, rowOf } from '../../acts/cells.ts'
import { get, type Kind } from '../../acts/kind.ts'
import { agreeDiscounts, deleteDiscounts, findProduct } from '../../catalog/queries.ts'
import { parseDiscount, parseDuration, parseFee, parseLimits } from '../../config/values.ts'
import type { Query } from '../../db/database.ts'
import type { Narrowing } from '../../db/narrowing.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { refused } from '../../kernel/exit.ts'
import { toPercent } from '../../kernel/money.ts'
import { LIMITED_USERNAME, SANDBOX_USERNAME } from '../../sandbox/seed/accounts.ts'
import { passwordDigest } from '../../sessions/credentials.ts'
import {
  addClient,
  allClients,
  type ClientRecord,
  deleteClient,
  rotatePassword,
  updateClient,
} from '../../sessions/queries.ts'
import { deleteWallets } from '../../wallets/queries.ts'
import type { World } from '../../worlds/world.ts'
import { acting } from '../acts/ask.ts'
import { choiceArgument, wholeNumber } from '../arguments.ts'
import { dataCommand } from './administration.ts'
import { CHARGED, CLIENT, DEFAULT, LIMITED, ownDiscounts } from './client-kinds.ts'
import { change, list, listCommand, recordCommand, show } from './records.ts'

/** `scrip client`: clients of the API, what they may do, and their discounts (contract C1, C3, C8, C17). */

export const clientCommands = (client: Command): void => {
  const act = acting(clientActs)
  dataCommand(client, 'add', 'add a client and print its password once; creates live data in a new folder')
    .argument('<name>', 'its username', newName)
    .action(acting(clientActs, { inNewFolder: true }))
  listCommand(client.command('list'), 'list the clients, newest first', {
    times: 'added',
    statuses: ['enabled', 'disabled'],
  }).action(list(CLIENT.columns, clientsOf))
  recordCommand(client, CLIENT, 'rotate', 'give a client a new password and revoke its tokens')
    .option('--keep-old <time>', 'keep the tokens, and the old password for this long, such as 24h', parseDuration)
    .action(act)
  recordCommand(client, CLIENT, 'show', 'show a client and its wallets').action(show(CLIENT))
  recordCommand(client, CLIENT, 'rename', 'give a client another username; its password and its tokens stay')
    .argument('<new-name>', 'its username from now on', newName)
    .action(act)
  recordCommand(client, CLIENT, 'remove', 'remove a client that has no records').action(act)
  termCommands(client)
}

type Terms = Parameters<typeof updateClient>[2]

const termCommands = (client: Command): void => {
  const act = acting(clientActs)
  recordCommand(client, CLIENT, 'disable', 'lock a client out and revoke its tokens').action(act)
  recordCommand(client, CLIENT, 'enable', 'let a disabled client log in again').action(act)
  recordCommand(client, CLIENT, 'feature', 'turn a feature on or off')
    .addArgument(choiceArgument('<feature>', 'the feature', ['vouchers']))
    .addArgument(choiceArgument('<on|off>', 'the setting', ['on', 'off']))
    .action(act)
  recordCommand(client, CLIENT, 'limits', 'show the limits of a client, or set them')
    .option('--max-quantity <number>', 'the largest quantity that it may buy at once, or off', quantityOrOff)
    .option(
      '--rate-limit <limits>',
      'its own rate limits; off for none, default for the limits of the server',
      ownLimits,
    )
    .action(showOrUpdate(LIMITED, limitsOf))
  recordCommand(client, CLIENT, 'fees', 'show the fees of a client, or set them')
    .option('--conversion-fee <percent>', 'its own fee for paying in another currency, or default', ownFee)
    .option('--payout-fee <percent>', 'its own fee on each payout, or default for the fee of the server', ownFee)
    .action(showOrUpdate(CHARGED, feesOf))
  const discount = "set a client's own discount on a product; the better of the two discounts applies"
  recordCommand(client, CLIENT, 'discount', discount)
    .argument('<product_id>', 'the product', wholeNumber)
    .argument('<percent>', 'for example 7.5; 0 removes it', parseDiscount)
    .action(act)
  listCommand(client.command('discounts'), "list a client's own discounts")
    .argument('<name>')
    .action(
      list<[productId: number, basisPoints: number], [name: string]>(
        {
          product_id: ([productId]) => productId,
          product: ([productId], { query }) => findProduct(query, productId)?.name ?? 'not in the catalog',
          discount: ([, basisPoints]) => toPercent(basisPoints),
        },
        (query, _narrowing, _data, name) => ownDiscounts(query, get(CLIENT, query, name).id),
      ),
    )
}

type Quantity = number | 'off'
type Fee = number | typeof DEFAULT

const quantityOrOff = (text: string): Quantity => (text === 'off' ? text : wholeNumber(text))
const quantityOf = (given: Quantity): number | null => (given === 'off' ? null : given)
const ownFee = (text: string): Fee => (text === DEFAULT ? text : parseFee(text))
const basisPointsOf = (fee: Fee): number | null => (fee === DEFAULT ? null : fee)

/** As text, as the database stores it. */
const ownLimits = (text: string): string => {
  if (text !== DEFAULT) parseLimits(text)
  return text
}

const limitsOf = ({ maxQuantity, rateLimit }: { maxQuantity?: Quantity; rateLimit?: string }): Terms => ({
  ...(maxQuantity !== undefined && { quantityMax: quantityOf(maxQuantity) }),
  ...(rateLimit !== undefined && { rateLimit: rateLimit === DEFAULT ? null : rateLimit }),
})

const feesOf = ({ conversionFee, payoutFee }: { conversionFee?: Fee; payoutFee?: Fee }): Terms => ({
  ...(conversionFee !== undefined && { conversionFeeBasisPoints: basisPointsOf(conversionFee) }),
  ...(payoutFee !== undefined && { payoutFeeBasisPoints: basisPointsOf(payoutFee) }),
})

const update = <Args extends unknown[]>(termsOf: (...args: Args) => Terms, kind = CLIENT) =>
  change(kind, (tx, { id }, _, ...args: Args) => updateClient(tx, id, termsOf(...args)))

/** Without an option it only shows, which is not an act. */
const showOrUpdate = <Options>(kind: Kind<string, ClientRecord>, termsOf: (options: Options) => Terms) =>
  function (this: Command, name: string, options: Options): Promise<void> {
    const isUpdate = Object.keys(termsOf(options)).length > 0
    return isUpdate ? acting(clientActs).call(this, name, options, this) : show(kind).call(this, name)
  }

const setDiscount = ({ write, record }: Acting, name: string, productId: number, discountBasisPoints: number) =>
  write((tx): Row => {
    const { id: clientId, username } = get(CLIENT, tx, name)
    const product = findProduct(tx, productId)
    if (product === undefined) throw refused(`there is no product ${productId}\nSee scrip catalog export.`)
    agreeDiscounts(tx, [{ clientId, productId, discountBasisPoints }])
    const discount = toPercent(discountBasisPoints)
    record(tx, { after: { product_id: productId, discount } })
    return { username, product_id: productId, product: product.name, discount }
  })

export const clientsOf = (query: Query, { status, sinceMs = 0, untilMs = Number.POSITIVE_INFINITY }: Narrowing) =>
  allClients(query)
    .toReversed()
    .filter(({ createdAtMs }) => createdAtMs >= sinceMs && createdAtMs < untilMs)
    .filter(({ disabled }) => status === undefined || disabled === (status === 'disabled'))

/** Names that are reserved in the sandbox, and would mislead in live mode (contract C2). */
const RESERVED = new RegExp(`^(?:${SANDBOX_USERNAME}|${LIMITED_USERNAME}|sbx_.*)$`, 'i')

const newName = (text: string): string => {
  if (!/^[A-Za-z0-9][\w.@-]{0,63}$/.test(text))
    throw new InvalidArgumentError('A name is 1 to 64 letters, digits and . _ @ - characters.')
  if (RESERVED.test(text)) throw new InvalidArgumentError('That name belongs to the sandbox.')
  return text
}

const refuseTaken = (query: Query, name: string): void => {
  if (CLIENT.find(query, name))
    throw refused(`client ${name} already exists\nscrip client rotate ${name} gives it a new password.`)
}

/** 32 letters of 36 kinds: 165 random bits (contract C3). */
const newPassword = ({ ids }: World): string => ids.letters(32)
const SHOWN_ONCE = 'Keep the password: it is shown only once.'

const add = async ({ world, write, record, note }: Acting, name: string): Promise<Row> => {
  const password = newPassword(world)
  const client_id = await write((tx) => {
    refuseTaken(tx, name)
    const id = addClient(tx, name, passwordDigest(password), world.clock.nowMs())
    record(tx, { after: { client_id: id } })
    return id
  })
  note(`${SHOWN_ONCE} Next: scrip wallet add ${name} CURRENCY.`)
  return { client_id, username: name, password }
}

const rotate = async (
  { world, write, record, note }: Acting,
  name: string,
  { keepOld }: { keepOld?: number },
): Promise<Row> => {
  const password = newPassword(world)
  const untilMs = keepOld === undefined ? undefined : world.clock.nowMs() + keepOld
  const kept = untilMs === undefined ? {} : { old_password_until: toTimestamp(untilMs) }
  const client_id = await write((tx) => {
    const { id } = get(CLIENT, tx, name)
    rotatePassword(tx, id, passwordDigest(password), untilMs)
    record(tx, { after: { client_id: id, ...kept } })
    return id
  })
  note(SHOWN_ONCE)
  return { client_id, username: name, password, ...kept }
}

const rename = (data: Acting, name: string, username: string): Promise<Row> =>
  data.write((tx) => {
    const { id } = get(CLIENT, tx, name)
    refuseTaken(tx, username)
    updateClient(tx, id, { username })
    data.record(tx, { before: { username: name }, after: { username } })
    return rowOf(CLIENT.columns, get(CLIENT, tx, username), data)
  })

/** The database refuses it when anything refers to the client. */
const remove = (data: Acting, name: string): Promise<Row> =>
  data.write((tx) => {
    const client = get(CLIENT, tx, name)
    try {
      deleteDiscounts(tx, client.id)
      deleteWallets(tx, client.id)
      deleteClient(tx, client.id)
    } catch (error) {
      const isReferred = error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY'
      if (!isReferred) throw error
      throw refused(`client ${name} has records, which are kept\nDisable it instead: scrip client disable ${name}.`)
    }
    data.record(tx, { before: rowOf(CLIENT.columns, client, data) })
    return { client_id: client.id, username: name, status: 'removed' }
  })

export const clientActs: Acts = {
  'client add': add,
  'client rotate': rotate,
  'client rename': rename,
  'client remove': remove,
  'client disable': update(() => ({ disabled: true })),
  'client enable': update(() => ({ disabled: false })),
  'client feature': update((feature: 'vouchers', setting: 'on' | 'off') => ({ [feature]: setting === 'on' })),
  'client limits': update(limitsOf, LIMITED),
  'client fees': update(feesOf, CHARGED),
  'client discount': setDiscount,
}
