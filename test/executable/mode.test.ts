import { describe, expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, start } from '../program.ts'
import { operatorTest } from './live.ts'

/** A data folder remembers its mode, whatever it holds (contract C1). */

const SERVE = ['serve', '--port', '0']

operatorTest('scrip run leaves the live folder of its shell alone, and says what to unset', async (operator) => {
  await operator.run(['client', 'add', 'acme'])
  const message = `names ${operator.dataDir}, which contains live data: scrip run leaves it alone`
  const inShell = await run(['run', '--', 'true'], { env: { SCRIP_DATA_DIR: operator.dataDir } })
  expect(inShell).toEqual({
    exitCode: 4,
    stdout: '',
    stderr: `scrip: SCRIP_DATA_DIR ${message}\nUnset SCRIP_DATA_DIR to run in memory, or use another folder.\n`,
  })
  expect((await run(['run', '--data-dir', operator.dataDir, '--', 'true'])).stderr).toBe(
    `scrip: --data-dir ${message}\nLeave it out to run in memory, or use another folder.\n`,
  )
})

describe('a folder of live mode without a client', () => {
  operatorTest('is refused by a sandbox and does not change', async (operator) => {
    await (await operator.serve()).stop()
    const before = readFileSync(join(operator.dataDir, 'scrip.sqlite'))
    expect(await run([...SERVE, '--data-dir', operator.dataDir])).toMatchObject({
      exitCode: 4,
      stdout: '',
      stderr: `scrip: ${operator.dataDir}: the data belongs to --mode live\nUse another folder for each mode.\n`,
    })
    expect(readFileSync(join(operator.dataDir, 'scrip.sqlite')).equals(before)).toBe(true)
    expect(await operator.json<object[]>('client', 'list')).toEqual([])
    await operator.json('client', 'add', 'acme')
  })
})

describe('a folder of a sandbox', () => {
  const REFUSED: [args: string[], next: string][] = [
    [[...SERVE, '--mode', 'live'], 'Use another folder for each mode.'],
    [['client', 'add', 'acme'], 'While it is served, POST /_sandbox/clients does the same.'],
    [['wallet', 'fund', '1', '5'], 'While it is served, POST /_sandbox/wallets/{id}/fund does the same.'],
    [['orders', 'list'], 'While it is served, GET /_sandbox/orders does the same.'],
    [['vouchers', 'import', '/dev/null'], 'Live data needs another folder'],
    [['beneficiary', 'erase', 'ada@example.com'], 'Live data needs another folder'],
    [['audit', 'list'], 'Live data needs another folder'],
    [['catalog', 'export'], 'Live data needs another folder'],
  ]

  operatorTest('is refused by live mode, and by acts and lists, in words', async (operator) => {
    await (await start(['--data-dir', operator.dataDir])).stop()
    const before = readdirSync(operator.dataDir)
    for (const [args, next] of REFUSED) {
      const { exitCode, stdout, stderr } = await operator.run(args)
      expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 4, stdout: '' })
      expect(stderr).toContain(next)
    }
    expect(readdirSync(operator.dataDir)).toEqual(before)
  })
})
