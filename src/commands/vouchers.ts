import type { Command } from 'commander'
import { productRecords } from '../catalog/records.ts'
import { type DataOptions, withDataOptions } from '../config.ts'
import { addCodes, readCodes, StockFault, stockLevels } from '../orders/stock.ts'
import { administer, otherMode, readInput } from './administration.ts'
import { EXIT, ProgramError } from './exit.ts'
import { Amount } from './output.ts'
import { withProgress } from './progress.ts'

/** `scrip vouchers`: the codes that live mode sells (contract C12). No command shows one. */
export const voucherCommands = (vouchers: Command): void => {
  withDataOptions(vouchers.command('import'))
    .description('add codes to the stock: all of a file, or none of it')
    .argument(
      '<file>',
      'JSON lines or a JSON array of {product_id, denomination, card_number, pin_code?, claim_url?, expires_at?}; - reads standard input',
    )
    .action((file: string, options: DataOptions) =>
      administer(options, async ({ world, database, reference, isSandbox, seal, write }) => {
        if (isSandbox) throw otherMode('A sandbox makes its codes up: import into the data of live mode.')
        const context = { tx: database.query, reference, seal: seal(), nowMs: world.clock.nowMs() }
        try {
          const text = readInput(file)
          return await withProgress(text.length, async (onProgress) => {
            const onRows = (done: number) => onProgress(`sealing codes: ${done}`, 0, 0)
            const codes = readCodes(text, { ...context, onRows })
            onProgress(`writing codes: ${codes.length}`, 0, 0)
            await write((tx) => addCodes(tx, codes))
            return { imported: codes.length }
          })
        } catch (error) {
          if (error instanceof StockFault) throw new ProgramError(EXIT.data, `${file}: ${error.message}`)
          throw error
        }
      }),
    )
  withDataOptions(vouchers.command('list'))
    .description('count the stock by product and denomination')
    .action((options: DataOptions) =>
      administer(options, ({ world, database: { query }, reference }) => {
        const products = productRecords(query)
        return stockLevels(query, world.clock.nowMs()).map(
          ({ productId, denominationMinor, imported, taken, expired }) => {
            const product = products.get(productId)?.row
            const currency = product && reference.getCurrency(product.currencyId)
            return {
              product_id: productId,
              product: product?.name ?? 'not in the catalog',
              denomination: currency ? new Amount(denominationMinor, currency) : null,
              currency: currency?.currency ?? null,
              available: imported - taken - expired,
              taken,
              expired,
            }
          },
        )
      }),
    )
}
