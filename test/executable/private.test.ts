import { describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { commandLine } from '../../src/commands/command-line.ts'
import { EXIT } from '../../src/kernel/exit.ts'
import { start } from '../program.ts'
import { asOperator, Operator, operatorTest, stockedTest } from './live.ts'

/** Live data stays private on a machine with other users (contract C17). */

const leavesOf = (command: Command, path: string[] = []): { command: Command; path: string[] }[] => {
  const here = [...path, command.name()]
  return command.commands.length === 0
    ? [{ command, path: here }]
    : command.commands.flatMap((below) => leavesOf(below, here))
}

/** Flags without which a command does not begin. */
const REQUIRED: Record<string, string[]> = { statement: ['--month', '2026-11'], ledger: ['--format', 'hledger'] }

describe('variables that change the runtime', () => {
  test('are refused by every command of live mode, before it does anything', async () => {
    const program = await commandLine({})
    const leaves = program.commands
      .filter((command) => command.helpGroup() === 'Run live mode:')
      .flatMap((command) => leavesOf(command))
    expect(leaves.length).toBeGreaterThan(40)
    process.env.BUN_INSPECT_CONNECT_TO = 'x'
    try {
      for (const { command, path } of leaves) {
        let isDone = false
        Object.assign(command, { registeredArguments: [] })
        command.action(() => {
          isDone = true
        })
        const parsing = program.parseAsync([...path, ...(REQUIRED[path.join(' ')] ?? [])], { from: 'user' })
        expect([path, await parsing.catch((error: unknown) => error)]).toEqual([
          path,
          expect.objectContaining({ exitCode: EXIT.usage }),
        ])
        expect({ path, isDone }).toEqual({ path, isDone: false })
      }
    } finally {
      delete process.env.BUN_INSPECT_CONNECT_TO
    }
  })

  operatorTest('are refused by serve in live mode with exit 2, and not in the sandbox', async (operator) => {
    for (const [name, value] of [
      ['BUN_OPTIONS', '--smol'],
      ['NODE_TLS_REJECT_UNAUTHORIZED', '0'],
    ] as const) {
      const env = { [name]: value, SCRIP_PORT: '0' }
      const live = await operator.run(['serve', '--mode', 'live'], { env })
      expect(live).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(name) })
      expect(existsSync(operator.dataDir)).toBe(false)
      expect(await operator.run(['client', 'add', 'acme'], { env })).toMatchObject({ exitCode: 2, stdout: '' })
      expect(existsSync(operator.dataDir)).toBe(false)
      await (await start([], { env })).stop()
    }
  })
})

describe('files that others can read are refused with exit 4', () => {
  test.each(['scrip.sqlite', 'voucher.key', 'scrip.sqlite.before-2026-01-01T00-00-00.000Z'])(
    '%s, by a server and by commands, until they are private again',
    (name) =>
      asOperator(async (operator) => {
        await operator.stocked()
        const path = join(operator.dataDir, name)
        if (!existsSync(path)) writeFileSync(path, 'x')
        chmodSync(path, 0o640)
        for (const args of [['serve', '--mode', 'live', '--port', '0'], ['client', 'list'], ['verify']]) {
          const { exitCode, stdout, stderr } = await operator.run(args)
          expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 4, stdout: '' })
          expect(stderr).toContain(
            `${path} can be read or changed by other users of the machine\nRun chmod 600 ${path}.`,
          )
        }
        chmodSync(path, 0o600)
        expect(await operator.run(['client', 'list'])).toMatchObject({ exitCode: 0 })
      }),
  )

  operatorTest('all of them, in a folder that everybody may write', async (operator) => {
    mkdirSync(operator.dataDir)
    chmodSync(operator.dataDir, 0o777)
    const isRefused = async (...args: string[]): Promise<void> => {
      const { exitCode, stdout, stderr } = await operator.run(args)
      expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 4, stdout: '' })
      expect(stderr).toEndWith(
        `: any user of this machine can replace files in this folder\nRun chmod o-w ${operator.dataDir}.\n`,
      )
    }
    await isRefused('client', 'add', 'acme')
    expect(readdirSync(operator.dataDir)).toEqual([])
    await operator.stocked()
    for (const mode of [0o703, 0o1777]) {
      chmodSync(operator.dataDir, mode)
      await isRefused('serve', '--mode', 'live', '--port', '0')
      await isRefused('client', 'list')
      await isRefused('verify')
    }
    chmodSync(operator.dataDir, 0o755)
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
  })

  stockedTest('the file of a secret', async (operator) => {
    const file = operator.file('key', 'a1'.repeat(32))
    chmodSync(file, 0o604)
    const env = { SCRIP_VOUCHER_KEY_FILE: file, SCRIP_PORT: '0' }
    for (const args of [
      ['serve', '--mode', 'live'],
      ['orders', 'list'],
    ]) {
      const { exitCode, stdout, stderr } = await operator.run(args, { env })
      expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 4, stdout: '' })
      expect(stderr).toContain(`SCRIP_VOUCHER_KEY_FILE: ${file} can be read`)
    }
  })

  operatorTest('but not in a sandbox, whose folder may come from a repository', async (operator) => {
    await (await start(['--data-dir', operator.dataDir])).stop()
    const path = join(operator.dataDir, 'scrip.sqlite')
    chmodSync(path, 0o644)
    await (await start(['--data-dir', operator.dataDir])).stop()
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
    expect(statSync(path).mode & 0o777).toBe(0o644)
  })
})

