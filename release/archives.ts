import { zipSync } from 'fflate'
import { packTar } from 'modern-tar'

/** Archives are identical to the bit, whenever and wherever they are made. */

export interface ArchivedFile {
  path: string
  bytes: Uint8Array
  isExecutable?: boolean
}

export const EXECUTABLE_MODE = 0o755
const PLAIN_MODE = 0o644
const COMPRESSION_LEVEL = 9
/** The time that npm gives the files of packages. Zip files cannot hold times before 1980. */
const AT_MS = Date.UTC(1985, 9, 26, 8, 15)

const inOrder = (files: readonly ArchivedFile[]): ArchivedFile[] =>
  files.toSorted((one, other) => (one.path < other.path ? -1 : 1))

export const tarGz = async (folder: string, files: readonly ArchivedFile[]): Promise<Uint8Array> => {
  const owner = { uid: 0, gid: 0, uname: 'root', gname: 'root' }
  const tar = await packTar(
    inOrder(files).map(({ path, bytes, isExecutable }) => {
      const mode = isExecutable ? EXECUTABLE_MODE : PLAIN_MODE
      return {
        header: { name: `${folder}/${path}`, size: bytes.length, mode, mtime: new Date(AT_MS), ...owner },
        body: bytes,
      }
    }),
  )
  return Bun.gzipSync(tar, { level: COMPRESSION_LEVEL, library: 'libdeflate' })
}

export const zip = (folder: string, files: readonly ArchivedFile[]): Uint8Array => {
  // A zip file holds the time of the place where it is made.
  const mtime = new Date(AT_MS + new Date(AT_MS).getTimezoneOffset() * 60_000)
  return zipSync(
    Object.fromEntries(
      inOrder(files).map(({ path, bytes }) => [`${folder}/${path}`, [bytes, { level: COMPRESSION_LEVEL, mtime }]]),
    ),
  )
}
