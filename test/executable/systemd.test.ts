import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { start } from '../program.ts'
import { documentText } from './documents.ts'
import { asOperator } from './live.ts'

/** The behaviour that the unit for systemd relies on (decision 21), without systemd: a receiver stands for its notification socket. */

const RECEIVER = `
import socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("listening", flush=True)
while True:
    message = receiver.recv(4096).decode()
    if "READY=1" in message: print(" ".join(sorted(message.split())), flush=True)
`
const hasTools = ['python3', 'systemd-notify'].every((command) => Bun.which(command))

/** Starts a receiver, whose function returns the next notification. */
const receive = (path: string) => {
  const child = Bun.spawn(['python3', '-c', RECEIVER, path], { stdout: 'pipe' })
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  let heard = ''
  const next = async (): Promise<string> => {
    while (!heard.includes('\n')) heard += (await reader.read()).value ?? '\n'
    const [line = '', ...rest] = heard.split('\n')
    heard = rest.join('\n')
    return line
  }
  return { next, stop: () => child.kill() }
}

test.skipIf(!hasTools)('the server notifies systemd when it is ready, and of its process', () =>
  asOperator(async (operator) => {
    const socket = join(operator.folder, 'notify.sock')
    const receiver = receive(socket)
    expect(await receiver.next()).toBe('listening')
    const variables = { SCRIP_MODE: 'live', SCRIP_DATA_DIR: operator.dataDir, SCRIP_PORT: '0', NOTIFY_SOCKET: socket }
    const server = await start(['serve'], { env: variables })
    expect(await receiver.next()).toBe(`MAINPID=${server.pid} READY=1`)
    await server.stop()
    receiver.stop()
  }),
)

test.skipIf(!Bun.which('systemd-analyze'))('systemd finds nothing wrong with the units', () =>
  asOperator(async (operator) => {
    const units = ['scrip.service', 'scrip-backup.service'].map((name) =>
      operator.file(name, documentText(`docs/operate/${name}`).replaceAll('/usr/local/bin/scrip', process.execPath)),
    )
    const { exitCode, stdout, stderr } = Bun.spawnSync(['systemd-analyze', 'verify', '--man=no', ...units])
    expect({ exitCode, said: `${stdout}${stderr}` }).toEqual({ exitCode: 0, said: '' })
  }),
)
