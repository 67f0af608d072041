import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { CatalogFault, CatalogSchema, readCatalog, writeCatalog } from '../catalog/document.ts'
import { dataConfigOf, fileConfigOf } from '../config/config.ts'
import type { DataOptions } from '../config/option-table.ts'
import { withDataOptions, withJson } from '../config/options.ts'
import { Database } from '../db/database.ts'
import { lockForImport } from '../db/folder-lock.ts'
import { migrate } from '../db/migrate.ts'
import { MINUTE_MS, systemClock } from '../kernel/clock.ts'
import {
  endCatalogImport,
  importCatalogInSteps,
  PROGRAM_CATEGORIES,
  readReference,
  seedReferenceData,
  seedSandboxCatalog,
} from '../start/seeds.ts'
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
  withJson(catalog.command('validate'))
    .description('check a catalog file and list everything wrong with it')
    .argument('<file>', 'the file; - reads standard input')
    .action((file: string, { json = false }: { json?: boolean }) => {
      const text = readInput(file)
      try {
        const { products } = readCatalog(text, { reference: readReference(), known: PROGRAM_CATEGORIES })
        show({ file, products: products.length }, json)
      } catch (error) {
        throw toldOf(file, error)
      }
    })
  withDataOptions(catalog.command('import'))
    .description('replace all products by those of a file')
    .argument('<file>', 'the file; - reads standard input')
    .action((file: string, options: DataOptions) => {
      const { dataDir } = dataConfigOf(options)
      return administer(options, async ({ database: { query }, reference, write }) => {
        const text = readInput(file)
        const unlock = lockForImport(dataDir)
        try {
          const { products } = await withProgress(text.length, (onProgress) =>
            importCatalogInSteps(text, { dataDir, query, write, reference, onProgress }),
          )
          return { data_dir: dataDir, products: products.length }
        } catch (error) {
          throw toldOf(file, error)
        } finally {
          unlock()
        }
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

/** Neither the half of one that is being imported, nor of one that was broken off. */
const exportedFrom = (dataDir: string, database: Database): string => {
  const unlock = lockForImport(dataDir, MINUTE_MS)
  try {
    endCatalogImport(dataDir, database, readReference())
    return writeCatalog(database.query, readReference())
  } finally {
    unlock()
  }
}

const exported = (dataDir: string | undefined): string | Promise<string> => {
  if (dataDir !== undefined) {
    return withData(dataDir, (database) => exportedFrom(dataDir, database))
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

/** All that is wrong with a file, or whatever else went wrong. */
const toldOf = (file: string, error: unknown): unknown =>
  error instanceof CatalogFault ? new ProgramError(EXIT.data, `${file}: ${error.message}`) : error
