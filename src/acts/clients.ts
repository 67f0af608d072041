import { InvalidArgumentError } from 'commander'
import { agreeDiscounts, deleteDiscounts, discountsOf, findProduct } from '../catalog/queries.ts'
import { parseDiscount, parseDuration, parseFee, parseLimits } from '../config/values.ts'
import type { Query, Tx } from '../db/database.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { misused, refused } from '../kernel/exit.ts'
import { toPercent } from '../kernel/money.ts'
import { passwordDigest } from '../sessions/credentials.ts'
import {
  addClient,
  type ClientRecord,
  clientsOf,
  deleteClient,
  findCredentials,
  rotatePassword,
  updateClient,
} from '../sessions/queries.ts'
import { deleteWallets, walletsOf } from '../wallets/queries.ts'
import type { World } from '../work/world.ts'
import type { Act, Acting } from './act.ts'
import { type Row, rowOf } from './cells.ts'
import { choiceOf, field, type Input, wholeNumber } from './fields.ts'
import { act, get, type Kind, listing, members, type Noun, type Shown, showing, step } from './kind.ts'

/** `scrip client`: clients of the API, their features and their discounts (contract C1, C3, C8, C17). */

/** Shown if the setting of the server applies. */
const DEFAULT = 'default'

const NAME = members<ClientRecord>('username')
const CREATED = members<ClientRecord>('createdAtMs')

const COLUMNS: Shown<ClientRecord> = {
  client_id: ({ id }) => id,
  ...NAME,
  status: ({ disabled }) => (disabled ? 'disabled' : 'enabled'),
  ...members<ClientRecord>('vouchers'),
  max_quantity: ({ quantityMax }) => quantityMax,
}

const feeOf = (basisPoints: number | null) => (basisPoints === null ? DEFAULT : toPercent(basisPoints))

const TERMS: Shown<ClientRecord> = {
  max_quantity: ({ quantityMax }) => quantityMax,
  rate_limit: ({ rateLimit }) => rateLimit ?? DEFAULT,
  conversion_fee: ({ conversionFeeBasisPoints }) => feeOf(conversionFeeBasisPoints),
  payout_fee: ({ payoutFeeBasisPoints }) => feeOf(payoutFeeBasisPoints),
}

const BY_NAME: Omit<Kind<string, ClientRecord>, 'columns'> = {
  name: 'client',
  group: 'client',
  argument: { flags: '<name>' },
  find: findCredentials,
}

export const CLIENT: Kind<string, ClientRecord> = {
  ...BY_NAME,
  columns: { ...COLUMNS, ...CREATED },
  details: {
    ...COLUMNS,
    wallets: ({ id: clientId }, { query, shownCurrency }) =>
      [...walletsOf(query, { clientId })].map(({ id, currencyId }) => `${id} ${shownCurrency(currencyId).currency}`),
    ...TERMS,
    discounts: ({ id }, { query }) => ownDiscounts(query, id).length,
    ...members<ClientRecord>('oldPasswordUntilMs'),
    ...CREATED,
  },
  allows: ({ disabled }, verb) => verb !== (disabled ? 'disable' : 'enable'),
}

/** A client as its terms change. */
const AGREED: Kind<string, ClientRecord> = { ...BY_NAME, columns: { ...NAME, ...TERMS } }

type Discount = [productId: number, basisPoints: number]

/** A discount of 0 is none. */
export const ownDiscounts = (query: Query, clientId: number): Discount[] =>
  [...discountsOf(query, clientId)].filter(([, basisPoints]) => basisPoints > 0)

const DISCOUNT_COLUMNS: Shown<Discount> = {
  product_id: ([productId]) => productId,
  product: ([productId], { query }) => findProduct(query, productId)?.name ?? 'not in the catalog',
  discount: ([, basisPoints]) => toPercent(basisPoints),
}

/** Names that are reserved in the sandbox, and would mislead in live mode (contract C2). */
const RESERVED = /^(?:sandbox|limited|sbx_.*)$/i

const newName = (text: string): string => {
  if (!/^[A-Za-z0-9][\w.@-]{0,63}$/.test(text))
    throw new InvalidArgumentError('A name is 1 to 64 letters, digits and . _ @ - characters.')
  if (RESERVED.test(text)) throw new InvalidArgumentError('That name is reserved for the sandbox.')
  return text
}

const quantityOrOff = (text: string) => (text === 'off' ? DEFAULT : wholeNumber(text))
const ownFee = (text: string) => (text === DEFAULT ? text : parseFee(text))

/** The limits as text, in the form of the database. */
const ownLimits = (text: string): string => {
  if (text !== DEFAULT) parseLimits(text)
  return text
}

const NAMED = { name: CLIENT.argument }
const RENAMED = { ...NAMED, username: field('<new-name>', 'its new username', { read: newName }) }
const ROTATED = {
  ...NAMED,
  keepMs: field('--keep-old <time>', 'keep the tokens valid, and the old password for this long, such as 24h', {
    read: parseDuration,
  }),
}
const FEATURE = {
  feature: field('<feature>', 'the feature', choiceOf(['vouchers'])),
  setting: field('<on|off>', 'the setting', choiceOf(['on', 'off'])),
}

