import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { CatalogFault, CatalogSchema, readCatalog, writeCatalog } from '../catalog/document.ts'
import { type DataOptions, dataConfigOf, fileConfigOf, withDataOptions } from '../config.ts'
import { Database } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { systemClock } from '../kernel/clock.ts'
import { importCatalog, PROGRAM_CATEGORIES, readReference, seedReferenceData, seedSandboxCatalog } from '../seeds.ts'
import { administer, readInput, told, withData } from './administration.ts'
import { EXIT, ProgramError } from './exit.ts'
import { show } from './output.ts'
import { withProgress } from './progress.ts'

/** `scrip catalog`: what is sold, as a file (contract C8). */
export const catalogCommands = (catalog: Command): void => {
  catalog
    .command('schema')
    .description('print the JSON Schema of a catalog file')
    .action(() => void process.stdout.write(`${JSON.stringify(CatalogSchema, null, 2)}\n`))
  catalog
    .command('validate')
    .description('check a catalog file and list everything wrong with it')
    .argument('<file>', 'the file; - reads standard input')
    .option('--json', 'print JSON, for scripts')
    .action((file: string, { json = false }: { json?: boolean }) => {
      const { products } = ofFile(file, () =>
        readCatalog(readInput(file), { reference: readReference(), known: PROGRAM_CATEGORIES }),
      )
      show({ file, products: products.length }, json)
    })
  withDataOptions(catalog.command('import'))
    .description('replace all products by those of a file')
    .argument('<file>', 'the file; - reads standard input')
    .action((file: string, options: DataOptions) => {
      const { dataDir } = dataConfigOf(options)
      return administer(options, async ({ database, reference }) => {
        const text = readInput(file)
        const { products } = await withProgress(text.length, (onProgress) =>
          ofFile(file, () => importCatalog(database, reference, text, onProgress)),
        )
        return { data_dir: dataDir, products: products.length }
      })
    })
  withDataOptions(catalog.command('export'))
    .description('write the catalog of a data folder, or the seeded one if there is none')
    .argument('[file]', 'the file; - is standard output', '-')
    .action((file: string, options: DataOptions) => {
      const { dataDir } = fileConfigOf(options)
      return told(dataDir ?? file, async () => write(file, await exported(dataDir)))
    })
}

const exported = (dataDir: string | undefined): string | Promise<string> => {
  if (dataDir !== undefined) {
    return withData(dataDir, (database) => writeCatalog(database.query, readReference()))
  }
  const { database, reference } = seeded()
  seedSandboxCatalog(database, reference)
  return writeCatalog(database.query, reference)
}

/** A database with the reference data that this program carries. */
const seeded = () => {
  const database = Database.inMemory()
  migrate(database.sqlite, systemClock)
  seedReferenceData(database)
  return { database, reference: readReference() }
}

const write = (file: string, text: string): void => {
  if (file === '-') process.stdout.write(text)
  else writeFileSync(file, text)
}

/** @throws ProgramError with all that is wrong with the file */
const ofFile = <T>(file: string, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    if (error instanceof CatalogFault) throw new ProgramError(EXIT.data, `${file}: ${error.message}`)
    throw error
  }
}
