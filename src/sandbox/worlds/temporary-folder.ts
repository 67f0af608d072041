import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LOCK_FILE, lockForServing } from '../../db/folder-lock.ts'

const PREFIX = 'scrip-worlds-'

/** Creates a folder that disposal removes, and removes those of processes that were killed. */
export const createTemporaryFolder = (): Disposable & { path: string } => {
  removeAbandoned()
  const path = mkdtempSync(join(tmpdir(), PREFIX))
  const lock = lockForServing(path)
  return {
    path,
    [Symbol.dispose]: () => {
      lock[Symbol.dispose]()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

const removeAbandoned = (): void => {
  for (const name of readdirSync(tmpdir())) {
    const path = join(tmpdir(), name)
    if (name.startsWith(PREFIX) && isAbandoned(path)) rmSync(path, { recursive: true, force: true })
  }
}

/** Whether nobody holds its lock. False as well for a folder of another user, and for one that is being made. */
const isAbandoned = (path: string): boolean => {
  if (!existsSync(join(path, LOCK_FILE))) return false
  try {
    lockForServing(path)[Symbol.dispose]()
    return true
  } catch {
    return false
  }
}
