import { type Stats, statSync } from 'node:fs'

const READ_OR_WRITTEN_BY_OTHERS = 0o066

/** Undefined if nothing is there. The runtime throws if a part of the path is a file. */
export const statOf = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined
    throw error
  }
}

/** True if the group of a file, or everybody, can read or change it. Windows has no such permissions, and a pipe needs none. */
export const isExposed = (path: string): boolean => {
  const file = process.platform === 'win32' ? undefined : statOf(path)
  return file?.isFile() === true && (file.mode & READ_OR_WRITTEN_BY_OTHERS) !== 0
}

/** The group may read what root owns and an orchestrator mounts, as PostgreSQL allows it for its keys. */
const CHANGED_BY_GROUP_OR_OPEN_TO_OTHERS = 0o037
const ROOT = 0

/** {@link isExposed} for a file with a secret, which the program does not write itself. */
export const isSecretExposed = (path: string): boolean => {
  if (!isExposed(path)) return false
  const { uid, mode } = statSync(path)
  return uid !== ROOT || (mode & CHANGED_BY_GROUP_OR_OPEN_TO_OTHERS) !== 0
}

export const secretExposure = (path: string): string =>
  `${path} can be read or changed by other users of the machine\nGive it to the user of the server with chmod 600, or to root with chmod 440 and a group of that user. In a container, do that to the file of the host that is mounted there.`

export const exposure = (path: string): string =>
  `${path} can be read or changed by other users of the machine\nRun chmod 600 ${path}.`
