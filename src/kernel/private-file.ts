import { statSync } from 'node:fs'

const READ_OR_WRITTEN_BY_OTHERS = 0o066

/** True if the group of a file, or everybody, can read or change it. Windows has no such permissions, and a pipe needs none. */
export const isExposed = (path: string): boolean => {
  const file = process.platform === 'win32' ? undefined : statSync(path, { throwIfNoEntry: false })
  return file?.isFile() === true && (file.mode & READ_OR_WRITTEN_BY_OTHERS) !== 0
}

export const exposure = (path: string): string =>
  `${path} can be read or changed by other users of the machine\nRun chmod 600 ${path}.`
