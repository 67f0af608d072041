import { readFileSync, realpathSync } from 'node:fs'

/** The trace that strace has recorded of a program: writes and syncs of the files of one folder, and responses to clients. */

export type Event =
  /** At an offset, or at the end. */
  | { kind: 'write'; path: string; at: number | 'end'; bytes: Buffer }
  | { kind: 'truncate'; path: string; at: number }
  | { kind: 'sync'; path: string }
  | { kind: 'rename'; path: string; to: string }
  | { kind: 'remove'; path: string }
  | { kind: 'response'; ids: readonly string[] }

export const TRACED =
  'pwrite64,pwritev,write,writev,sendto,sendmsg,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat'

/** A call on a descriptor, with what it names: 1234 pwrite64(9</data/scrip.sqlite-wal>, "\x00", 1, 32) = 1 */
const CALL = /^\d+ +(\w+)\(\d+<([^>]*)>(?:, (.*))?\) += (-?\d+)/
/** A call on names of files, which was done: 1234 rename("/data/a", "/data/b") = 0 */
const NAMED = /^\d+ +(rename|unlink)(?:at2?)?\((.*)\) += 0/
/** A call that another thread came between: its beginning, and its end. */
const UNFINISHED = /^(\d+) +(.*) <unfinished \.\.\.>$/
const RESUMED = /^(\d+) +<\.\.\. \w+ resumed>(.*)$/
/** Every text of a call; with -xx all of them are hexadecimal. */
const TEXTS = /"((?:\\x[0-9a-f]{2})*)"/g
const ID = /"id":"((?:ben|pyt)_[0-9a-z]+)"/g

export const eventsIn = (trace: string, dataDir: string): Event[] => {
  const folder = `${realpathSync(dataDir)}/`
  return callsIn(readFileSync(trace, 'latin1')).flatMap((line) => {
    const named = NAMED.exec(line)
    if (named) return namedEvent(named[1] ?? '', textsIn(named[2] ?? '').map(String), folder)
    const [, call = '', subject = '', args = '', result = ''] = CALL.exec(line) ?? []
    if (Number(result) < 0 || subject === '') return []
    const path = unhexed(subject)
    const bytes = Buffer.concat(textsIn(args))
    if (path.startsWith('socket:') || path.startsWith('TCP')) return responseIn(bytes)
    if (!path.startsWith(folder)) return []
    const event = eventOf(call, path.slice(folder.length), args, bytes)
    return event ? [event] : []
  })
}

const textsIn = (args: string): Buffer[] =>
  [...args.matchAll(TEXTS)].map(([, text = '']) => Buffer.from(text.replaceAll('\\x', ''), 'hex'))

/** Names are durable at once, as journaling file systems have them by the next sync. */
const namedEvent = (call: string, paths: readonly string[], folder: string): Event[] => {
  const [path = '', to = ''] = paths.map((each) => (each.startsWith(folder) ? each.slice(folder.length) : ''))
  if (path === '') return []
  return [call === 'unlink' ? { kind: 'remove', path } : { kind: 'rename', path, to }]
}

/** Whole calls, in the order in which they ended. */
const callsIn = (text: string): string[] => {
  const begun = new Map<string, string>()
  return text.split('\n').flatMap((line) => {
    const unfinished = UNFINISHED.exec(line)
    if (unfinished) {
      begun.set(unfinished[1] ?? '', unfinished[2] ?? '')
      return []
    }
    const resumed = RESUMED.exec(line)
    return resumed ? [`${resumed[1]} ${begun.get(resumed[1] ?? '') ?? ''}${resumed[2]}`] : [line]
  })
}

const unhexed = (path: string): string =>
  path.replace(/\\x([0-9a-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

const eventOf = (call: string, path: string, args: string, bytes: Buffer): Event | undefined => {
  const last = Number(/(\d+)$/.exec(args)?.[1] ?? Number.NaN)
  if (call === 'fsync' || call === 'fdatasync') return { kind: 'sync', path }
  if (call === 'ftruncate') return { kind: 'truncate', path, at: last }
  if (call.startsWith('write')) return { kind: 'write', path, at: 'end', bytes }
  if (call.startsWith('pwrite')) return { kind: 'write', path, at: last, bytes }
  return undefined
}

/** The records that a response tells of: it is a success when it carries their ids. */
const responseIn = (bytes: Buffer): Event[] => {
  const text = bytes.toString('latin1')
  if (!/^HTTP\/1\.1 20[01] /.test(text)) return []
  const ids = [...text.matchAll(ID)].map(([, id = '']) => id)
  return ids.length > 0 ? [{ kind: 'response', ids }] : []
}
