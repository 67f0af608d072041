import { existsSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import sampleJson from '../../../seed/sample-catalog.json' with { type: 'text' }
import type { Acting } from '../../acts/act.ts'
import { Facts, type List, listOf, type Row } from '../../acts/cells.ts'
import { field } from '../../acts/fields.ts'
import { act, type Shown } from '../../acts/kind.ts'
import { changesBetween } from '../../catalog/changes.ts'
import { readCatalog } from '../../catalog/document.ts'
import { CatalogSchema } from '../../catalog/file-schema.ts'
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
import { refused } from '../../kernel/exit.ts'
import { readReference, seedReferenceData } from '../../start/seed.ts'
import { acting } from '../acts/ask.ts'
import { explainFaults, withInput } from '../advice.ts'
import { note, print, show } from '../terminal/output.ts'
import { administer, type Reading, requireLive, withReader } from './administration.ts'
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
  actCommand(catalog.command('import'), catalogActs.import)
    .option('--dry-run', 'show what would be added, changed and removed, and import nothing')
    .action(importFile)
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

const changes = (data: Reading, text: string): List => {
  const after = catalogOf((database) => importCatalog(database, data.reference, text))
  return listOf(CHANGE_COLUMNS, changesBetween(writeCatalog(data.query, data.reference), after), data)
}

const CHANGE_COLUMNS: Shown<ReturnType<typeof changesBetween>[number]> = {
  change: ({ change }) => change,
  product_id: ({ product }) => product.id,
  product: ({ product }) => product.name,
  before: ({ before }) => before && new Facts(JSON.stringify(before)),
  after: ({ after }) => after && new Facts(JSON.stringify(after)),
}

const importFromChecked = async ({ config, database, write, input, record, note }: Acting): Promise<Row> => {
  const isFirst = catalogVersion(database) === undefined
  const checked = JSON.parse(input)
  const { after } = await write((tx) => {
    const change = importChecked(tx, checked)
    record(tx, change)
    return change
  })
  if (isFirst) note('Next: scrip vouchers import FILE. Every product sells the codes that are imported for it.')
  return { data_dir: config.dataDir, ...after }
}

export const catalogActs = {
  import: act(
    'Replace all products with those of a file',
    { file: field('<file>', 'the file; - reads standard input', { isFile: true }) },
    importFromChecked,
    { readFile: (text) => checkedCatalog(text, readReference()), inNewFolder: true },
  ),
}

const seededCatalog = (): string => catalogOf((database) => seedSampleCatalog(database, readReference()))

/** A catalog as the program writes it. */
const catalogOf = (fill: (database: Database) => void): string => {
  const database = Database.inMemory()
  migrate(database.sqlite, systemClock)
  seedReferenceData(database)
  fill(database)
  return writeCatalog(database.query, readReference())
}
