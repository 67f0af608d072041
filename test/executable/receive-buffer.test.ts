import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { start } from './program.ts'

/** What the kernel receives before the program reads it (decision 26). */

const SENT_BYTES = 8 * 1_024 * 1_024
const RECEIVED_BYTES_MAX = 32 * 1_024

/** The bytes that wait on both sides of a connection, as the kernel counts them: a line is `local remote state sent:received`. */
const waiting = (local: number, remote: number): { unacknowledged: number; unread: number } => {
  const port = (address = '') => Number.parseInt(address.split(':')[1] ?? '', 16)
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, from, to, , queues = ''] = line.trim().split(/\s+/)
    if (port(from) !== local || port(to) !== remote) continue
    const [unacknowledged = 0, unread = 0] = queues.split(':').map((count) => Number.parseInt(count, 16))
    return { unacknowledged, unread }
  }
  return { unacknowledged: 0, unread: 0 }
}

test.skipIf(process.platform !== 'linux')(
  'at most 32 KiB of a connection wait until the program reads them',
  async () => {
    const program = await start()
    const server = Number(new URL(program.url).port)
    const socket = connect(server, '127.0.0.1').on('error', () => undefined)
    await new Promise((resolve) => socket.once('connect', resolve))
    program.signal('SIGSTOP')
    socket.write(Buffer.alloc(SENT_BYTES, 'x'))
    const client = socket.localPort ?? 0
    // The client's side waits as soon as the server's has no more room.
    while (waiting(client, server).unacknowledged === 0 || waiting(server, client).unread === 0) await Bun.sleep(10)
    let unread = -1
    for (let now = waiting(server, client).unread; now !== unread; now = waiting(server, client).unread) {
      unread = now
      await Bun.sleep(100)
    }
    expect(unread).toBeGreaterThan(0)
    expect(unread).toBeLessThanOrEqual(RECEIVED_BYTES_MAX)
    socket.destroy()
    program.signal('SIGCONT')
    await program.stop()
  },
)
