import { Database } from 'bun:sqlite'
import { describe, expect } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Office, officeTest, TEA } from './live.ts'
import { COMMAND } from './program.ts'

/** Long files beside a server, and what is left of an import that is killed (contract C8, C12). */

const PRODUCTS = 4_000
const catalogOf = (name: string, length: number) => ({
  products: Array.from({ length }, (_, index) => ({ ...TEA, id: index + 1, name: `${name} ${index + 1}` })),
})

const names = (office: Office): Promise<string[]> =>
  office
    .run(['catalog', 'export'])
    .then(({ stdout }) => (JSON.parse(stdout) as { products: { name: string }[] }).products.map(({ name }) => name))

describe('catalog import', () => {
  officeTest('replaces products and their bands in small transactions', async (office) => {
    await office.answer('client', 'add', 'acme')
    await office.answer('catalog', 'import', office.file('first.json', catalogOf('Tea', 600)))
    const server = await office.serve()
    await office.answer('catalog', 'import', office.file('second.json', catalogOf('Cup', 300)))
    expect(new Set((await names(office)).map((name) => name.split(' ')[0]))).toEqual(new Set(['Cup']))
    expect(await names(office)).toHaveLength(300)
    expect((await office.run(['verify'])).exitCode).toBe(0)
    await server.stop()
    expect(existsSync(join(office.dataDir, 'catalog.next'))).toBe(false)
  })

  officeTest('that is killed is completed by the next reader of the catalog', async (office) => {
    await office.answer('client', 'add', 'acme')
    await office.answer('catalog', 'import', office.file('first.json', catalogOf('Tea', 10)))
    const file = office.file('second.json', catalogOf('Cup', PRODUCTS))
    const child = Bun.spawn([...COMMAND, 'catalog', 'import', file, '--data-dir', office.dataDir], {
      stdout: 'ignore',
    })
    const database = new Database(join(office.dataDir, 'scrip.sqlite'))
    const written = database.query<{ n: number }, []>("SELECT count(*) AS n FROM products WHERE name LIKE 'Cup%'")
    while ((written.get()?.n ?? 0) === 0 && child.exitCode === null) await Bun.sleep(1)
    child.kill('SIGKILL')
    await child.exited
    database.close()
    expect(new Set((await names(office)).map((name) => name.split(' ')[0]))).toEqual(new Set(['Cup']))
    expect(await names(office)).toHaveLength(PRODUCTS)
  })
})
