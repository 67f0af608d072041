import { Type } from '@sinclair/typebox'
import { InvalidArgumentError } from 'commander'
import { agreeDiscounts, deleteDiscounts, discountsOf } from '../catalog/queries.ts'
import { parseDuration, parseFee } from '../config/values.ts'
import type { Query, Tx } from '../db/database.ts'
import { readLimits } from '../http/rate-limit.ts'
import { Removable, Text } from '../http/validation.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { EXIT, misused, refused } from '../kernel/exit.ts'
import { invalid, notFound, type Problem, type Violation, violation } from '../kernel/failure.ts'
import { toBasisPoints, toPercent } from '../kernel/money.ts'
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
import type { Act, Acting, ControlOperation, StepContext } from './act.ts'
import { type Row, rowOf } from './cells.ts'
import { choiceOf, field, type Input, numberOrText, WrongValue, wholeNumber, wrongValue } from './fields.ts'
import { act, get, type Kind, listing, making, members, type Noun, type Shown, showing, step } from './kind.ts'

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
  product: ([productId], { findProduct }) => findProduct(productId)?.name ?? 'not in the catalog',
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

const ownFee = (text: string) => (text === DEFAULT ? text : parseFee(text))

/** The limits as text, in the form of the database. */
const limitsProblem = (text: string): Problem | undefined => (readLimits(text) ? undefined : LIMITS_PROBLEM)

const LIMITS_PROBLEM: Problem = { rule: 'format', problem: 'must look like 1000/h,100/m, or be off' }

const percentProblem = (percent: unknown): Problem | undefined =>
  typeof percent === 'number' && percent >= 0 && percent <= 100 && toBasisPoints(percent) !== undefined
    ? undefined
    : { rule: 'format', problem: 'must be a percentage from 0 to 100 with at most two decimals' }

const NAMED = { name: CLIENT.argument }
const RENAMED = {
  ...NAMED,
  username: field('<new-name>', 'its new username', { label: 'New username', read: newName }),
}
const ROTATED = {
  ...NAMED,
  keepMs: field('--keep-old <time>', 'keep the tokens valid, and the old password for this long, such as 24h', {
    label: 'Keep the old password',
    read: parseDuration,
  }),
}
const FEATURE = {
  feature: field('<feature>', 'the feature', choiceOf(['vouchers'])),
  setting: field('<on|off>', 'the setting', choiceOf(['on', 'off'])),
}

const LIMITS = {
  max_quantity: field<'--max-quantity <number>', number | string | null>(
    '--max-quantity <number>',
    'the largest quantity that it may buy at once, or off',
    {
      schema: Removable(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'null removes it' })),
      none: DEFAULT,
      read: (text) => (text === 'off' ? DEFAULT : numberOrText(text)),
    },
  ),
  rate_limit: field<'--rate-limit <limits>', string | null>(
    '--rate-limit <limits>',
    'its own rate limits; off for none, default for the limits of the server',
    {
      schema: Removable(Text({ maxLength: 100, description: '100/h,3/m, or off; null for the limits of the server' })),
      check: limitsProblem,
      none: DEFAULT,
    },
  ),
}

const OWN_FEES = {
  conversionFeeBasisPoints: field(
    '--conversion-fee <percent>',
    'its own fee for paying in another currency, or default',
    { label: 'Conversion fee', read: ownFee },
  ),
  payoutFeeBasisPoints: field(
    '--payout-fee <percent>',
    'its own fee on each payout, or default for the fee of the server',
    { label: 'Payout fee', read: ownFee },
  ),
}

const refuseTaken = (query: Query, name: string): void => {
  if (!CLIENT.find(query, name)) return
  const violation: Violation = { field: 'name', rule: 'enum', problem: '', message: `client ${name} already exists` }
  throw new WrongValue(violation, `scrip client rotate ${name} gives it a new password.`, EXIT.failed)
}

/** 32 letters of 36 kinds: 165 random bits (contract C3). */
export const newPassword = ({ ids }: World): string => ids.letters(32)
const SHOWN_ONCE = 'Keep the password: it is shown only once.'
const PASSWORD: Act['secret'] = {
  column: 'password',
  remedyOf: ({ username }) => `scrip client rotate ${String(username)} makes a new one`,
}

/** A longer name would make the username too long for a login, in the world with the longest name. */
const NAME_IN_WORLD = {
  pattern: '^[a-z0-9_-]{1,50}$',
  description: 'lower-case letters, digits, - and _, at most 50',
}

const ADDING: ControlOperation = {
  route: 'POST /clients',
  id: 'addSandboxClient',
  names: 'clients.',
  summary: 'Add a client to a world',
  description: 'Every feature is on by default. It has no wallet yet: see openWallet.',
  title: 'SandboxClientRequest',
  bodyExample: { name: 'shop', max_quantity: 10, discounts: { '1': 7.5 }, rate_limit: '100/h,3/m' },
  wrong: violation('name', 'format', `must be ${NAME_IN_WORLD.description}`),
}

interface Added {
  name: string
  password: string
}

const insert = (tx: Tx, { name, password }: Added, { world }: StepContext): number => {
  refuseTaken(tx, name)
  return addClient(tx, name, passwordDigest(password), world.clock.nowMs())
}

