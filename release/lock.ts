import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './compile.ts'

export interface LockedPackage {
  resolved: string
  needs: string[]
  /** Of the package as it was published. */
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
