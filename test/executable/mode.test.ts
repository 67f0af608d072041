import { describe, expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { officeTest } from './live.ts'
import { run, start } from './program.ts'

/** A data folder remembers its mode, whatever it holds (contract C1). */

const SERVE = ['serve', '--port', '0']

describe('a folder of live mode without a client', () => {
  officeTest('is refused by a sandbox and does not change', async (office) => {
    await (await office.serve()).stop()
    const before = readFileSync(join(office.dataDir, 'scrip.sqlite'))
    expect(await run([...SERVE, '--data-dir', office.dataDir])).toMatchObject({
      exitCode: 4,
      stdout: '',
      stderr: `scrip: ${office.dataDir}: the data is of --mode live\nEach mode needs a folder of its own.\n`,
    })
    expect(readFileSync(join(office.dataDir, 'scrip.sqlite')).equals(before)).toBe(true)
    expect(await office.answer<object[]>('client', 'list')).toEqual([])
    await office.answer('client', 'add', 'acme')
  })
})

describe('a folder of a sandbox', () => {
  officeTest('is refused by live mode and by the commands of live mode', async (office) => {
    await (await start(['--data-dir', office.dataDir])).stop()
    const codes = office.file('codes', '')
    for (const args of [
      [...SERVE, '--mode', 'live'],
      ['client', 'add', 'acme'],
      ['vouchers', 'import', codes],
      ['rates', 'set', 'USD/EUR=1'],
    ]) {
      const { exitCode, stdout } = await office.run(args)
      expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 4, stdout: '' })
    }
    expect(readdirSync(office.dataDir)).not.toContain('voucher.key.new')
  })
})
