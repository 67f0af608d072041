import { findProduct } from '../catalog/queries.ts'
import { findNewVoucherKey } from '../config/config.ts'
import { lockForCopying } from '../folder/lock.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { misused, refused } from '../kernel/exit.ts'
import { Cipher } from '../orders/cipher.ts'
import { type Reencrypted, reencrypt } from '../orders/rekey.ts'
import { importCodes } from '../orders/stock.ts'
import { markOf } from '../orders/stock-queries.ts'
import { stockReport } from '../orders/stock-report.ts'
import { cipherAsMarked, keysOf, nextKeyIn, promoteKey } from '../orders/voucher-key.ts'
import type { Acting } from './act.ts'
import type { Administration } from './administration.ts'
import type { Row } from './cells.ts'
import { field } from './fields.ts'
import { act, listing, members, type Noun, type Shown } from './kind.ts'

/** `scrip vouchers`: the codes that live mode sells (contract C12). No command shows one. */

const importFile = async (data: Acting): Promise<Row> => {
  const { config, world, query, delivering, record, input } = data
  using _lock = await lockForCopying(config.dataDir)
  const imported = await importCodes(input, {
    ...data,
    cipher: delivering.ciphers(query),
    nowMs: world.clock.nowMs(),
    onPublish: (tx, count) => record(tx, { after: { imported: count } }),
  })
  if (imported === 0) data.note('The file contains no codes. Nothing was imported.')
  return { imported }
}

export const stockIn = ({ world, query }: Administration) => {
  const stock = stockReport(query, world.clock.nowMs())
  return stock.map((one) => ({ ...one, product: findProduct(query, one.productId) }))
}

type Stock = ReturnType<typeof stockIn>[number]

export const STOCK_COLUMNS: Shown<Stock> = {
  ...members<Stock>('productId'),
  product: ({ product }) => product?.name ?? 'not in the catalog',
  denomination: ({ denominationMinor, product }, { amount }) =>
    product ? amount(denominationMinor, product.currencyId) : null,
  currency: ({ product }, { shownCurrency }) => (product ? shownCurrency(product.currencyId).currency : null),
  ...members<Stock>('available', 'daysLeft', 'taken', 'expired', 'damaged'),
}

/** Changes the key. No server may run on the folder, because a server reads its key when it starts. */
const rekey = async (data: Acting): Promise<Row> => {
  const { dataDir, voucherKey } = data.config
  const newKey = findNewVoucherKey()
  if (markOf(data.query) === undefined)
    throw refused('there are no codes to encrypt\nAdd some with scrip vouchers import.')
  if (voucherKey !== undefined && !newKey) throw misused(NEW_KEY_MISSING)
  using _lock = await lockForCopying(dataDir) // meanwhile nobody makes a copy
  if (voucherKey === undefined || !newKey) return await rekeyInFolder(data, newKey)
  return { ...(await reencrypted(data, newKey)), old_key: null }
}

const rekeyInFolder = async (data: Acting, newKey: Uint8Array | undefined): Promise<Row> => {
  const { config, world } = data
  const counts = await reencrypted(data, nextKeyIn(config.dataDir, newKey))
  return { ...counts, old_key: promoteKey(config.dataDir, toTimestamp(world.clock.nowMs())) }
}

const NEW_KEY_MISSING =
  'the new key is missing\nSet SCRIP_NEW_VOUCHER_KEY or SCRIP_NEW_VOUCHER_KEY_FILE beside the key that is in use.'

const reencrypted = ({ config, world, write, record }: Acting, nextKey: Uint8Array): Promise<Reencrypted> =>
  write((tx) => {
    const old = cipherAsMarked(tx, keysOf(config.dataDir, config.voucherKey, nextKey))
    const next = new Cipher(nextKey)
    // An earlier run was interrupted after it had encrypted everything.
    if (old.mark === next.mark) return { resealed: 0, damaged: 0 }
    const counts = reencrypt(tx, old, next, world.clock.nowMs())
    record(tx, { after: counts }, next)
    return counts
  })

const IMPORTED = {
  file: field(
    '<file>',
    'JSON lines or a JSON array of {product_id, denomination, card_number, pin_code?, claim_url?, expires_at?}',
    { isFile: true },
  ),
}

export const voucherActs = {
  import: act('Import codes', 'Add the codes of a file to the stock: all or none', IMPORTED, importFile),
  rekey: act('Encrypt again', 'Encrypt all codes with a new key', {}, rekey, { alone: 'write' }),
  list: listing(
    'Count the stock by product and denomination, and the days it will last',
    STOCK_COLUMNS,
    (_query, _narrowing, _input, data) => stockIn(data),
  ),
} satisfies Noun
