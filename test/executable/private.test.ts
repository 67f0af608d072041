import { describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { commandLine } from '../../src/commands/command-line.ts'
import { UsageError } from '../../src/config/environment.ts'
import { start } from '../program.ts'
import { asOperator, operatorTest, stockedTest } from './live.ts'

/** Live data stays private on a machine with other users (contract C17). */

const leavesOf = (command: Command, path: string[] = []): { command: Command; path: string[] }[] => {
  const here = [...path, command.name()]
  return command.commands.length === 0
    ? [{ command, path: here }]
    : command.commands.flatMap((below) => leavesOf(below, here))
}

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
        const month = path.includes('statement') ? ['--month', '2026-11'] : []
        const parsing = program.parseAsync([...path, ...month], { from: 'user' })
        expect([path, await parsing.catch((error: unknown) => error)]).toEqual([path, expect.any(UsageError)])
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
        `: every user of the machine can replace files of this folder\nRun chmod o-w ${operator.dataDir}.\n`,
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
      const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
      const place = { through: asNobody }
      await (await start(['--mode', 'live', '--data-dir', operator.dataDir], place)).stop()
      expect(await operator.run(['wallet', 'fund', '1', '5'], place)).toMatchObject({ exitCode: 0 })
    }),
)
