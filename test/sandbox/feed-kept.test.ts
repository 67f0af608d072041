import { afterAll, expect, test } from 'bun:test'
import { Database } from '../../src/db/database.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { secureRandomness } from '../../src/kernel/ids.ts'
import { Feed } from '../../src/sandbox/feed/feed.ts'
import { ObservedRequest, type RecordingListener } from '../../src/sandbox/requests/request-log.ts'
import { World } from '../../src/worlds/world.ts'

const world = new World('followed', Database.inMemory(), systemClock, secureRandomness)
afterAll(() => world.close())

/** The text of the next chunk. */
const nextOf = async (reader: { read: () => Promise<{ value?: Uint8Array | undefined }> }): Promise<string> =>
  new TextDecoder().decode((await reader.read()).value)

test('a feed keeps nothing for a reader who does not come back, and tells one who comes later how much it has missed', async () => {
  let record: RecordingListener = () => undefined
  const onRecorded = (listener: RecordingListener): void => {
    record = listener
  }
  const feed = new Feed({ worlds: { onPresent: () => undefined }, onRecorded }, 0)
  const reader = feed.open('followed').getReader()
  expect(await nextOf(reader)).toBe('retry: 1000\nid: 0\n\n')
  await reader.cancel()
  await Bun.sleep(1) // behind the timer of 0 ms
  for (const id of [1, 2]) record({ world, request: new ObservedRequest(new Headers()), id, bytes: 1 })
  const again = feed.open('followed', 0).getReader()
  expect(await nextOf(again)).toBe('retry: 1000\nid: 0\n\n')
  expect(await nextOf(again)).toBe('id: 2\nevent: skipped\ndata: {"count":2}\n\n')
  record({ world, request: new ObservedRequest(new Headers()), id: 3, bytes: 1 })
  expect(await nextOf(again)).toStartWith('id: 3\nevent: request\n')
  await again.cancel()
})
