import { type Static, Type } from '@sinclair/typebox'
import { ProductEntry } from '../../catalog/file-schema.ts'
import { invalidId } from '../../http/failures.ts'
import { listOf } from '../../http/operation.ts'
import { idPath } from '../../http/parameters.ts'
import { getExample, nullable, Timestamp } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { invalid, notFound, violation } from '../../kernel/failure.ts'
import { worldOperation } from '../control/operation.ts'

/** Changes that a test makes to a running world (contract C15). */

const { active, stock, max_quantity, gst_percent, handling_fee, denominations } = ProductEntry.properties
const Part = Type.Object(
  { fixed: Type.Optional(handling_fee.properties.fixed), percent: Type.Optional(handling_fee.properties.percent) },
  { title: 'HandlingFeeEdit' },
)
const Band = Type.Object(denominations.items.properties, { title: 'DenominationEdit' })

const CatalogEntry = Type.Object(
  {
    ...ProductEntry.properties,
    handling_fee: Type.Object(handling_fee.properties, { title: 'HandlingFee' }),
    denominations: Type.Array(Type.Object(denominations.items.properties, { title: 'CatalogDenomination' })),
  },
  { title: 'CatalogProduct' },
)
const ENTRY_EXAMPLE: Static<typeof CatalogEntry> = {
  id: 1,
  name: 'Kettle & Crumb India',
  category: 'Food & Dining',
  sub_category: 'Cafes & Bakeries',
  country: 'IND',
  currency: 'INR',
  delivery_mode: 'digital',
  delivery_time: 'instant',
  validity: '12 months',
  terms:
    'Not valid for alcohol, tips or private events. Valid for 12 months from the day of purchase; not redeemable for cash.',
  details:
    'A meal at Kettle & Crumb, from a quick bite to a long evening. Any balance left stays on the card for the next visit.',
  how_to_use:
    'The code comes by e-mail. Enter the code at checkout in the Kettle & Crumb app, or read it out at the till.',
  active: false,
  stock: 3,
  max_quantity: 50,
  gst_percent: 18,
  handling_fee: { fixed: 0, percent: 0 },
  denominations: [{ min_value: 100, max_value: 100, discount: 10 }],
}

export const editProduct = worldOperation('product')({
  id: 'editProduct',
  summary: 'Change a product of a world',
  description:
    'Members as in a catalog file; those that are left out stay. It takes effect at once in lists, prices and ' +
    'orders of this world, and drops its held prices. Other worlds do not change.',
  params: idPath('product'),
  body: Type.Object(
    {
      active: Type.Optional(active),
      stock: Type.Optional({ ...stock.anyOf[0], description: 'What is left from now on; null is unlimited' }),
      max_quantity: Type.Optional(max_quantity),
      denominations: Type.Optional(Type.Array(Band, { minItems: 1 })),
      gst_percent: Type.Optional(gst_percent),
      handling_fee: Type.Optional(Part),
    },
    { title: 'ProductEdit' },
  ),
  bodyExample: { active: false, stock: 3, denominations: [{ min_value: 100, max_value: 100, discount: 10 }] },
  success: { status: 200, description: 'The product', schema: CatalogEntry, example: ENTRY_EXAMPLE },
  errors: {
    validation: violation('stock', 'min', 'must be at least 0'),
    invalid_id: invalidId('product'),
    not_found: notFound('Product'),
  },
})

const rateFields = {
  base: Type.String({ description: 'ISO 4217' }),
  rates: Type.Record(Type.String(), Type.String(), {
    title: 'RatesByCurrency',
    description: 'What one unit of the base buys, as decimals with at most eight places',
  }),
}
const Rates = Type.Object(rateFields, { title: 'ExchangeRates' })
const RATES_EXAMPLE = { base: 'USD', rates: { EUR: '0.92' } }

export const getRates = worldOperation('rates')({
  id: 'getRates',
  summary: 'See the exchange rates of a world',
  description: 'In the form of a file for `--rates`.',
  success: { status: 200, description: 'All rates', schema: Rates, example: RATES_EXAMPLE },
})