const add = async (data: Acting, { name }: { name: string }): Promise<Row> => {
  const password = newPassword(data.world)
  const client_id = await data.write((tx) => {
    const id = insert(tx, { name, password }, data)
    data.record(tx, { after: { client_id: id } })
    return id
  })
  data.note(`${SHOWN_ONCE} Next: scrip wallet add ${name} CURRENCY.`)
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
  product_id: field<'<product_id>', string | number>('<product_id>', 'the product', { read: wholeNumber }),
  percent: field<'<percent>', number>('<percent>', 'for example 7.5; 0 removes it', {
    schema: Type.Number(),
    check: percentProblem,
    read: numberOrText,
  }),
}

interface Agreed {
  id: string | number
  name: string
  discount: number
}

const setDiscount = (tx: Tx, client: ClientRecord, input: Input<typeof DISCOUNT>, data: StepContext): Agreed => {
  const { product_id: productId, percent: discount } = input
  const problem = percentProblem(discount)
  if (problem) throw wrongValue('percent', problem, 'Write it like 7.5.')
  const product = typeof productId === 'number' ? data.findProduct(productId) : undefined
  if (!product || typeof productId === 'string') {
    const violation: Violation = {
      field: 'product_id',
      rule: 'enum',
      problem: '',
      message: `there is no product ${productId}`,
    }
    throw new WrongValue(violation, 'See scrip catalog export.', EXIT.failed)
  }
  agreeDiscounts(tx, [{ clientId: client.id, productId, discountBasisPoints: toBasisPoints(discount) ?? 0 }])
  return { id: productId, name: product.name, discount }
}

const setTerms = (tx: Tx, { id }: ClientRecord, changes: object): void => {
  const terms = Object.entries(changes).filter(([, term]) => term !== undefined)
  if (terms.length === 0) throw misused('no term is given\nscrip client show lists the current ones.')
  updateClient(tx, id, Object.fromEntries(terms.map(([name, term]) => [name, term === DEFAULT ? null : term])))
}

/** The operation that changes any of these members at once, which are several acts. */
export const CLIENT_EDITING: ControlOperation = {
  route: 'PATCH /clients/{id}',
  id: 'editSandboxClient',
  names: 'client_edit.',
  description:
    'Members that are left out do not change, and neither do discounts on other products. A new password ends its tokens.',
  title: 'SandboxClientEdit',
  bodyExample: { features: { vouchers: false } },
  wrong: invalid([{ field: 'rate_limit', ...LIMITS_PROBLEM }]),
  refuses: { not_found: notFound('Client') },
}
const EDIT = { inSandbox: CLIENT_EDITING.route }

const setFeature = (tx: Tx, { id }: ClientRecord, { feature, setting }: Input<typeof FEATURE>): void =>
  updateClient(tx, id, { [feature]: setting === 'on' })

const setLimits = (tx: Tx, client: ClientRecord, limits: Input<typeof LIMITS>): void =>
  setTerms(tx, client, { quantityMax: limits.max_quantity, rateLimit: limits.rate_limit })

export const clientActs = {
  add: making(
    'Add client',
    'Add a client and print its password once; creates live data in a new folder',
    { name: field('<name>', 'its username', { member: { name: 'name', schema: Text(NAME_IN_WORLD) }, read: newName }) },
    insert,
    add,
    ADDING,
    { inNewFolder: true, secret: PASSWORD },
  ),
  list: listing('List the clients, newest first', CLIENT.columns, clientsOf, {
    times: 'added',
    statuses: ['enabled', 'disabled'],
    inSandbox: 'GET /clients',
  }),
  rotate: act('New password', 'Give a client a new password and revoke its tokens', ROTATED, rotate, {
    secret: PASSWORD,
  }),
  show: showing(CLIENT, 'Show a client and its wallets'),
  rename: act('Rename', 'Give a client another username; its password and its tokens stay', RENAMED, rename),
  remove: act('Remove', 'Remove a client that has no records', NAMED, remove),
  disable: step(CLIENT, 'Lock out', 'Lock a client out and revoke its tokens', {}, (tx, { id }) =>
    updateClient(tx, id, { disabled: true }),
  ),
  enable: step(CLIENT, 'Let in again', 'Let a disabled client log in again', {}, (tx, { id }) =>
    updateClient(tx, id, { disabled: false }),
  ),
  feature: { ...step(CLIENT, 'Switch feature', 'Turn a feature on or off', FEATURE, setFeature), ...EDIT },
  limits: { ...step(AGREED, 'Set limits', 'Set the limits of a client', LIMITS, setLimits), ...EDIT },
  fees: step(AGREED, 'Set fees', 'Set the fees of a client', OWN_FEES, setTerms),
  discount: {
    ...step(
      CLIENT,
      'Set discount',
      "Set a client's own discount on a product; the better of the two discounts applies",
      DISCOUNT,
      setDiscount,
      undefined,
      ({ username }, { id, name, discount }) => ({ username, product_id: id, product: name, discount }),
    ),
    ...EDIT,
  },
  discounts: listing(
    "List a client's own discounts",
    DISCOUNT_COLUMNS,
    (query, _, { name }) => ownDiscounts(query, get(CLIENT, query, name).id),
    { takes: NAMED },
  ),
} satisfies Noun