/** A user for whom permissions apply, unlike root. */
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
const AS_NOBODY = { through: ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] }

describe.skipIf(!isRoot)('in Kubernetes', () => {
  /** The owners and modes that a kubelet gives a volume with `fsGroup`, and everything in it. */
  const openToGroup = (path: string): void => {
    const { uid, mode } = lstatSync(path)
    chownSync(path, uid, NOBODY)
    const isFolder = lstatSync(path).isDirectory()
    chmodSync(path, isFolder ? mode | 0o2770 : mode | 0o660)
    if (isFolder) for (const name of readdirSync(path)) openToGroup(join(path, name))
  }

  operatorTest(
    'a folder in a volume stays private, unless each mount opens its files to the group',
    async ({ folder }) => {
      chmodSync(folder, 0o755)
      const volume = join(folder, 'volume')
      mkdirSync(volume, { mode: 0o755 })
      openToGroup(volume)
      expect(statSync(volume)).toMatchObject({ uid: 0, gid: NOBODY })
      const operator = new Operator(folder, join(volume, 'scrip'))
      const serve = ['--mode', 'live', '--data-dir', operator.dataDir]
      for (const amount of [5, 10]) {
        await using server = await start(serve, AS_NOBODY) // OnRootMismatch: the second mount changes nothing
        if (amount === 5) {
          expect(await operator.run(['client', 'add', 'acme'], AS_NOBODY)).toMatchObject({ exitCode: 0 })
          expect(await operator.run(['wallet', 'add', 'acme', 'USD'], AS_NOBODY)).toMatchObject({ exitCode: 0 })
        }
        const funded = await operator.run(['wallet', 'fund', '1', '5', '--json'], AS_NOBODY)
        expect(JSON.parse(funded.stdout)).toMatchObject({ amount })
        await server.stop()
      }
      const modes = readdirSync(operator.dataDir).map((name) => statSync(join(operator.dataDir, name)).mode & 0o077)
      expect(new Set(modes)).toEqual(new Set([0]))

      openToGroup(volume) // Always, the default
      const refused = await operator.run(['serve', '--mode', 'live', '--port', '0'], AS_NOBODY)
      expect(refused).toMatchObject({
        exitCode: 4,
        stdout: '',
        stderr: expect.stringContaining('can be read or changed by other users of the machine\nRun chmod 600 '),
      })
      Bun.spawnSync(['chmod', '-R', 'go-rwx', operator.dataDir])
      await (await start(serve, AS_NOBODY)).stop()
    },
  )

  operatorTest('a secret that root owns may be readable by its group, and by nobody else', async (operator) => {
    chmodSync(operator.folder, 0o755)
    mkdirSync(operator.dataDir, { mode: 0o700 })
    chownSync(operator.dataDir, NOBODY, NOBODY)
    const key = operator.file('voucher.key', 'a1'.repeat(32))
    const place = { ...AS_NOBODY, env: { SCRIP_VOUCHER_KEY_FILE: key, SCRIP_PORT: '0' } }
    const serve = ['--mode', 'live', '--data-dir', operator.dataDir]
    for (const [owner, mode, isTaken] of [
      [0, 0o440, true],
      [0, 0o640, true],
      [NOBODY, 0o600, true],
      [NOBODY, 0o400, true],
      [NOBODY, 0o440, false],
      [0, 0o660, false],
      [0, 0o444, false],
    ] as const) {
      chownSync(key, owner, NOBODY)
      chmodSync(key, mode)
      if (isTaken) await (await start(serve, place)).stop()
      else {
        expect({ owner, mode, ...(await operator.run(['serve', '--mode', 'live'], place)) }).toEqual({
          owner,
          mode,
          exitCode: 4,
          stdout: '',
          stderr: `scrip: SCRIP_VOUCHER_KEY_FILE: ${key} can be read or changed by other users of the machine\nGive it to the user of the server with chmod 600, or to root with chmod 440 and a group of that user. In a container, do that to the file of the host that is mounted there.\n`,
        })
      }
    }
  })
})

test.skipIf(process.getuid?.() !== 0)(
  'files that a command of root writes to the folder of a server belong to the user of the server',
  () =>
    asOperator(async (operator) => {
      await operator.stocked()
      for (const name of ['', ...readdirSync(operator.dataDir)]) chownSync(join(operator.dataDir, name), NOBODY, NOBODY)
      chownSync(operator.folder, NOBODY, NOBODY)
      for (const name of readdirSync(operator.dataDir)) if (name.endsWith('.lock')) rmSync(join(operator.dataDir, name))
      await operator.json('wallet', 'fund', '1', '5')
      await operator.json('vouchers', 'rekey')
      const isForeign = (name: string) => statSync(join(operator.dataDir, name)).uid !== NOBODY
      expect(readdirSync(operator.dataDir).filter(isForeign)).toEqual([])
      const place = AS_NOBODY
      await (await start(['--mode', 'live', '--data-dir', operator.dataDir], place)).stop()
      expect(await operator.run(['wallet', 'fund', '1', '5'], place)).toMatchObject({ exitCode: 0 })
    }),
)
