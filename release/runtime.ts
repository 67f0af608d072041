import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpackTar } from 'modern-tar'
import { EXECUTABLE_MODE } from './archives.ts'
import { type LockedPackage, locked } from './lock.ts'
import type { Target } from './targets.ts'

/** The runtime comes from its published package, never from an installation or a cache, which may have changed. */

/** Returns its path. @throws Error when it is not the locked one */
export const fetchRuntime = async ({ runtime }: Target, folder: string): Promise<string> => {
  mkdirSync(folder, { recursive: true })
  const wanted = locked(`@oven/${runtime}`)
  const packed = Bun.spawnSync(['npm', 'pack', wanted.resolved, '--json', '--pack-destination', folder])
  if (!packed.success) throw new Error(`cannot fetch ${wanted.resolved}: ${packed.stderr.toString().trim()}`)
  const file = join(folder, `${wanted.resolved.replace('@', '').replace(/[/@]/g, '-')}.tgz`)
  const path = join(folder, runtime)
  writeFileSync(path, await executableIn(readFileSync(file), wanted))
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
