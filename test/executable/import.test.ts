import { describe, expect } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { COMMAND } from '../program.ts'
import { type Operator, operatorTest, TEA } from './live.ts'

/** A catalog file is imported all or nothing, beside a server too (contract C8). */

const PRODUCTS = 4_000
const catalogOf = (name: string, length: number) => ({
  products: Array.from({ length }, (_, index) => ({ ...TEA, id: index + 1, name: `${name} ${index + 1}` })),
})

const names = (operator: Operator): Promise<string[]> =>
  operator
    .run(['catalog', 'export'])
    .then(({ stdout }) => (JSON.parse(stdout) as { products: { name: string }[] }).products.map(({ name }) => name))

describe('catalog import', () => {
  operatorTest('that is killed has replaced all products or none', async (operator) => {
    await operator.json('client', 'add', 'acme')
    await operator.json('catalog', 'import', operator.file('first.json', catalogOf('Tea', 10)))
    const file = operator.file('second.json', catalogOf('Cup', PRODUCTS))
    const args = [...COMMAND, 'catalog', 'import', file, '--data-dir', operator.dataDir]
    const child = Bun.spawn(args, { stdout: 'ignore' })
    const log = join(operator.dataDir, 'scrip.sqlite-wal')
    while ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0 && child.exitCode === null) await Bun.sleep(1)
    child.kill('SIGKILL')
    await child.exited
    const left = await names(operator)
    expect(['Tea 10', `Cup ${PRODUCTS}`]).toContain(`${left[0]?.split(' ')[0]} ${left.length}`)
    expect(new Set(left.map((name) => name.split(' ')[0]))).toHaveProperty('size', 1)
  })
})
