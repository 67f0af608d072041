import { existsSync } from 'node:fs'
import { PROJECT } from './compile.ts'

export interface Target {
  name: string
  /** `@oven/` and this is the package with the runtime. */
  runtime: string
  runsOn: { platform: NodeJS.Platform; arch: NodeJS.Architecture; loader?: string }
  /** Undefined if the package of another target serves the same machines. */
  npm?: { name: string; os: string; cpu: string; libc?: string }
  note?: string
}

const GLIBC_X64 = '/lib64/ld-linux-x86-64.so.2'

/** The packages with executables are named after it and their platform. */
export const NPM_NAME = 'scrip-sandbox'

export const TARGETS: readonly Target[] = [
  {
    name: 'linux-x64',
    runtime: 'bun-linux-x64',
    runsOn: { platform: 'linux', arch: 'x64', loader: GLIBC_X64 },
  },
  {
    name: 'linux-x64-baseline',
    runtime: 'bun-linux-x64-baseline',
    runsOn: { platform: 'linux', arch: 'x64', loader: GLIBC_X64 },
    // npm cannot distinguish processors, so its package has to run on all of them.
    npm: { name: `${NPM_NAME}-linux-x64`, os: 'linux', cpu: 'x64', libc: 'glibc' },
    note: 'for processors without AVX2',
  },
  {
    name: 'linux-x64-musl',
    runtime: 'bun-linux-x64-musl',
    runsOn: { platform: 'linux', arch: 'x64', loader: '/lib/ld-musl-x86_64.so.1' },
    npm: { name: `${NPM_NAME}-linux-x64-musl`, os: 'linux', cpu: 'x64', libc: 'musl' },
    note: 'for Alpine, with its package `libstdc++`',
  },
  {
    name: 'linux-arm64',
    runtime: 'bun-linux-aarch64',
    runsOn: { platform: 'linux', arch: 'arm64' },
    npm: { name: `${NPM_NAME}-linux-arm64`, os: 'linux', cpu: 'arm64', libc: 'glibc' },
  },
  {
    name: 'darwin-arm64',
    runtime: 'bun-darwin-aarch64',
    runsOn: { platform: 'darwin', arch: 'arm64' },
    npm: { name: `${NPM_NAME}-darwin-arm64`, os: 'darwin', cpu: 'arm64' },
  },
  {
    name: 'darwin-x64',
    runtime: 'bun-darwin-x64',
    runsOn: { platform: 'darwin', arch: 'x64' },
    npm: { name: `${NPM_NAME}-darwin-x64`, os: 'darwin', cpu: 'x64' },
    // The compiler renews the signature of the runtime for arm64 alone.
    note: 'to be signed again on macOS: `codesign --force --sign - scrip`',
  },
  {
    name: 'windows-x64',
    runtime: 'bun-windows-x64',
    runsOn: { platform: 'win32', arch: 'x64' },
    npm: { name: `${NPM_NAME}-windows-x64`, os: 'win32', cpu: 'x64' },
  },
]

export const runsHere = ({ runsOn: { platform, arch, loader } }: Target): boolean =>
  process.platform === platform && process.arch === arch && (loader === undefined || existsSync(loader))

export const isWindows = ({ name }: Pick<Target, 'name'>): boolean => name.startsWith('windows')

export const executableName = (target: Pick<Target, 'name'>): string => (isWindows(target) ? 'scrip.exe' : 'scrip')

export const archiveName = (target: Pick<Target, 'name'>): string =>
  `${PROJECT.name}-${PROJECT.version}-${target.name}.${isWindows(target) ? 'zip' : 'tar.gz'}`
