import { expect } from 'bun:test'
import { join } from 'node:path'
import { run } from '../program.ts'
import { operatorTest } from './live.ts'

/** A new live folder: each step names the next one. */

operatorTest('a live server says what its data lacks, and each command names the next one', async (operator) => {
  const steps = async () => {
    const server = await operator.serve('--log-format', 'json')
    const { stderr } = await server.stop()
    const lines = stderr.trim().split('\n')
    return lines.map((line) => JSON.parse(line) as { message: string; next?: string }).filter(({ next }) => next)
  }
  expect(await steps()).toMatchObject([
    { message: 'no client can log in', next: `scrip client add NAME --data-dir ${operator.dataDir}` },
    { message: 'no client has a wallet', next: `scrip wallet add NAME CURRENCY --data-dir ${operator.dataDir}` },
    { message: 'nothing is for sale', next: `scrip catalog import FILE --data-dir ${operator.dataDir}` },
  ])
  const said = async (...args: string[]) => (await operator.run(args)).stderr
  expect(await said('client', 'add', 'acme')).toContain('Next: scrip wallet add acme CURRENCY.')
  expect(await said('wallet', 'add', 'acme', 'USD')).toContain('Next: scrip wallet fund 1 AMOUNT.')
  const file = join(operator.folder, 'mine.json')
  const { stderr } = await run(['catalog', 'init', file])
  expect(stderr).toContain(`scrip catalog import ${file} --dry-run`)
  expect(await said('catalog', 'import', file)).toContain('Next: scrip vouchers import FILE')
  expect(await steps()).toEqual([])
})