const LIMITS = {
  quantityMax: field('--max-quantity <number>', 'the largest quantity that it may buy at once, or off', {
    read: quantityOrOff,
  }),
  rateLimit: field('--rate-limit <limits>', 'its own rate limits; off for none, default for the limits of the server', {
    read: ownLimits,
  }),
}

const OWN_FEES = {
  conversionFeeBasisPoints: field(
    '--conversion-fee <percent>',
    'its own fee for paying in another currency, or default',
    { read: ownFee },
  ),
  payoutFeeBasisPoints: field(
    '--payout-fee <percent>',
    'its own fee on each payout, or default for the fee of the server',
    { read: ownFee },
  ),
}

const refuseTaken = (query: Query, name: string): void => {
  if (CLIENT.find(query, name))
    throw refused(`client ${name} already exists\nscrip client rotate ${name} gives it a new password.`)
}

/** 32 letters of 36 kinds: 165 random bits (contract C3). */
export const newPassword = ({ ids }: World): string => ids.letters(32)
const SHOWN_ONCE = 'Keep the password: it is shown only once.'
const PASSWORD: Act['secret'] = {
  column: 'password',
  remedyOf: ({ username }) => `scrip client rotate ${String(username)} makes a new one`,
}

const add = async ({ world, write, record, note }: Acting, { name }: { name: string }): Promise<Row> => {
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
  { name, keepMs }: Input<typeof ROTATED>,
): Promise<Row> => {
  const password = newPassword(world)
  const untilMs = keepMs === undefined ? undefined : world.clock.nowMs() + keepMs
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

const rename = (data: Acting, { name, username }: Input<typeof RENAMED>): Promise<Row> =>
  data.write((tx) => {
    const { id } = get(CLIENT, tx, name)
    refuseTaken(tx, username)
    updateClient(tx, id, { username })
    data.record(tx, { before: { username: name }, after: { username } })
    return rowOf(CLIENT.columns, get(CLIENT, tx, username), data)
  })

/** Deletes a client. The database refuses it if anything refers to the client. */
const remove = (data: Acting, { name }: { name: string }): Promise<Row> =>
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

const DISCOUNT = {
  ...NAMED,
  product_id: field('<product_id>', 'the product', { read: wholeNumber }),
  percent: field('<percent>', 'for example 7.5; 0 removes it', { read: parseDiscount }),
}

const setDiscount = ({ write, record }: Acting, input: Input<typeof DISCOUNT>) =>
  write((tx): Row => {
    const { name, product_id: productId, percent: discountBasisPoints } = input
    const { id: clientId, username } = get(CLIENT, tx, name)
    const product = findProduct(tx, productId)
    if (product === undefined) throw refused(`there is no product ${productId}\nSee scrip catalog export.`)
    agreeDiscounts(tx, [{ clientId, productId, discountBasisPoints }])
    const discount = toPercent(discountBasisPoints)
    record(tx, { after: { product_id: productId, discount } })
    return { username, product_id: productId, product: product.name, discount }
  })

const setTerms = (tx: Tx, { id }: ClientRecord, changes: object): void => {
  const terms = Object.entries(changes).filter(([, term]) => term !== undefined)
  if (terms.length === 0) throw misused('no term is given\nscrip client show lists the current ones.')
  updateClient(tx, id, Object.fromEntries(terms.map(([name, term]) => [name, term === DEFAULT ? null : term])))
}

/** The operation that changes any of these members at once. */
const EDIT = { inSandbox: 'PATCH /clients/{id}' }

export const clientActs = {
  add: act(
    'Add a client and print its password once; creates live data in a new folder',
    { name: field('<name>', 'its username', { read: newName }) },
    add,
    { inNewFolder: true, inSandbox: 'POST /clients', secret: PASSWORD },
  ),
  list: listing('List the clients, newest first', CLIENT.columns, clientsOf, {
    times: 'added',
    statuses: ['enabled', 'disabled'],
    inSandbox: 'GET /clients',
  }),
  rotate: act('Give a client a new password and revoke its tokens', ROTATED, rotate, { secret: PASSWORD }),
  show: showing(CLIENT, 'Show a client and its wallets'),
  rename: act('Give a client another username; its password and its tokens stay', RENAMED, rename),
  remove: act('Remove a client that has no records', NAMED, remove),
  disable: step(CLIENT, 'Lock a client out and revoke its tokens', {}, (tx, { id }) =>
    updateClient(tx, id, { disabled: true }),
  ),
  enable: step(CLIENT, 'Let a disabled client log in again', {}, (tx, { id }) =>
    updateClient(tx, id, { disabled: false }),
  ),
  feature: {
    ...step(CLIENT, 'Turn a feature on or off', FEATURE, (tx, { id }, { feature, setting }) =>
      updateClient(tx, id, { [feature]: setting === 'on' }),
    ),
    ...EDIT,
  },
  limits: { ...step(AGREED, 'Set the limits of a client', LIMITS, setTerms), ...EDIT },
  fees: step(AGREED, 'Set the fees of a client', OWN_FEES, setTerms),
  discount: act(
    "Set a client's own discount on a product; the better of the two discounts applies",
    DISCOUNT,
    setDiscount,
    EDIT,
  ),
  discounts: listing(
    "List a client's own discounts",
    DISCOUNT_COLUMNS,
    (query, _, { name }) => ownDiscounts(query, get(CLIENT, query, name).id),
    { takes: NAMED },
  ),
} satisfies Noun
