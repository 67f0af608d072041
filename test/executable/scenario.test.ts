import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderOfFile, run } from '../program.ts'

/** `--scenario` (contracts C1 and C15). */

const folder = folderOfFile()
const fileOf = (text: string): string => {
  writeFileSync(join(folder, 'scenario.json'), text)
  return join(folder, 'scenario.json')
}
const serve = (...flags: string[]) => run(['serve', '--port', '0', ...flags])

describe('--scenario', () => {
  test.each([
    [
      'a step that goes wrong',
      '{"steps":[{"method":"GET","path":"/api/v1/orders/7"}]}',
      'step 1: GET /api/v1/orders/7: got 404',
    ],
    ['a step that is none', '{"steps":[{"method":"GET"}]}', 'steps.1.path is required'],
    ['a file that is no JSON', '{"steps":[', 'is not a JSON object\nA scenario looks like {"steps": [...]}'],
    ['a list', '[]', 'is not a JSON object'],
    ['more than 1 MiB', `{"steps":[]}${' '.repeat(1_048_576)}`, 'is longer than 1048576 bytes'],
  ])('exit 4 for %s, with the problem and its place', async (_, text, what) => {
    const file = fileOf(text)
    const { exitCode, stdout, stderr } = await serve('--scenario', file)
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' })
    expect(stderr).toContain(file)
    expect(stderr).toContain(what)
  })

  test('exit 4 for a file that cannot be read', async () => {
    expect(await serve('--scenario', './no-such.json')).toMatchObject({ exitCode: 4 })
  })

  test('exit 2 for an unknown name, with a hint on how to name a file', async () => {
    const { exitCode, stderr } = await serve('--scenario', 'busymonth')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('./busymonth')])
  })

  test('exit 2 together with --snapshot, and in live mode', async () => {
    const both = await serve('--scenario', 'busy-month', '--snapshot', 'x.json')
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('--snapshot')])
    const live = await serve('--mode', 'live', '--data-dir', join(folder, 'live'), '--scenario', 'busy-month')
    expect([live.exitCode, live.stderr]).toEqual([
      2,
      expect.stringContaining('--scenario is not available in live mode'),
    ])
  })
})
