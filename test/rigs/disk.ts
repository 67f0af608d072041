import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { count, share } from '../bench/table.ts'
import { brokenInvariants } from '../executable/ledger.ts'
import { type Running, run, threadMs } from '../program.ts'
import { ask, bytesOf, Connection, type RawResponse } from './connection.ts'
import type { Rig } from './report.ts'
import { logIn, serve } from './server.ts'

/**
 * What a machine runs out of: room on the disk, the right to write, descriptors. A round is a disk that gets full
 * and has room again; the rest is done once.
 */

/** The most that a file may grow to, in KiB: a full disk for this program alone, for which nobody has to be root. */
const FILE_KIB_MAX = 2_048
const ON_A_SMALL_DISK = ['bash', '-c', `trap '' XFSZ; ulimit -S -f ${FILE_KIB_MAX}; exec "$@"`, 'bash']
const WRITES_MAX = 600
const REFUSALS = 20
const DESCRIPTORS = 64
const WITH_FEW_DESCRIPTORS = ['bash', '-c', `ulimit -n ${DESCRIPTORS}; exec "$@"`, 'bash']
const CONNECTIONS = 200
const PERSON = JSON.stringify({
  email: 'ada@example.com',
  first_name: 'Ada',
  last_name: 'Lovelace',
  metadata: { note: 'x'.repeat(16_000) },
})

export const disk: Rig = async ({ rounds }) => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-rig-'))
  const findings: string[] = []
  const rows = [['what runs out', 'done', 'told']]
  try {
    for (let round = 0; round < rounds; round++) rows.push(await fullDisk(join(folder, `full-${round}`), findings))
    rows.push(await readOnly(join(folder, 'read-only'), findings))
    rows.push(await fewDescriptors(findings))
  } finally {
    rmSync(folder, { recursive: true })
  }
  return { tables: [rows], findings }
}

const save = (connection: Connection, token: string): Promise<RawResponse> =>
  connection.send(
    bytesOf({ path: '/api/v1/beneficiaries', headers: { Authorization: `Bearer ${token}` }, body: PERSON }),
  )

const isWaitable = ({ status, head, body }: RawResponse): boolean =>
  status === 503 && /\r\nretry-after: \d+/i.test(head) && body.includes('SERVICE_UNAVAILABLE')

const fullDisk = async (dataDir: string, findings: string[]): Promise<string[]> => {
  const server = await serve(['--data-dir', dataDir, '--rate-limit', 'off'], { through: ON_A_SMALL_DISK })
  const token = await logIn(server.port, 'sandbox')
  const connection = await Connection.open(server.port)
  const saved: string[] = []
  let refused = 0
  while (saved.length < WRITES_MAX && refused < REFUSALS) {
    const response = await save(connection, token)
    if (response.status === 201) saved.push((JSON.parse(response.body.toString()) as { id: string }).id)
    else if (isWaitable(response)) refused += 1
    else {
      findings.push(`a full disk: ${response.status} ${response.body}`)
      refused += 1
    }
  }
  if (refused === 0) findings.push('the disk did not get full')
  const ready = await ask(server.port, { path: '/readyz' })
  if (ready.status !== 503) findings.push(`a full disk: /readyz is ${ready.status}`)
  const login = await ask(server.port, { path: '/auth/login', body: '{"username":"sandbox","password":"sandbox"}' })
  // What is small may still fit.
  if (login.status !== 200 && !isWaitable(login)) findings.push(`a full disk: a login is ${login.status} ${login.body}`)
  const lines = server.log().split('\n').length - 1
  if (lines > 2)
    findings.push(`a full disk: ${lines} lines in the log for ${refused} refusals: ${server.log().slice(0, 300)}`)
  findings.push(...(await roomAgain(server, connection, token, saved)))
  for (const broken of brokenInvariants(dataDir)) findings.push(`broken by a full disk: ${broken}`)
  return ['room on the disk', `${count(saved.length)} saved, ${count(refused)} refused`, `${lines} lines in the log`]
}

/** Everything that was acknowledged is there, and writes are taken again. */
const roomAgain = async (
  server: Running,
  connection: Connection,
  token: string,
  saved: readonly string[],
): Promise<string[]> => {
  const findings: string[] = []
  const headers = { Authorization: `Bearer ${token}` }
  for (const id of saved) {
    const { status } = await connection.send(bytesOf({ path: `/api/v1/beneficiaries/${id}`, headers }))
    if (status !== 200) findings.push(`a full disk: ${id} was acknowledged, and is ${status}`)
  }
  const roomier = Bun.spawnSync(['prlimit', '--pid', String(server.pid), '--fsize=unlimited'])
  if (roomier.exitCode !== 0) throw new Error(`prlimit: ${roomier.stderr}`)
  const again = await save(connection, token)
  if (again.status !== 201) findings.push(`room again: ${again.status} ${again.body}`)
  const ready = await ask(server.port, { path: '/readyz' })
  if (ready.status !== 200) findings.push(`room again: /readyz is ${ready.status}`)
  connection.close()
  const { exitCode } = await server.stop()
  if (exitCode !== 0) findings.push(`SIGTERM ends with ${exitCode}`)
  return findings
}

/** A folder that another user may read only: as nobody, since root may write anywhere. */
const readOnly = async (dataDir: string, findings: string[]): Promise<string[]> => {
  mkdirSync(dataDir, { mode: 0o555 })
  const through = process.getuid?.() === 0 ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] : []
  const { exitCode, stderr } = await run(['serve', '--port', '0', '--data-dir', dataDir], { through })
  if (exitCode !== 4 || !stderr.includes(dataDir) || /\n\s+at /.test(stderr)) {
    findings.push(`a folder without rights: exit ${exitCode}, ${stderr}`)
  }
  return ['the right to write', `exit code ${exitCode}`, stderr.trim().split('\n')[0]?.slice(0, 60) ?? '']
}

const fewDescriptors = async (findings: string[]): Promise<string[]> => {
  const server = await serve(['--rate-limit', 'off'], { through: WITH_FEW_DESCRIPTORS })
  const opened = await Promise.allSettled(Array.from({ length: CONNECTIONS }, () => Connection.open(server.port)))
  const connections = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const [beforeMs, startedAtMs] = [threadMs(server.pid), performance.now()]
  await Bun.sleep(500)
  const busy = (threadMs(server.pid) - beforeMs) / (performance.now() - startedAtMs)
  for (const connection of connections) connection.close()
  const response = await Promise.race([
    ask(server.port, { path: '/status' }).then(({ status }) => status),
    Bun.sleep(5_000).then(() => 'silence'),
  ])
  if (response !== 200) findings.push(`descriptors that were given back: ${response}`)
  await server.stop()
  return ['descriptors', `${CONNECTIONS} connections for ${DESCRIPTORS}`, `${share(busy)} of a core while full`]
}
