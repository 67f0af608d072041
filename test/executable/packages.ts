import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tarGz } from '../../release/archives.ts'
import { type Package, packageFile } from '../../release/packages.ts'
import { runsHere, TARGETS } from '../../release/targets.ts'
import { BINARY, type Ended } from '../program.ts'

/** The npm packages in files, for projects that install them. */

const responses = (command: string, ...args: string[]): string =>
  Bun.which(command)
    ? Bun.spawnSync([command, ...args])
        .stdout.toString()
        .trim()
    : ''
export const hasNode =
  responses('node', '-p', '!process.versions.bun && parseInt(process.versions.node) >= 20') === 'true' &&
  /^\d+\./.test(responses('npm', '--version'))
export const target = TARGETS.find((candidate) => candidate.npm && runsHere(candidate))

/** Bun names its parallel test workers as Jest does, and Playwright refuses to run inside Jest. */
export const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:SCRIP_|npm_|NODE_|BUN_|JEST_)/i.test(name)),
)

export const run = async (command: string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> => {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...environment, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [exitCode, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  return { exitCode, stdout, stderr }
}

/** @throws Error with the output of a command that fails */
export const done = async (command: string[], cwd: string, env: Record<string, string> = {}): Promise<string> => {
  const { exitCode, stdout, stderr } = await run(command, cwd, env)
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${exitCode}: ${stdout}${stderr}`)
  return stdout
}

/** A stand-in for the executable, of a few bytes instead of a hundred million. */
export const EXECUTABLE = Buffer.from(`#!/bin/sh\nexec '${BINARY}' "$@"\n`)

/** Writes the file of a package, as a release does, and returns its path. */
export const packIn = async (folder: string, packed: Package): Promise<string> => {
  const file = join(folder, packageFile(packed))
  writeFileSync(file, await tarGz('package', packed.files))
  return file
}
