import { catalogVersion } from '../../catalog/import.ts'
import type { Database } from '../../db/database.ts'
import { allClients } from '../../sessions/queries.ts'
import { walletsOf } from '../../wallets/queries.ts'

interface Step {
  lacking: string
  next: string
}

/** What live mode still lacks before anybody can buy, each with the command that adds it. */
export const firstSteps = (database: Database, dataDir: string): Step[] => {
  const { query } = database
  const steps = [
    { lacks: allClients(query).length === 0, lacking: 'no client can log in', command: 'client add NAME' },
    {
      lacks: isEmpty(walletsOf(query, { limit: 1 })),
      lacking: 'no client has a wallet',
      command: 'wallet add NAME CURRENCY',
    },
    { lacks: catalogVersion(database) === undefined, lacking: 'nothing is for sale', command: 'catalog import FILE' },
  ]
  return steps
    .filter(({ lacks }) => lacks)
    .map(({ lacking, command }) => ({ lacking, next: `scrip ${command} --data-dir ${dataDir}` }))
}

const isEmpty = (rows: Iterable<unknown>): boolean => [...rows].length === 0
