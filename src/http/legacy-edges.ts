import { type ErrorFormat, STRUCTURED } from './errors.ts'

/** First path segments below /api/v1, and what one record of each is called. */
const RECORDS = new Map([
  ['products', 'product'],
  ['categories', 'category'],
  ['subcategories', 'subcategory'],
  ['countries', 'country'],
  ['currencies', 'currency'],
  ['beneficiaries', 'beneficiary'],
  ['wallets', 'wallet'],
  ['transactions', 'transaction'],
  ['orders', 'order'],
  ['payouts', 'payout'],
])

const FLAT = new Set(['beneficiaries', 'payouts'])
/** What follows an id in a path, and what it does. */
const ACTIONS = new Map([
  ['availability', 'check availability'],
  ['charges', 'calculate charges'],
  ['discount', 'calculate discount'],
  ['vouchers', 'retrieve vouchers'],
])
const CHARGES = new Set(['charges', 'discount'])

/** The route table: which shape a path's errors leave in, and how a breakdown is worded (contract C4). */
export const edgeOf = (method: string, path: string): ErrorFormat => {
  if (!path.startsWith('/api/v1/')) return STRUCTURED
  const [collection = '', id = '', action = ''] = path.split('/').slice(3)
  const record = RECORDS.get(collection)
  if (record === undefined) return STRUCTURED
  const errorShape = FLAT.has(collection) ? 'flat' : CHARGES.has(action) ? 'charges' : 'structured'
  return { errorShape, breakdown: `Failed to ${ACTIONS.get(action) ?? doing(method, collection, record, id, action)}` }
}

const doing = (method: string, records: string, record: string, id: string, action: string): string => {
  if (action === 'cancel') return `cancel ${record}`
  if (method === 'POST') return `create ${record}`
  if (method === 'DELETE') return `delete ${record}`
  return `retrieve ${id === '' ? records : record}`
}
