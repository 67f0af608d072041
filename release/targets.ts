import { existsSync } from 'node:fs'
import { PROJECT } from './compile.ts'

export interface Target {
  name: string
  /** `@oven/` and this is the package with the runtime. */
  runtime: string
  form: Form
  runsOn: { platform: NodeJS.Platform; arch: NodeJS.Architecture; loader?: string }
  /** Left out where another target's package serves the same machines. */
  npm?: { name: string; os: string; cpu: string; libc?: string }
  note?: string
}

/** As the first bytes say. */
export type Form = 'ELF x86-64' | 'ELF aarch64' | 'Mach-O arm64' | 'Mach-O x86-64' | 'PE x86-64'

const GLIBC_X64 = '/lib64/ld-linux-x86-64.so.2'

/** The packages with executables are named after it and their platform. */
export const NPM_NAME = 'scrip-sandbox'

export const TARGETS: readonly Target[] = [
  {
    name: 'linux-x64',
    runtime: 'bun-linux-x64',
    form: 'ELF x86-64',
    runsOn: { platform: 'linux', arch: 'x64', loader: GLIBC_X64 },
  },
  {
    name: 'linux-x64-baseline',
    runtime: 'bun-linux-x64-baseline',
    form: 'ELF x86-64',
    runsOn: { platform: 'linux', arch: 'x64', loader: GLIBC_X64 },
    // npm cannot tell processors apart, so that its package has to run on each.
    npm: { name: `${NPM_NAME}-linux-x64`, os: 'linux', cpu: 'x64', libc: 'glibc' },
    note: 'for processors without AVX2',
  },
  {
    name: 'linux-x64-musl',
    runtime: 'bun-linux-x64-musl',
    form: 'ELF x86-64',
    runsOn: { platform: 'linux', arch: 'x64', loader: '/lib/ld-musl-x86_64.so.1' },
    npm: { name: `${NPM_NAME}-linux-x64-musl`, os: 'linux', cpu: 'x64', libc: 'musl' },
    note: 'for Alpine, with its package `libstdc++`',
  },
  {
    name: 'linux-arm64',
    runtime: 'bun-linux-aarch64',
    form: 'ELF aarch64',
    runsOn: { platform: 'linux', arch: 'arm64' },
    npm: { name: `${NPM_NAME}-linux-arm64`, os: 'linux', cpu: 'arm64', libc: 'glibc' },
  },
  {
    name: 'darwin-arm64',
    runtime: 'bun-darwin-aarch64',
    form: 'Mach-O arm64',
    runsOn: { platform: 'darwin', arch: 'arm64' },
    npm: { name: `${NPM_NAME}-darwin-arm64`, os: 'darwin', cpu: 'arm64' },
  },
  {
    name: 'darwin-x64',
    runtime: 'bun-darwin-x64',
    form: 'Mach-O x86-64',
    runsOn: { platform: 'darwin', arch: 'x64' },
    npm: { name: `${NPM_NAME}-darwin-x64`, os: 'darwin', cpu: 'x64' },
    // The compiler renews the signature of the runtime for arm64 alone.
    note: 'to be signed again on macOS: `codesign --force --sign - scrip`',
  },
  {
    name: 'windows-x64',
    runtime: 'bun-windows-x64',
    form: 'PE x86-64',
    runsOn: { platform: 'win32', arch: 'x64' },
    npm: { name: `${NPM_NAME}-windows-x64`, os: 'win32', cpu: 'x64' },
  },
]

/** The chosen targets, and for each without an npm package the one whose package serves the same machines. */
export const withPackages = (chosen: readonly Target[]): readonly Target[] =>
  TARGETS.filter((target) => chosen.some((each) => each === target || (!each.npm && servesNpm(target, each))))

const servesNpm = ({ npm, runsOn }: Target, other: Target): boolean =>
  npm !== undefined && Bun.deepEquals(runsOn, other.runsOn)

/** Whether it runs on this machine. */
export const runsHere = ({ runsOn: { platform, arch, loader } }: Target): boolean =>
  process.platform === platform && process.arch === arch && (loader === undefined || existsSync(loader))

export const isWindows = ({ name }: Pick<Target, 'name'>): boolean => name.startsWith('windows')

export const executableName = (target: Pick<Target, 'name'>): string => (isWindows(target) ? 'scrip.exe' : 'scrip')

export const archiveName = (target: Pick<Target, 'name'>): string =>
  `${PROJECT.name}-${PROJECT.version}-${target.name}.${isWindows(target) ? 'zip' : 'tar.gz'}`

const ELF_MAGIC = 0x7f454c46
const ELF_MACHINES: Record<number, Form> = { 62: 'ELF x86-64', 183: 'ELF aarch64' }
const MACH_O_64_MAGIC = 0xfeedfacf
const MACH_O_PROCESSORS: Record<number, Form> = { 16777228: 'Mach-O arm64', 16777223: 'Mach-O x86-64' }
const DOS_MAGIC = 0x4d5a
const PE_OFFSET_AT = 0x3c
const PE_MAGIC = 0x50450000
const PE_MACHINES: Record<number, Form> = { 34404: 'PE x86-64' }

/** By the magic number and the field that names the processor. */
export const formOf = (executable: Uint8Array): Form | undefined => {
  const view = new DataView(executable.buffer, executable.byteOffset, executable.byteLength)
  if (view.byteLength <= PE_OFFSET_AT + 4) return undefined
  if (view.getUint32(0) === ELF_MAGIC) return ELF_MACHINES[view.getUint16(0x12, true)]
  if (view.getUint32(0, true) === MACH_O_64_MAGIC) return MACH_O_PROCESSORS[view.getUint32(4, true)]
  if (view.getUint16(0) !== DOS_MAGIC) return undefined
  const pe = view.getUint32(PE_OFFSET_AT, true)
  if (pe + 6 > view.byteLength || view.getUint32(pe) !== PE_MAGIC) return undefined
  return PE_MACHINES[view.getUint16(pe + 4, true)]
}
