import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { COMMAND, start } from '../program.ts'
import { documentText } from './documents.ts'
import { asOperator, Customer, type Operator } from './live.ts'

/** What the unit for systemd relies on (decision 77), without systemd: a receiver stands for its notification socket. */

const RECEIVER = `
import socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("listening", flush=True)
while True:
    message = receiver.recv(4096).decode()
    if "READY=1" in message: print(" ".join(sorted(message.split())), flush=True)
`
const hasTools = ['python3', 'systemd-notify', 'mkfifo'].every((command) => Bun.which(command))

/** Starts a receiver and gives the next notification, each time. */
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

/** A line of the unit, with places of this test. */
const lineOf = (name: string, { folder }: Operator): string => {
  const [, line = ''] = new RegExp(`^${name}=/bin/sh -c '(.*)'$`, 'm').exec(documentText('docs/scrip.service')) ?? []
  return line.replaceAll('/run/scrip', folder).replaceAll('/usr/local/bin/scrip', COMMAND.join(' '))
}

test.skipIf(!hasTools)('systemctl reload takes over, or fails and leaves the server alone', () =>
  asOperator(async (operator) => {
    const credentials = await operator.stocked()
    const socket = join(operator.folder, 'notify.sock')
    const receiver = receive(socket)
    expect(await receiver.next()).toBe('listening')
    const variables = {
      ...{ SCRIP_MODE: 'live', SCRIP_DATA_DIR: operator.dataDir, SCRIP_PORT: '0', SCRIP_LOG_LEVEL: 'error' },
      NOTIFY_SOCKET: socket,
    }
    const server = await start(['serve'], { env: variables })
    expect(await receiver.next()).toBe(`MAINPID=${server.pid} READY=1`)
    const customer = await Customer.of(server, credentials)

    const reload = (more: Record<string, string>) => {
      const env = { ...process.env, ...variables, ...more }
      return Bun.spawn(['sh', '-c', lineOf('ExecReload', operator)], { env, stderr: 'ignore' }).exited
    }
    expect(await reload({ SCRIP_CATALOG: operator.file('bad.json', 'no JSON') })).not.toBe(0)
    expect((await customer.get('/wallets')).status).toBe(200)

    expect(await reload({})).toBe(0)
    const notified = await receiver.next()
    expect(notified).toMatch(/^MAINPID=\d+ READY=1$/)
    const pid = Number(notified.match(/\d+/)?.[0])
    expect(await server.stop()).toMatchObject({ exitCode: 0 })
    expect((await customer.get('/wallets')).status).toBe(200)
    process.kill(pid, 'SIGTERM')
    receiver.stop()
  }),
)

test.skipIf(!Bun.which('systemd-analyze'))('systemd finds nothing wrong with the units', () =>
  asOperator(async (operator) => {
    const units = ['scrip.service', 'scrip-backup.service'].map((name) =>
      operator.file(name, documentText(`docs/${name}`).replaceAll('/usr/local/bin/scrip', process.execPath)),
    )
    const { exitCode, stdout, stderr } = Bun.spawnSync(['systemd-analyze', 'verify', '--man=no', ...units])
    expect({ exitCode, said: `${stdout}${stderr}` }).toEqual({ exitCode: 0, said: '' })
  }),
)
