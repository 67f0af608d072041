import type { Kind, Shown } from '../../acts/kind.ts'
import { discountsOf } from '../../catalog/queries.ts'
import type { Query } from '../../db/database.ts'
import { toTimestamp, toTimestampOrNull } from '../../kernel/clock.ts'
import { toPercent } from '../../kernel/money.ts'
import { allClients, type ClientRecord } from '../../sessions/queries.ts'
import { walletsOf } from '../../wallets/queries.ts'

/** Clients as operators name and see them. */

/** Shown where the setting of the server applies. */
export const DEFAULT = 'default'

const NAME = { username: ({ username }: ClientRecord) => username }

const COLUMNS: Shown<ClientRecord> = {
  client_id: ({ id }) => id,
  ...NAME,
  status: ({ disabled }) => (disabled ? 'disabled' : 'enabled'),
  vouchers: ({ vouchers }) => vouchers,
  max_quantity: ({ quantityMax }) => quantityMax,
}

const CREATED: Shown<ClientRecord> = { created_at: ({ createdAtMs }) => toTimestamp(createdAtMs) }

const feeOf = (basisPoints: number | null) => (basisPoints === null ? DEFAULT : toPercent(basisPoints))

const FEES: Shown<ClientRecord> = {
  conversion_fee: ({ conversionFeeBasisPoints }) => feeOf(conversionFeeBasisPoints),
  payout_fee: ({ payoutFeeBasisPoints }) => feeOf(payoutFeeBasisPoints),
}

const BY_NAME: Omit<Kind<string, ClientRecord>, 'columns'> = {
  name: 'client',
  group: 'client',
  argument: ['<name>'],
  find: (query, name) => allClients(query).find(({ username }) => username === name),
}

export const CLIENT: Kind<string, ClientRecord> = {
  ...BY_NAME,
  columns: { ...COLUMNS, ...CREATED },
  details: {
    ...COLUMNS,
    wallets: ({ id: clientId }, { query, currency }) =>
      [...walletsOf(query, { clientId })].map(({ id, currencyId }) => `${id} ${currency(currencyId).currency}`),
    ...FEES,
    discounts: ({ id }, { query }) => ownDiscounts(query, id).length,
    old_password_until: ({ oldPasswordUntilMs }) => toTimestampOrNull(oldPasswordUntilMs),
    ...CREATED,
  },
}

/** The product and its basis points. */
export const ownDiscounts = (query: Query, clientId: number): [productId: number, basisPoints: number][] =>
  [...discountsOf(query, clientId)].filter(([, basisPoints]) => basisPoints > 0)

export const LIMITED: Kind<string, ClientRecord> = {
  ...BY_NAME,
  columns: {
    ...NAME,
    max_quantity: ({ quantityMax }) => quantityMax,
    rate_limit: ({ rateLimit }) => rateLimit ?? DEFAULT,
  },
}

export const CHARGED: Kind<string, ClientRecord> = { ...BY_NAME, columns: { ...NAME, ...FEES } }
