import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { COMMAND, run, start } from '../program.ts'
import { asOperator, Operator, operatorTest } from './live.ts'

/** The files that restore accepts and refuses, and the folder after it is killed (contract C1). */

const databaseOf = ({ dataDir }: Operator): string => join(dataDir, 'scrip.sqlite')

const change = (file: string, ...statements: string[]): void => {
  const database = new Database(file)
  for (const statement of statements) database.run(statement)
  database.close()
}

const schemaSql = (file: string, type: string, name: string): string => {
  const database = new Database(file)
  const row = database
    .query<{ sql: string }, [string, string]>('SELECT sql FROM sqlite_schema WHERE type = ? AND name = ?')
    .get(type, name)
  database.close()
  return row?.sql ?? ''
}

/** Works on a folder with one client whose wallet holds 1,005, and on a backup from when it held 1,000. */
const withBackup = (work: (operator: Operator, backup: string) => Promise<void>): Promise<void> =>
  asOperator(async (operator) => {
    const backup = await operator.backedUp()
    await operator.json('wallet', 'fund', '1', '5')
    await work(operator, backup)
  })

const amountIn = async (operator: Operator): Promise<number | undefined> =>
  (await operator.json<{ amount: number }[]>('wallet', 'list'))[0]?.amount

/** The files of a folder except the lock, with their contents. */
const contentsOf = (folder: string): [string, string][] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'server.lock')
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
    .map((path) => [path, Bun.hash(readFileSync(path)).toString()])

