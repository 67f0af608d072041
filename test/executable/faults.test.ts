import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogEntry } from '../catalog/entry.ts'
import { inFolder, run, start } from '../program.ts'

/** Faults that keep the program from starting, and their messages (contract C1). */

test('exit 3 if the address is not one of this machine', async () => {
  const { exitCode, stderr } = await run(['--port', '0', '--host', '203.0.113.1'])
  expect(exitCode).toBe(3)
  expect(stderr).toContain('cannot bind 203.0.113.1:0')
})

const PRODUCT = catalogEntry({ name: 'Tea' })

describe('exit 4, with the error and its location, for', () => {
  test.each<[string, string, string, RegExp[]]>([
    [
      'a catalog with bad rows, all of which are told',
      '--catalog',
      JSON.stringify({
        products: [
          PRODUCT,
          { ...PRODUCT, id: 2, currency: 'XXX' },
          { ...PRODUCT, country: 'ZZZ', gst_percent: 18.123 },
        ],
      }),
      [
        /\/products\/1\/currency: .*XXX/,
        /\/products\/2\/country: .*ZZZ/,
        /\/products\/2\/gst_percent/,
        /\/products\/2\/id/,
      ],
    ],
    [
      'rates with bad rows, all of which are told',
      '--rates',
      '{"base":"USD","rates":{"EUR":"-1","GBP":"0.123456789","INR":"83"}}',
      [/\/rates\/EUR/, /\/rates\/GBP/],
    ],
  ])('%s', (_, flag, text, messages) =>
    inFolder(async (folder) => {
      const file = join(folder, 'file.json')
      writeFileSync(file, text)
      const { exitCode, stdout, stderr } = await run(['--port', '0', flag, file])
      expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' })
      for (const message of [/file\.json/, ...messages]) expect(stderr).toMatch(message)
    }),
  )

  test.each(['--catalog', '--rates'])('a missing %s file', async (flag) => {
    const { exitCode, stderr } = await run(['--port', '0', flag, '/no/such.json'])
    expect(exitCode).toBe(4)
    expect(stderr).toContain('/no/such.json')
  })

  const served = async (folder: string): Promise<void> => void (await (await start(['--data-dir', folder])).stop())
  const changed = async (folder: string, statement: string) => {
    await served(folder)
    const database = new Database(join(folder, 'scrip.sqlite'))
    database.run(statement)
    database.close()
  }

  test.each<[string, (folder: string) => unknown, string]>([
    ['a data folder that is a file', (folder) => writeFileSync(folder, ''), ''],
    [
      'a file that is not a database',
      (folder) => writeFileSync(join(made(folder), 'scrip.sqlite'), 'x'.repeat(8_192)),
      'is not a Scrip database',
    ],
    ['a database file that cannot be opened', (folder) => mkdirSync(join(made(folder), 'scrip.sqlite')), ''],
    [
      'a database of a newer program',
      (folder) => changed(folder, "INSERT INTO migrations VALUES (9999, 'later', 'x', 'x')"),
      ': the database is at schema 9999',
    ],
    [
      'a database of a build before the first release',
      (folder) => changed(folder, "UPDATE migrations SET sha256 = 'x' WHERE version = 1"),
      ': the database was not made by 0001_schema of this program: it is of a build before',
    ],
    [
      'a truncated signing key',
      (folder) => served(folder).then(() => writeFileSync(join(folder, 'signing.key'), 'short')),
      'signing.key',
    ],
  ])('%s', (_, spoil, message) =>
    inFolder(async (folder) => {
      const data = join(folder, 'data')
      await spoil(data)
      const { exitCode, stdout, stderr } = await run(['--port', '0', '--data-dir', data])
      expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' })
      expect(stderr).toContain(data)
      expect(stderr).toContain(message)
    }),
  )
})

const made = (folder: string): string => {
  mkdirSync(folder, { mode: 0o700 })
  return folder
}
