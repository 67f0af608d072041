import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderTest, inFolder, isBinary, start } from '../program.ts'

/** The ready line, and the files that the program leaves behind (contract C1). */

const READY = /^ready url=http:\/\/127\.0\.0\.1:(\d+) mode=sandbox version=\d+\.\d+\.\d+ pid=(\d+) startup_ms=\d+$/

test('prints only one line to standard output, when it is ready', async () => {
  const program = await start()
  expect(program.ready).toMatch(READY)
  expect((await program.request('/status')).status).toBe(200)
  expect((await program.request('/readyz')).status).toBe(200)
  expect((await program.request('/livez')).status).toBe(200)
  const { exitCode, stdout } = await program.stop()
  expect(exitCode).toBe(0)
  expect(stdout).toBe(`${program.ready}\n`)
  expect(READY.exec(program.ready)?.[2]).toBe(String(program.pid))
})

test('logs nothing below the log level, and no colours without a terminal', async () => {
  expect((await (await start(['--log-level', 'error'])).stop()).stderr).toBe('')
  expect((await (await start()).stop()).stderr).toBe('')
  const { stderr } = await (await start(['--log-level', 'info'])).stop()
  expect(stderr).toContain('listening')
  expect(stderr).not.toContain('\x1b')
})

folderTest('--ready-file gets only the complete address', async (folder) => {
  const file = join(folder, 'ready')
  writeFileSync(file, 'of an earlier run')
  await using program = await start(['--ready-file', file])
  expect(readFileSync(file, 'utf8')).toBe(`${program.url}\n`)
  expect(readdirSync(folder)).toEqual(['ready'])
})

folderTest('exits if the ready file cannot be written', async (folder) => {
  const file = join(folder, 'missing', 'ready')
  await expect(start(['--ready-file', file])).rejects.toThrow(/ended with 1 before it was ready: .*missing/s)
})

folderTest('leaves no files in an empty folder', async (folder) => {
  const program = await start([], { cwd: folder })
  await program.request('/status')
  await program.stop()
  expect(readdirSync(folder)).toEqual([])
})

test.if(isBinary)('ignores .env and bunfig.toml in its working directory', () =>
  inFolder(async (folder) => {
    for (const name of ['.env', '.env.local', '.env.production', '.env.development']) {
      writeFileSync(join(folder, name), 'SCRIP_MODE=nonsense\nSCRIP_NO_SUCH=1\n')
    }
    writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./preload.ts"]\n')
    writeFileSync(
      join(folder, 'preload.ts'),
      `await Bun.write(${JSON.stringify(join(folder, 'preloaded'))}, 'yes')\nthrow new Error('preloaded')\n`,
    )
    const program = await start([], { cwd: folder })
    expect(await program.stop()).toMatchObject({ exitCode: 0 })
    expect(existsSync(join(folder, 'preloaded'))).toBe(false)
  }),
)
