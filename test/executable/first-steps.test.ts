import { expect } from 'bun:test'
import { join } from 'node:path'
import { run } from '../program.ts'
import { operatorTest } from './live.ts'

/** A new live folder: each step names the next one. */

operatorTest('each command of a new folder names the next one', async (operator) => {
  const said = async (...args: string[]) => (await operator.run(args)).stderr
  expect(await said('client', 'add', 'acme')).toContain('Next: scrip wallet add acme CURRENCY.')
  expect(await said('wallet', 'add', 'acme', 'USD')).toContain('Next: scrip wallet fund 1 AMOUNT.')
  const file = join(operator.folder, 'mine.json')
  const { stderr } = await run(['catalog', 'init', file])
  expect(stderr).toContain(`scrip catalog import ${file} --dry-run`)
  expect(await said('catalog', 'import', file)).toContain('Next: scrip vouchers import FILE')
})