export const setRates = worldOperation('rates')({
  id: 'setRates',
  summary: 'Set all exchange rates of a world',
  description: 'Currencies that are left out no longer have a rate. Held prices of the world are dropped.',
  body: Type.Object(rateFields, { title: 'ExchangeRatesRequest' }),
  bodyExample: RATES_EXAMPLE,
  success: { status: 200, description: 'All rates', schema: Rates, example: RATES_EXAMPLE },
  errors: {
    validation: invalid([
      {
        field: 'rates.EUR',
        rule: 'format',
        problem: 'is wrong',
        message: 'rates.EUR: much is not a positive decimal with at most 8 decimals',
      },
    ]),
  },
})

const Features = Type.Object({ vouchers: Type.Optional(Type.Boolean()) }, { title: 'FeaturesEdit' })
const Discounts = Type.Record(Type.String(), Type.Number(), {
  title: 'AgreedDiscounts',
  example: { '1': 7.5 },
  description: 'Percentages by product identifier; 0 removes one',
})

const clientFields = {
  client_id: Type.Integer({ example: 3 }),
  username: Type.String({ description: 'Logs in', example: 'sbx_checkout.shop' }),
  features: Type.Object({ vouchers: Type.Boolean({ example: true }) }, { title: 'Features' }),
  max_quantity: nullable(Type.Integer({ description: 'The most cards in one purchase', example: 10 })),
  discounts: Discounts,
  rate_limit: nullable(Type.String({ description: 'null if the limits of the server apply', example: '100/h,3/m' })),
  created_at: Timestamp,
}
const ClientState = Type.Object(clientFields, { title: 'SandboxClient' })
const NewClient = Type.Object(
  { ...clientFields, password: Type.String({ example: 'k3v0q2m8x1z7c9b4n6l5j0h2y0pe7f1a' }) },
  { title: 'NewSandboxClient' },
)

/** Together with the longest name of a world, a username is as long as a login takes. */
const CLIENT_NAME_LENGTH_MAX = 50
export const LIMIT_PROBLEM = 'must look like 1000/h,100/m, or be off'
const NAME_PROBLEM = `must be lower-case letters, digits, - and _, at most ${CLIENT_NAME_LENGTH_MAX}`

const clientMembers = {
  password: Type.Optional(Text({ minLength: 1, maxLength: 256 })),
  features: Type.Optional(Features),
  max_quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'null removes it' })),
  discounts: Type.Optional(Discounts),
  rate_limit: Type.Optional(
    Text({ maxLength: 100, description: '100/h,3/m, or off; null for the limits of the server' }),
  ),
}

export const ClientEditBody = Type.Object(clientMembers, { title: 'SandboxClientEdit' })

export const listClients = worldOperation('clients')({
  id: 'listSandboxClients',
  summary: 'List the clients of a world',
  description: 'The two that every world has come first.',
  success: listOf('Without passwords', ClientState),
})

export const addClient = worldOperation('clients')({
  id: 'addSandboxClient',
  summary: 'Add a client to a world',
  description: 'Every feature is on by default. It has no wallet yet: see openWallet.',
  body: Type.Object(
    {
      name: Text({ pattern: `^[a-z0-9_-]{1,${CLIENT_NAME_LENGTH_MAX}}$`, description: NAME_PROBLEM.slice(8) }),
      ...clientMembers,
    },
    { title: 'SandboxClientRequest' },
  ),
  secret: true,
  bodyExample: { name: 'shop', max_quantity: 10, discounts: { '1': 7.5 }, rate_limit: '100/h,3/m' },
  success: { status: 201, description: 'The client, and its password, which is not shown again', schema: NewClient },
  errors: { validation: violation('name', 'format', NAME_PROBLEM) },
})

export const editClient = worldOperation('client_edit')({
  id: 'editSandboxClient',
  summary: 'Change a client of a world',
  description: 'Members that are left out stay, and so do discounts on other products. A new password ends its tokens.',
  params: idPath('client'),
  body: ClientEditBody,
  bodyExample: { features: { vouchers: false } },
  success: {
    status: 200,
    description: 'The client',
    schema: ClientState,
    example: { ...getExample(ClientState), features: { vouchers: false } },
  },
  errors: {
    validation: violation('rate_limit', 'format', LIMIT_PROBLEM),
    invalid_id: invalidId('client'),
    not_found: notFound('Client'),
  },
})
