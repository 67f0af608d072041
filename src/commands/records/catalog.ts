import { existsSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import sampleJson from '../../../seed/sample-catalog.json' with { type: 'text' }
import type { Acting } from '../../acts/act.ts'
import type { Administration } from '../../acts/administration.ts'
import { type List, listOf, type Row, StoredJson } from '../../acts/cells.ts'
import { choiceOf, field, type Input, numberOrText, wholeNumber } from '../../acts/fields.ts'
import { act, type Noun, type Shown } from '../../acts/kind.ts'
import { productsEdited } from '../../audit/queries.ts'
import { changeOf, changesBetween } from '../../catalog/changes.ts'
import { readCatalog } from '../../catalog/document.ts'
import { editProduct, type ProductEdit, productEntry } from '../../catalog/edit.ts'
import { CatalogSchema, type ProductDocument, ProductEntry } from '../../catalog/file-schema.ts'
import {
  catalogVersion,
  checkedCatalog,
  importCatalog,
  importChecked,
  seedSampleCatalog,
} from '../../catalog/import.ts'
import { writeCatalog } from '../../catalog/rows.ts'
import { fileConfigOf } from '../../config/config.ts'
import { refuseRuntimeVariables } from '../../config/environment.ts'
import type { DataOptions } from '../../config/option-table.ts'
import { withJson } from '../../config/options.ts'
import { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { systemClock } from '../../kernel/clock.ts'
import { counted } from '../../kernel/counted.ts'
import { misused, refused } from '../../kernel/exit.ts'
import { openOrdersByProduct } from '../../orders/queries.ts'
import { readReference, seedReferenceData } from '../../start/seed.ts'
import { acting } from '../acts/ask.ts'
import { explainFaults, withInput } from '../advice.ts'
import { note, print, show } from '../terminal/output.ts'
import { administer, requireLive, withReader } from './administration.ts'
import { actCommand, describe } from './records.ts'

/** `scrip catalog`: the products as a file (contract C8). */
export const catalogCommands = (catalog: Command): void => {
  catalog.hook('preAction', refuseRuntimeVariables)
  catalog
    .command('schema')
    .description('print the JSON Schema of a catalog file')
    .action(async () => void (await print(`${JSON.stringify(CatalogSchema, null, 2)}\n`)))
  catalog
    .command('init')
    .description('write a sample catalog to begin with')
    .argument('[file]', 'a file that does not exist yet; - is standard output', '-')
    .action((file: string) => explainFaults(file, () => writeSample(file)))
  withJson(catalog.command('validate'))
    .description('check a catalog file and list everything wrong with it')
    .argument('<file>', 'the file; - reads standard input')
    .action(async (file: string, options: DataOptions) => {
      const { products } = await withInput(file, (text) => readCatalog(text, readReference()))
      await show({ file, products: products.length }, options.json ? 'json' : 'text')
    })
  actCommand(catalog.command('import'), catalogActs.import).action(importFile)
  actCommand(catalog.command('edit'), catalogActs.edit)
  describe(catalog.command('export'), {
    summary: 'Write the catalog of a data folder, or the seeded one if there is none',
  })
    .argument('[file]', 'the file; - is standard output', '-')
    .action((file: string, options: DataOptions) => {
      const { dataDir, ...config } = fileConfigOf(options)
      return explainFaults(dataDir ?? file, async () => {
        const text =
          dataDir === undefined
            ? seededCatalog()
            : await withReader({ ...config, dataDir }, (database) => {
                requireLive(dataDir, 'catalog export')
                return writeCatalog(database.query, readReference())
              })
        if (file === '-') await print(text)
        else writeFileSync(file, text)
      })
    })
}

const writeSample = async (file: string): Promise<void> => {
  if (file === '-') await print(sampleJson)
  else if (existsSync(file))
    throw refused(`${file} already exists, and scrip catalog init overwrites nothing\nUse another file.`)
  else {
    writeFileSync(file, sampleJson)
    note(`${file} is a sample. Edit it, then: scrip catalog import ${file} --dry-run`, 'text')
  }
}

/** A dry run is not an act. */
function importFile(this: Command, file: string, { dryRun }: { dryRun?: true }): Promise<void> {
  if (dryRun) return administer((data) => withInput(file, (text) => changes(data, text))).call(this)
  return acting(catalogActs.import).call(this, file, {}, this)
}

const changes = (data: Administration, text: string): List => {
  const after = catalogOf((database) => importCatalog(database, data.reference, text))
  const [open, edited] = [openOrdersByProduct(data.query), productsEdited(data.query)]
  const changes = changesBetween(writeCatalog(data.query, data.reference), after).map((one) => ({
    ...one,
    waiting: one.change === 'removed' ? (open.get(one.product.id) ?? 0) : null,
    isEdited: edited.has(one.product.id),
  }))
  return listOf(CHANGE_COLUMNS, changes, data)
}

type Change = ReturnType<typeof changesBetween>[number] & { waiting: number | null; isEdited: boolean }

const CHANGE_COLUMNS: Shown<Change> = {
  change: ({ change }) => change,
  product_id: ({ product }) => product.id,
  product: ({ product }) => product.name,
  before: ({ before }) => before && new StoredJson(JSON.stringify(before)),
  after: ({ after }) => after && new StoredJson(JSON.stringify(after)),
  waiting_orders: ({ waiting }) => waiting,
  takes_back_edit: ({ isEdited }) => isEdited,
}

const importFromChecked = async ({ config, database, write, input, record, note }: Acting): Promise<Row> => {
  const isFirst = catalogVersion(database) === undefined
  const checked = JSON.parse(input)
  const { after, changes, open, edited } = await write((tx) => {
    const edited = productsEdited(tx)
    const { changes, ...change } = importChecked(tx, checked)
    record(tx, change)
    return { ...change, changes, edited, open: openOrdersByProduct(tx) }
  })
  const { added, changed, removed } = changes
  const waits = removed.flatMap(({ id, name }) => {
    const count = open.get(id)
    return count ? [`Product ${id}, ${name}, is removed, and ${waiting(count)} for it.`] : []
  })
  const lost = [...changed, ...removed.map(({ id }) => id)].filter((id) => edited.has(id))
  const lines = [...waits, ...lost.map((id) => `The edits of product ${id} are taken back.`)]
  for (const line of lines.slice(0, NOTES_MAX)) note(line)
  if (lines.length > NOTES_MAX) note(`And ${counted(lines.length - NOTES_MAX, 'more product')} like these.`)
  if (isFirst) note('Next: scrip vouchers import FILE. Every product sells the codes that are imported for it.')
  return { data_dir: config.dataDir, ...after, added, changed: changed.length, removed: removed.length }
}

const waiting = (count: number): string => `${counted(count, 'order')} ${count === 1 ? 'waits' : 'wait'}`

/** A dry run lists every product. */
const NOTES_MAX = 20

const { max_quantity, gst_percent } = ProductEntry.properties
const PERCENT = 'in percent, such as 2.5'
const EDITED = {
  id: field('<id>', 'the product', { read: wholeNumber }),
  active: field('--active <on|off>', 'whether it can be ordered', { label: 'On sale', ...choiceOf(['on', 'off']) }),
  max_quantity: field<'--max-quantity <number>', number>('--max-quantity <number>', 'vouchers in an order at most', {
    schema: max_quantity,
    read: numberOrText,
  }),
  gst_percent: field<'--gst <percent>', number>('--gst <percent>', `the tax, ${PERCENT}`, {
    label: 'Tax',
    schema: gst_percent,
    read: (text) => numberOrText(text.replace(/%$/, '')),
  }),
  handling_fee: field('--handling-fee <fee>', 'an amount, a percentage or both: 2, 1.5% or 2+1.5%'),
  denominations: field<'--denomination <bands...>', readonly string[] | undefined>(
    '--denomination <bands...>',
    'every denomination with its discount in percent: 10-50=2.5 100=0; others are no longer sold',
  ),
}

const NUMBER = String.raw`\d{1,10}(?:\.\d{1,4})?`
const BAND = new RegExp(`^(${NUMBER})(?:-(${NUMBER}))?=(${NUMBER})%?$`)
const FEE = new RegExp(`^(?:(${NUMBER})(?!%))?(?:(?:^|\\+)(${NUMBER})%)?$`)

const numberIn = (pattern: RegExp, text: string, example: string): (number | undefined)[] => {
  const [, ...found] = text === '' ? [] : (pattern.exec(text) ?? [])
  if (found.every((part) => part === undefined)) throw misused(`'${text}' cannot be read\nWrite it like ${example}.`)
  return found.map((part) => (part === undefined ? undefined : Number(part)))
}

/** @throws ProgramError */
const editIn = ({
  active,
  max_quantity,
  gst_percent,
  handling_fee,
  denominations = [],
}: Input<typeof EDITED>): ProductEdit => {
  const edit: ProductEdit = {
    ...(active !== undefined && { active: active === 'on' }),
    ...(max_quantity !== undefined && { max_quantity }),
    ...(gst_percent !== undefined && { gst_percent }),
  }
  if (handling_fee !== undefined) {
    const [fixed, percent] = numberIn(FEE, handling_fee, '2, 1.5% or 2+1.5%')
    edit.handling_fee = { ...(fixed !== undefined && { fixed }), ...(percent !== undefined && { percent }) }
  }
  if (denominations.length > 0)
    edit.denominations = denominations.map((band) => {
      const [min = 0, max = min, discount = 0] = numberIn(BAND, band, '10-50=2.5')
      return { min_value: min, max_value: max, discount }
    })
  if (Object.keys(edit).length === 0)
    throw misused('nothing is to be changed\nGive one of the flags: scrip catalog edit --help.')
  return edit
}

const edit = (data: Acting, input: Input<typeof EDITED>): Promise<Row> =>
  data.write((tx) => {
    const { id } = input
    const before = productEntry(tx, data.reference, id)
    if (!before) throw refused(`there is no product ${id}\nSee scrip catalog export.`)
    const after = editProduct(tx, data.reference, before, editIn(input))
    const change = changeOf(before, after)
    data.record(tx, { before: change?.before ?? {}, after: change?.after ?? {} })
    return { id, name: after.name, ...termsIn(after) }
  })

/** The terms of a product that an edit changes, fee and denominations as a person writes them. */
export const termsIn = ({ active, max_quantity, gst_percent, handling_fee, denominations }: ProductDocument) => ({
  ...{ active, max_quantity, gst_percent },
  handling_fee: `${handling_fee.fixed}+${handling_fee.percent}%`,
  denominations: denominations.map(({ min_value, max_value, discount }) =>
    min_value === max_value ? `${min_value}=${discount}` : `${min_value}-${max_value}=${discount}`,
  ),
})

export const catalogActs = {
  import: act(
    'Import catalog',
    'Replace all products with those of a file',
    { file: field('<file>', 'the file', { isFile: true }) },
    importFromChecked,
    { preview: changes, readFile: (text) => checkedCatalog(text, readReference()), inNewFolder: true, isMoney: true },
  ),
  edit: act('Edit product', 'Change one product of the catalog, until the next import', EDITED, edit, {
    inSandbox: 'PATCH /products/{id}',
    isMoney: true,
  }),
} satisfies Noun

const seededCatalog = (): string => catalogOf((database) => seedSampleCatalog(database, readReference()))

/** A catalog as the program writes it. */
const catalogOf = (fill: (database: Database) => void): string => {
  const database = Database.inMemory()
  migrate(database.sqlite, systemClock)
  seedReferenceData(database)
  fill(database)
  return writeCatalog(database.query, readReference())
}
