import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivedFile } from './archives.ts'
import { PROJECT, ROOT } from './compile.ts'
import { compileLibrary } from './library.ts'
import { executableName, NPM_NAME, TARGETS, type Target } from './targets.ts'

/** No package depends on another: an installer would ask the registry for it (decision 18). */

export interface Package {
  name: string
  files: ArchivedFile[]
}

const SOURCES = join(import.meta.dir, 'npm')

const { version, license, description } = PROJECT

const jsonFile = (path: string, value: object): ArchivedFile => ({
  path,
  bytes: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
})
const copied = (path: string, from: string): ArchivedFile => ({ path, bytes: readFileSync(from) })

/** For `import` and `require`. @throws Error when it does not compile */
export const mainPackage = async (): Promise<Package> => ({
  name: NPM_NAME,
  files: [
    jsonFile('package.json', {
      name: NPM_NAME,
      version,
      description,
      license,
      type: 'commonjs',
      exports: {
        '.': {
          import: { types: './index.d.mts', default: './index.mjs' },
          require: { types: './index.d.ts', default: './index.js' },
        },
        './package.json': './package.json',
      },
      main: './index.js',
      types: './index.d.ts',
      bin: { scrip: 'bin.js' },
      engines: { node: '>=20' },
    }),
    copied('README.md', join(SOURCES, 'README.md')),
    copied('LICENSE', join(ROOT, 'LICENSE')),
    // One module for both: a process that imports and requires it has one class ScripError.
    { path: 'index.mjs', bytes: Buffer.from("export { connectScrip, ScripError, startScrip } from './index.js'\n") },
    { path: 'index.d.mts', bytes: Buffer.from("export * from './index.js'\n") },
    ...(await compileLibrary(SOURCES)),
  ],
})

/** Undefined if the package of another target serves the same machines. */
export const platformPackage = (target: Target, executable: Uint8Array, notices: string): Package | undefined => {
  if (!target.npm) return undefined
  const { name: packageName, os, cpu, libc } = target.npm
  return {
    name: packageName,
    files: [
      jsonFile('package.json', {
        name: packageName,
        version,
        description: `The executable of ${NPM_NAME} for ${os} on ${cpu}`,
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

/** The reason why a target has no package of its own. */
export const withoutPackage = ({ name, runsOn }: Target): string => {
  const other = TARGETS.find((one) => one.name !== name && one.npm && Bun.deepEquals(one.runsOn, runsOn))
  return `, without an npm package: that of ${other?.name} serves the same machines`
}

/** As `npm pack` names it. */
export const packageFile = (packed: Package): string => `${packed.name}-${version}.tgz`
