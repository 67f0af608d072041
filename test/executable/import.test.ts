import { Database } from 'bun:sqlite'
import { describe, expect } from 'bun:test'
import { join } from 'node:path'
import { COMMAND } from '../program.ts'
import { type Operator, operatorTest, TEA } from './live.ts'

/** Long files beside a server, and what is left of an import that is killed (contract C8, C12). */

const PRODUCTS = 4_000
const catalogOf = (name: string, length: number) => ({
  products: Array.from({ length }, (_, index) => ({ ...TEA, id: index + 1, name: `${name} ${index + 1}` })),
})

const names = (operator: Operator): Promise<string[]> =>
  operator
    .run(['catalog', 'export'])
    .then(({ stdout }) => (JSON.parse(stdout) as { products: { name: string }[] }).products.map(({ name }) => name))

describe('catalog import', () => {
  operatorTest('that is killed is completed by the next reader of the catalog', async (operator) => {
    await operator.json('client', 'add', 'acme')
    await operator.json('catalog', 'import', operator.file('first.json', catalogOf('Tea', 10)))
    const file = operator.file('second.json', catalogOf('Cup', PRODUCTS))
    const child = Bun.spawn([...COMMAND, 'catalog', 'import', file, '--data-dir', operator.dataDir], {
      stdout: 'ignore',
    })
    const database = new Database(join(operator.dataDir, 'scrip.sqlite'))
    const written = database.query<{ n: number }, []>("SELECT count(*) AS n FROM products WHERE name LIKE 'Cup%'")
    while ((written.get()?.n ?? 0) === 0 && child.exitCode === null) await Bun.sleep(1)
    child.kill('SIGKILL')
    await child.exited
    database.close()
    expect(new Set((await names(operator)).map((name) => name.split(' ')[0]))).toEqual(new Set(['Cup']))
    expect(await names(operator)).toHaveLength(PRODUCTS)
  })
})