describe('a file that is not an intact backup of Scrip', () => {
  /** Each is made from a good backup, and named in the messages of restore and verify. */
  const FILES: [what: string, spoil: (file: string) => void, fault: string][] = [
    ['an empty file', (file) => truncateSync(file, 0), 'is empty'],
    ['a truncated file', (file) => truncateSync(file, 60_000), 'has 60000 bytes, and '],
    ['an endless tail', (file) => truncateSync(file, 5e9), 'has 5000000000 bytes, and '],
    ['a text', (file) => writeFileSync(file, 'x'.repeat(8_192)), 'is not a Scrip database'],
    [
      'a foreign database',
      (file) => {
        truncateSync(file, 0)
        change(file, 'CREATE TABLE t (x)')
      },
      'this is not a Scrip database',
    ],
    [
      'a planted trigger',
      (file) =>
        change(
          file,
          `CREATE TRIGGER later AFTER INSERT ON logins BEGIN UPDATE wallets SET credit_limit_minor = 100; END`,
        ),
      'the trigger "later" does not belong to Scrip',
    ],
    [
      'a planted view',
      (file) => change(file, 'CREATE VIEW "a\u202eb" AS SELECT 1'),
      'the view "a?b" does not belong to Scrip',
    ],
    [
      'a planted index',
      (file) => change(file, 'CREATE INDEX i ON wallets (id)'),
      'the index "i" does not belong to Scrip',
    ],
    ['a planted table', (file) => change(file, 'CREATE TABLE t (x)'), 'the table "t" does not belong to Scrip'],
    [
      'a missing trigger',
      (file) => change(file, 'DROP TRIGGER journal_lines_fixed'),
      'the trigger "journal_lines_fixed" is missing',
    ],
    [
      'a modified trigger',
      (file) => {
        const sql = schemaSql(file, 'trigger', 'transactions_balance')
        change(file, 'DROP TRIGGER transactions_balance', sql.replace('NEW.balance', '2 * NEW.balance'))
      },
      'the trigger "transactions_balance" is not as Scrip creates it',
    ],
    ['no migration', (file) => change(file, 'DELETE FROM migrations'), 'this is not a Scrip database'],
  ]

  test('is refused by restore with exit code 4 and its name, and changes nothing but the audit', () =>
    withBackup(async (operator, backup) => {
      const others = () => contentsOf(operator.dataDir).filter(([path]) => path !== databaseOf(operator))
      const before = others()
      const other = new Operator(operator.folder, join(operator.folder, 'not', 'there'))
      for (const [what, spoil, fault] of FILES) {
        const file = join(operator.folder, 'spoilt.sqlite')
        copyFileSync(backup, file)
        spoil(file)
        for (const place of [operator, other]) {
          const { exitCode, stdout, stderr } = await place.run(['restore', file, '--force'])
          expect({ what, exitCode, stdout }).toEqual({ what, exitCode: 4, stdout: '' })
          expect(stderr).toStartWith(`scrip: ${file}`)
          expect(stderr).toContain(fault)
        }
        const verified = await run(['verify', file])
        expect({ what, isRefused: [1, 4].includes(verified.exitCode) }).toEqual({ what, isRefused: true })
        expect(verified.stdout + verified.stderr).toContain(fault)
      }
      expect(others()).toEqual(before)
      expect(await amountIn(operator)).toBe(1005)
      const refused = await operator.json<object[]>('audit', 'list', '--status', 'refused')
      expect(refused).toHaveLength(FILES.length)
      expect(refused[0]).toMatchObject({ command: 'restore', subject: join(operator.folder, 'spoilt.sqlite') })
      expect(existsSync(join(operator.folder, 'not'))).toBe(false)
      expect(readdirSync(operator.folder).sort()).toEqual(expect.not.arrayContaining([expect.stringMatching('draft')]))
    }))

  test('is also refused if verify finds a fault in it', () =>
    withBackup(async (operator, backup) => {
      for (const [statement, fault] of [
        ['UPDATE wallets SET amount_minor = amount_minor + 1', 'wallet 1 holds 100001, its lines sum to 100000'],
        ["INSERT INTO sqlite_sequence VALUES ('webhook_queue', 9999999999)", 'the ids of webhook_queue have reached'],
      ] as const) {
        const file = join(operator.folder, 'faulty.sqlite')
        copyFileSync(backup, file)
        change(file, statement)
        const refused = await operator.run(['restore', file, '--force'])
        expect(refused).toMatchObject({ exitCode: 4, stderr: expect.stringContaining(fault) })
      }
      expect(await amountIn(operator)).toBe(1005)
    }))

  test('is also refused if it is a folder, missing, or the database itself', () =>
    withBackup(async (operator) => {
      const link = join(operator.folder, 'link.sqlite')
      symlinkSync(databaseOf(operator), link)
      for (const [file, fault] of [
        [operator.folder, 'is not a file\nGive a file written by scrip backup'],
        ['/no/such/file', 'does not exist\nCheck its name and its folder'],
        [databaseOf(operator), 'is the database of this folder itself\nGive a file written by scrip backup'],
        [link, 'is the database of this folder itself\nGive a file written by scrip backup'],
      ] as const) {
        const { exitCode, stderr } = await operator.run(['restore', file, '--force'])
        expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: `scrip: ${file} ${fault}.\n` })
      }
      expect(await amountIn(operator)).toBe(1005)
    }))

  test('is unchanged after verify, with a log of SQLite beside it', () =>
    withBackup(async (operator, backup) => {
      const log = `${backup}-wal`
      const evidence = () => [backup, log].map((path) => Bun.hash(readFileSync(path)))
      using writer = new Database(backup)
      writer.run('PRAGMA journal_mode = WAL')
      writer.run('UPDATE wallets SET amount_minor = amount_minor + 1')
      copyFileSync(log, `${log}.copy`)
      writer.close()
      renameSync(`${log}.copy`, log)
      const before = evidence()
      expect(await operator.run(['verify', backup])).toMatchObject({ exitCode: 1 })
      expect(evidence()).toEqual(before)
      expect(existsSync(`${backup}-shm`)).toBe(false)
      using other = new Database(backup)
      other.query('SELECT count(*) FROM wallets').get()
      expect(await operator.run(['verify', backup])).toMatchObject({ exitCode: 1 })
      expect(existsSync(`${backup}-shm`)).toBe(true)
    }))

  test('of a sandbox is refused for a folder of live mode', () =>
    withBackup(async (operator) => {
      const sandbox = new Operator(operator.folder, join(operator.folder, 'sandbox'))
      await (await start(['--data-dir', sandbox.dataDir])).stop()
      const backup = join(operator.folder, 'sandbox.sqlite')
      await sandbox.json('backup', backup)
      const { exitCode, stderr } = await operator.run(['restore', backup, '--force'])
      expect(exitCode).toBe(4)
      expect(stderr).toBe(
        `scrip: ${backup}: the backup belongs to --mode sandbox, and ${operator.dataDir} to --mode live\nUse another folder.\n`,
      )
      await sandbox.json('restore', backup, '--force')
    }))
})

