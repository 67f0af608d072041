import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { run } from '../program.ts'
import { asOperator, type Operator, operatorTest } from './live.ts'

/** `scrip backup FOLDER --keep 48`: copies that are named after their times (decision 29). */

interface Copied {
  file: string
  bytes: number
  kept?: number
  removed?: number
}

const NAME = /^scrip-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.sqlite$/
const OLD = ['scrip-2025-01-01T00-00-00.000Z.sqlite', 'scrip-2025-01-01T01-00-00.000Z.sqlite']

const folderOf = (operator: Operator, ...files: string[]): string => {
  const folder = join(operator.folder, 'backups')
  mkdirSync(folder)
  for (const name of files) writeFileSync(join(folder, name), '')
  return folder
}

describe('scrip backup FOLDER', () => {
  test('writes a sound copy that is named after its time, and removes the oldest beyond --keep', () =>
    asOperator(async (operator) => {
      await operator.json('client', 'add', 'acme')
      const folder = folderOf(operator, ...OLD, 'mine.sqlite')
      const first = await operator.json<Copied>('backup', folder)
      expect(Object.keys(first)).toEqual(['file', 'bytes'])
      expect(readdirSync(folder)).toHaveLength(4)
      const second = await operator.json<Copied>('backup', folder, '--keep', '2')
      expect(second).toMatchObject({ kept: 2, removed: 2 })
      const names = readdirSync(folder).sort()
      expect(names).toEqual(['mine.sqlite', expect.stringMatching(NAME), expect.stringMatching(NAME)])
      expect(join(folder, names[2] ?? '')).toBe(second.file)
      const verified = await run(['verify', second.file])
      expect(verified).toMatchObject({ exitCode: 0 })
      expect(verified.stderr).toMatch(/^\S+ is sound: \d+ checks found nothing wrong\.\n$/)
      const acts = await operator.json<{ command: string; after: Copied }[]>('audit', 'list')
      expect(acts.filter(({ command }) => command === 'backup').map(({ after }) => after)).toEqual([second, first])
    }))

  operatorTest(
    'is refused while the folder is away, and the metrics count that until one succeeds',
    async (operator) => {
      await operator.json('client', 'add', 'acme')
      const [folder, elsewhere] = [folderOf(operator), join(operator.folder, 'elsewhere')]
      renameSync(folder, elsewhere)
      const port = String(await freePort())
      const server = await operator.serve('--metrics-port', port)
      const failed = async (): Promise<number> => {
        const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
        return Number(/^scrip_backups_failed (\d+)$/m.exec(page)?.[1])
      }
      expect(await operator.run(['backup', folder, '--keep', '1'])).toMatchObject({ exitCode: 4 })
      expect(await failed()).toBe(1)
      renameSync(elsewhere, folder)
      expect(await operator.json<Copied>('backup', folder, '--keep', '1')).toMatchObject({ kept: 1, removed: 0 })
      expect(await failed()).toBe(0)
      await server.stop()
      const acts = await operator.json<{ command: string; after: object }[]>('audit', 'list', '--status', 'refused')
      expect(acts.at(-1)).toMatchObject({
        command: 'backup',
        after: { reason: expect.stringContaining('not a folder') },
      })
    },
  )

  test('keeps a copy of data that is not sound under another name, and removes no earlier one', () =>
    asOperator(async (operator) => {
      await operator.stocked()
      const folder = folderOf(operator)
      const { file } = await operator.json<Copied>('backup', folder)
      const database = new Database(join(operator.dataDir, 'scrip.sqlite'))
      database.run('UPDATE wallets SET amount_minor = amount_minor + 1')
      database.close()
      for (let count = 0; count < 2; count++) {
        const { exitCode, stdout, stderr } = await operator.run(['backup', folder, '--keep', '1', '--json'])
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
        expect(stderr).toContain('wallet 1 holds 100001, its lines sum to 100000')
        expect(stderr).toContain('.sqlite.unsound')
      }
      const names = readdirSync(folder)
      expect(names).toHaveLength(2)
      expect(names.map((name) => join(folder, name))).toContain(file)
      const acts = await operator.json<{ command: string }[]>('audit', 'list', '--status', 'refused')
      expect(acts.map(({ command }) => command)).toEqual(['backup', 'backup'])
    }))

  operatorTest('is not made: a mount without its disk would fill the disk of the machine', async (operator) => {
    await operator.json('client', 'add', 'acme')
    const missing = join(operator.folder, 'mount')
    for (const args of [[missing, '--keep', '2'], [join(missing, 'backup.sqlite')]]) {
      const { exitCode, stderr } = await operator.run(['backup', ...args])
      expect({ args, exitCode, stderr }).toEqual({
        args,
        exitCode: 4,
        stderr: `scrip: ${missing} is not a folder\nMake it, or mount its disk, first.\n`,
      })
    }
    expect(readdirSync(operator.folder)).toEqual(['data'])
  })
})
