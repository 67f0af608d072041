import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ArchivedFile, EXECUTABLE_MODE } from './archives.ts'
import { PROJECT, ROOT } from './compile.ts'
import { executableName, TARGETS, type Target } from './targets.ts'

/**
 * The npm packages: `scrip`, which tests import and `npx` runs, and for each kind of machine one with the executable, of
 * which installers take the right one.
 */

export interface Package {
  name: string
  files: ArchivedFile[]
}

const SOURCES = join(import.meta.dir, 'npm')

const { name, version, license, description } = PROJECT

const jsonFile = (path: string, value: object): ArchivedFile => ({
  path,
  bytes: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
})
const copied = (path: string, from: string): ArchivedFile => ({ path, bytes: readFileSync(from) })

/** The package `scrip`. @throws Error when it does not compile */
export const mainPackage = (): Package => ({
  name,
  files: [
    jsonFile('package.json', {
      name,
      version,
      description,
      license,
      type: 'module',
      exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
      types: './index.d.ts',
      bin: { scrip: 'bin.js' },
      engines: { node: '>=20' },
      optionalDependencies: Object.fromEntries(TARGETS.flatMap(({ npm }) => (npm ? [[npm.name, version]] : []))),
    }),
    copied('README.md', join(SOURCES, 'README.md')),
    copied('LICENSE', join(ROOT, 'LICENSE')),
    ...compiledSources(),
  ],
})

/** JavaScript and its types, without those of the command. */
const compiledSources = (): ArchivedFile[] => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-npm-'))
  try {
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { success, stdout } = Bun.spawnSync([process.execPath, compiler, '-p', SOURCES, '--outDir', folder])
    if (!success) throw new Error(`the npm package does not compile:\n${stdout}`)
    return readdirSync(folder)
      .filter((file) => file === 'index.d.ts' || file.endsWith('.js'))
      .map((file) => ({ ...copied(file, join(folder, file)), isExecutable: file === 'bin.js' }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The package that carries the executable of a target; undefined where another target's serves the same machines. */
export const platformPackage = (target: Target, executable: Uint8Array, notices: string): Package | undefined => {
  if (!target.npm) return undefined
  const { name: packageName, os, cpu, libc } = target.npm
  return {
    name: packageName,
    files: [
      jsonFile('package.json', {
        name: packageName,
        version,
        description: `The executable of ${name} for ${os} on ${cpu}`,
        license,
        os: [os],
        cpu: [cpu],
        ...(libc && { libc: [libc] }),
        preferUnplugged: true,
      }),
      { path: executableName(target), bytes: executable, isExecutable: true },
      copied('LICENSE', join(ROOT, 'LICENSE')),
      { path: 'THIRD-PARTY-NOTICES.txt', bytes: Buffer.from(notices) },
    ],
  }
}

/** What `npm pack` calls the file of a package: that of @scrip/linux-x64 begins with scrip-linux-x64-. */
export const packageFile = (packed: Package): string =>
  `${packed.name.replace('@', '').replace('/', '-')}-${version}.tgz`

/** Writes a package as the folder that `npm pack` and `npm publish` take. */
export const writePackage = (folder: string, { files }: Package): void => {
  mkdirSync(folder, { recursive: true })
  for (const { path, bytes, isExecutable } of files) {
    writeFileSync(join(folder, path), bytes)
    if (isExecutable) chmodSync(join(folder, path), EXECUTABLE_MODE)
  }
}
