import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { World } from '../../work/world.ts'
import { ClockMove, requestLog, StoredRequest } from '../requests/request-log.ts'
import { InboxEntry, inboxOf } from '../webhooks/inbox.ts'
import { isResting, onWake, wake } from './resting.ts'
import type { KeptBytes, WorldFolder } from './world-folder.ts'

/** The request log and the inboxes of a world. Copies and snapshots do not include them. */
type Journal = Static<typeof Journal>
const Journal = Type.Object({
  beginsFresh: Type.Boolean(),
  moves: Type.Array(ClockMove),
  requests: Type.Array(StoredRequest),
  inbox: Type.Array(InboxEntry),
})

/** The maximum size of all journals of worlds at rest, compressed. The journal of the longest rest is dropped first. */
const BYTES_MAX = 268_435_456

/** The request logs and inboxes of worlds at rest. */
export class Journals {
  readonly #kept = new Map<string, KeptBytes>()
  #bytes = 0

  constructor(private readonly folder: WorldFolder) {}

  /** The size of the journal of a world in memory. */
  static bytesOf(world: World): number {
    return world.of(requestLog).bytes + inboxOf(world).bytes
  }

  /** Moves the journal of a world out of memory, until it is used again. */
  rest(world: World): void {
    if (isResting(world)) return
    const [log, inbox] = [world.of(requestLog), inboxOf(world)]
    const { beginsFresh, moves } = log
    const journal: Journal = { beginsFresh, moves: [...moves], requests: log.stored(), inbox: [...inbox.items] }
    this.remove(world.name)
    if (moves.length + journal.requests.length + journal.inbox.length > 0) this.#keep(world.name, packed(journal))
    inbox.forget()
    this.#rest(world)
  }

  /** Continues with the journal of an earlier process. A file that somebody has changed is dropped. */
  load(world: World): void {
    const journal = this.#read(world.name)
    if (!Value.Check(Journal, journal)) this.remove(world.name)
    else if (journal !== EMPTY) world.of(requestLog).restoreBeginning(journal)
    this.#rest(world)
    wake(world)
  }

  #rest(world: World): void {
    world.of(requestLog).rest(() => this.#read(world.name).requests)
    onWake(world, () => {
      const { requests, inbox } = this.#read(world.name)
      world.of(requestLog).resume(requests)
      inboxOf(world).restore(inbox, inbox.at(-1)?.id ?? inboxOf(world).last)
    })
  }

  remove(name: string): void {
    const kept = this.#kept.get(name) ?? this.folder.findJournal(name)
    if (this.#kept.delete(name)) this.#bytes -= kept?.byteCount ?? 0
    kept?.drop()
  }

  #keep(name: string, bytes: Uint8Array): void {
    this.#kept.set(name, this.folder.keepJournal(name, bytes))
    this.#bytes += bytes.byteLength
    for (const longest of this.#kept.keys()) {
      if (this.#bytes <= BYTES_MAX) return
      this.remove(longest)
    }
  }

  #read(name: string): Journal {
    const kept = this.#kept.get(name) ?? this.folder.findJournal(name)
    try {
      return kept ? (JSON.parse(Bun.zstdDecompressSync(kept.read()).toString()) as Journal) : EMPTY
    } catch {
      return EMPTY // a process was killed while it wrote the file, or somebody has removed it
    }
  }
}

const EMPTY: Journal = { beginsFresh: false, moves: [], requests: [], inbox: [] }

const packed = (journal: Journal): Uint8Array => Bun.zstdCompressSync(JSON.stringify(journal))