describe('restore', () => {
  test('keeps the replaced database, so that it can be restored', () =>
    withBackup(async (operator, backup) => {
      const { replaced } = await operator.json<{ replaced: string }>('restore', backup, '--force')
      expect(replaced).toMatch(/\/scrip\.sqlite\.before-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/)
      expect(await amountIn(operator)).toBe(1000)
      await operator.json('restore', replaced, '--force')
      expect(await amountIn(operator)).toBe(1005)
      const kept = readdirSync(operator.dataDir).filter((name) => name.startsWith('scrip.sqlite.'))
      expect(kept.filter((name) => !name.startsWith('scrip.sqlite.before-'))).toEqual([])
      expect(kept).toHaveLength(2)
    }))

  test('replaces a damaged database and keeps it with its log', () =>
    withBackup(async (operator, backup) => {
      writeFileSync(databaseOf(operator), 'x'.repeat(8_192))
      writeFileSync(`${databaseOf(operator)}-wal`, 'log')
      const { replaced } = await operator.json<{ replaced: string }>('restore', backup, '--force')
      expect(readFileSync(replaced, 'utf8')).toStartWith('xxx')
      expect(readFileSync(`${replaced}-wal`, 'utf8')).toBe('log')
      expect(await amountIn(operator)).toBe(1000)
    }))

  test('includes the write-ahead log of a manual copy', () =>
    withBackup(async (operator) => {
      const server = await operator.serve()
      await operator.json('wallet', 'fund', '1', '7')
      const copy = join(operator.folder, 'copy.sqlite')
      const files = ['', '-wal'].map((suffix) => copy + suffix)
      for (const suffix of ['', '-wal']) copyFileSync(databaseOf(operator) + suffix, copy + suffix)
      await server.stop()
      const before = files.map((file) => readFileSync(file))
      await operator.json('verify', copy)
      expect(files.map((file) => readFileSync(file))).toEqual(before)
      await operator.json('restore', copy, '--force')
      expect(await amountIn(operator)).toBe(1012)
    }))

  test('is refused while a program has the database open', () =>
    withBackup(async (operator, backup) => {
      const foreign = new Database(databaseOf(operator))
      foreign.query('SELECT count(*) FROM wallets').get()
      const { exitCode, stderr } = await operator.run(['restore', backup, '--force'])
      expect({ exitCode, stderr }).toEqual({
        exitCode: 4,
        stderr: `scrip: ${operator.dataDir}: another program has the database open\nStop it first.\n`,
      })
      foreign.close()
      expect(await amountIn(operator)).toBe(1005)
    }))

  test('killed after the hard link leaves the old or the new database, intact', () =>
    withBackup(async (operator, backup) => {
      const child = Bun.spawn([...COMMAND, 'restore', backup, '--force', '--data-dir', operator.dataDir])
      while (!readdirSync(operator.dataDir).some((name) => name.includes('.before-'))) await Bun.sleep(0)
      child.kill('SIGKILL')
      await child.exited
      expect([1000, 1005]).toContain((await amountIn(operator)) ?? 0)
      expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
    }))
})

/** The calls to the file system, as strace names them; the tests need it. */
const callsOf = (args: string[], folder: string): string[] => {
  const log = join(folder, 'calls')
  const calls = 'trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat'
  const traced = Bun.spawnSync(['strace', '-f', '-y', '-e', calls, '-o', log, ...COMMAND, ...args])
  expect(traced.exitCode).toBe(0)
  return readFileSync(log, 'utf8').split('\n')
}

describe.skipIf(Bun.which('strace') === null)('completed work is on disk', () => {
  test('a backup: the file, its name, then the folder', () =>
    withBackup(async (operator) => {
      const file = join(operator.folder, 'second.sqlite')
      const calls = callsOf(['backup', file, '--data-dir', operator.dataDir], operator.folder)
      const synced = calls.findLastIndex((call) => /fsync\(\d+<[^>]*draft[^>]*scrip\.sqlite>/.test(call))
      const named = calls.findLastIndex((call) => call.includes('link') && call.includes('second.sqlite'))
      const folder = calls.findLastIndex((call) => call.includes(`fsync(`) && call.includes(`<${operator.folder}>`))
      expect([synced >= 0, named > synced, folder > named]).toEqual([true, true, true])
    }))

  test('a restore: the new file, the old one under its second name, then the new one under its own', () =>
    withBackup(async (operator, backup) => {
      const calls = callsOf(['restore', backup, '--force', '--data-dir', operator.dataDir], operator.folder)
      const isFolderSync = (call: string) => call.includes('fsync(') && call.includes(`<${operator.dataDir}>`)
      const synced = calls.findLastIndex((call) => /fsync\(\d+<[^>]*draft[^>]*scrip\.sqlite>/.test(call))
      const kept = calls.findIndex((call) => call.includes('link') && call.includes('.before-'))
      const renamed = calls.findLastIndex((call) => call.includes('rename') && call.includes('draft'))
      const between = calls.findIndex((call, index) => index > kept && isFolderSync(call))
      const after = calls.findLastIndex(isFolderSync)
      expect([synced >= 0, kept > synced, between > kept, renamed > between, after > renamed]).toEqual(
        Array.from({ length: 5 }, () => true),
      )
    }))
})

describe('a folder whose creation was interrupted', () => {
  operatorTest('with an empty database file is completed by client add and by serve', async (operator) => {
    mkdirSync(operator.dataDir)
    for (const name of ['scrip.sqlite', 'scrip.sqlite-wal', 'scrip.sqlite.new'])
      writeFileSync(join(operator.dataDir, name), '', { mode: 0o600 })
    await operator.json('client', 'add', 'acme')
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
    const other = join(operator.folder, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'scrip.sqlite'), '')
    await (await start(['--data-dir', other])).stop()
  })
})

describe('a backup that was killed', () => {
  test('leaves a staging folder that a later backup to the same folder removes', () =>
    withBackup(async (operator) => {
      const stale = join(operator.folder, '.scrip-draft-abc123')
      const young = join(operator.folder, '.scrip-draft-def456')
      for (const folder of [stale, young]) {
        mkdirSync(folder)
        writeFileSync(join(folder, 'scrip.sqlite'), 'half')
      }
      for (const path of [join(stale, 'scrip.sqlite'), stale]) utimesSync(path, 0, 0)
      await operator.json('backup', join(operator.folder, 'second.sqlite'))
      expect([existsSync(stale), existsSync(young)]).toEqual([false, true])
    }))
})
