import { join, resolve } from 'node:path'

/** Where the figures of the benchmark stand, and which of them. */

const root = resolve(import.meta.dir, '../..')
export const PERFORMANCE = join(root, 'docs/performance.md')
export const README = join(root, 'README.md')

export const HEADINGS = { requests: '## What a request costs', start: '## Start and memory', readme: '## Performance' }

export const ROWS = [
  'countries',
  'countries/{id}',
  'products?limit=50',
  'charges, the same',
  'charges, all different',
  'beneficiaries, 32',
]
/** What README.md shows of the table. */
export const SHOWN = { rows: ROWS, columns: ['live', 'sandbox', 'Fastify', 'Elysia, drizzle'] }
