import { describe, expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, start } from '../program.ts'
import { operatorTest } from './live.ts'

/** A data folder remembers its mode, whatever it holds (contract C1). */

const SERVE = ['serve', '--port', '0']

describe('a folder of live mode without a client', () => {
  operatorTest('is refused by a sandbox and does not change', async (operator) => {
    await (await operator.serve()).stop()
    const before = readFileSync(join(operator.dataDir, 'scrip.sqlite'))
    expect(await run([...SERVE, '--data-dir', operator.dataDir])).toMatchObject({
      exitCode: 4,
      stdout: '',
      stderr: `scrip: ${operator.dataDir}: the data belongs to --mode live\nEach mode needs a folder of its own.\n`,
    })
    expect(readFileSync(join(operator.dataDir, 'scrip.sqlite')).equals(before)).toBe(true)
    expect(await operator.json<object[]>('client', 'list')).toEqual([])
    await operator.json('client', 'add', 'acme')
  })
})

describe('a folder of a sandbox', () => {
  operatorTest('is refused by live mode and by the commands of live mode', async (operator) => {
    await (await start(['--data-dir', operator.dataDir])).stop()
    const codes = operator.file('codes', '')
    for (const [args, words] of [
      [[...SERVE, '--mode', 'live'], '--mode sandbox'],
      [['client', 'add', 'acme'], 'sbx_NAME'],
      [['vouchers', 'import', codes], 'a sandbox generates its codes'],
      [['rates', 'set', 'USD/EUR=1'], 'sandbox'],
    ] as const) {
      const { exitCode, stdout, stderr } = await operator.run([...args])
      expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 4, stdout: '' })
      expect(stderr).toContain(words)
    }
    expect(readdirSync(operator.dataDir)).not.toContain('voucher.key.new')
  })
})
