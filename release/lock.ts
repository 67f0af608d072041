import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpackTar } from 'modern-tar'
import { EXECUTABLE_MODE } from './archives.ts'
import { ROOT } from './compile.ts'
import type { Target } from './targets.ts'

export interface LockedPackage {
  resolved: string
  needs: string[]
  /** The digest of the published package. */
  sha512: Buffer
}

interface Dependencies {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  optionalPeers?: string[]
}

interface Lock {
  packages: Record<string, [string, ...unknown[]]>
}

const lock = Bun.JSONC.parse(readFileSync(join(ROOT, 'bun.lock'), 'utf8')) as Lock

/** The path is without node_modules. @throws Error when bun.lock does not have the package */
export const locked = (path: string): LockedPackage => {
  const [resolved, ...rest] = lock.packages[path] ?? []
  if (resolved === undefined) throw new Error(`bun.lock has no ${path}`)
  const { dependencies, optionalDependencies, peerDependencies, optionalPeers = [] } = rest[1] as Dependencies
  const integrity = /^sha512-(.+)$/.exec(String(rest.at(-1)))?.[1]
  if (integrity === undefined) throw new Error(`bun.lock has no SHA-512 for ${resolved}`)
  return {
    resolved,
    // An optional peer does not need the package: it is installed for another reason.
    needs: Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
      .filter((name) => !optionalPeers.includes(name))
      .sort(),
    sha512: Buffer.from(integrity, 'base64'),
  }
}

/** The runtime comes from its published package, never from an installation or a cache, which may have changed. */

/** Returns its path. @throws Error when it is not the locked one */
export const fetchRuntime = async ({ runtime }: Target, folder: string): Promise<string> => {
  mkdirSync(folder, { recursive: true })
  const pinned = locked(`@oven/${runtime}`)
  const packed = Bun.spawnSync(['npm', 'pack', pinned.resolved, '--json', '--pack-destination', folder])
  if (!packed.success) throw new Error(`cannot fetch ${pinned.resolved}: ${packed.stderr.toString().trim()}`)
  const file = join(folder, `${pinned.resolved.replace('@', '').replace(/[/@]/g, '-')}.tgz`)
  const path = join(folder, runtime)
  writeFileSync(path, await executableIn(readFileSync(file), pinned))
  chmodSync(path, EXECUTABLE_MODE)
  return path
}

const executableIn = async (tarball: Buffer, { resolved, sha512 }: LockedPackage): Promise<Uint8Array> => {
  if (!createHash('sha512').update(tarball).digest().equals(sha512)) {
    throw new Error(`${resolved} is not the package that bun.lock names: its SHA-512 is another`)
  }
  const entries = await unpackTar(Bun.gunzipSync(new Uint8Array(tarball)))
  const executable = entries.find(({ header }) => /^package\/bin\/bun(?:\.exe)?$/.test(header.name))?.data
  if (!executable) throw new Error(`${resolved} holds no bin/bun`)
  return executable
}
