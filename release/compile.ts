import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Compiles as the script `build` of package.json does, for any target. */

export const ROOT = join(import.meta.dir, '..')

export interface Project {
  name: string
  version: string
  description: string
  license: string
  scripts: { build: string }
  dependencies: Record<string, string>
}

export const PROJECT = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Project

const buildFlags = (): string[] => {
  const flags = /\bbun build src\/main\.ts (--compile .*) --outfile \S+$/.exec(PROJECT.scripts.build)?.[1]
  if (flags === undefined)
    throw new Error('the script build of package.json is not: bun build src/main.ts ... --outfile')
  return flags.split(' ')
}

/** From the bundler. */
export interface Metafile {
  outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>
}

export interface Compilation {
  entry: string
  target: string
  runtime: string
  outfile: string
}

/** @throws Error when the program cannot be compiled */
export const compile = async ({ entry, target, runtime, outfile }: Compilation): Promise<Metafile> => {
  const metafile = `${outfile}.json`
  const command = [
    'build',
    entry,
    ...buildFlags(),
    `--target=${target}`,
    `--compile-executable-path=${runtime}`,
    `--metafile=${metafile}`,
  ]
  const child = Bun.spawn([process.execPath, ...command, '--outfile', outfile], {
    cwd: ROOT,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [exitCode, stderr] = await Promise.all([child.exited, child.stderr.text(), child.stdout.text()])
  if (exitCode !== 0) throw new Error(`cannot be compiled for ${target}: ${stderr.trim()}`)
  const meta = JSON.parse(readFileSync(metafile, 'utf8')) as Metafile
  rmSync(metafile)
  return meta
}
