import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import type { Running } from '../program.ts'
import { folder, start } from './programs.ts'

/** Scrip as it is measured: with the products of a file, and a client whose wallets last for all rounds. */
export interface Subject {
  served: Running
  dataDir: string
  username: string
  password: string
  /** Whether it sells cards: live mode would have to have the codes of all that the rounds buy. */
  sells: boolean
}

/** The wallets that pay for payouts and for orders: in USD and in INR. In both modes they have these ids. */
export const [WALLET, RUPEES] = [1, 3]

/** More than all rounds can spend. */
const FUNDS = 1_000_000_000
const RATES = resolve(import.meta.dir, '../../seed/rates.json')

/** The sandbox. */
export const startSandbox = async (scrip: readonly string[], catalog: string, name = 'data'): Promise<Subject> => {
  const dataDir = join(folder, name)
  const served = await start([...scrip, '--catalog', catalog, '--data-dir', dataDir])
  for (const wallet of [WALLET, RUPEES]) {
    const body = JSON.stringify({ amount: FUNDS })
    const response = await fetch(`${served.url}/_sandbox/wallets/${wallet}/fund`, { method: 'POST', body })
    if (!response.ok) throw new Error(`funding wallet ${wallet}: ${response.status} ${await response.text()}`)
  }
  return { served, dataDir, username: 'sandbox', password: 'sandbox', sells: true }
}

/** Live mode, on a folder that its own commands have made. */
export const startLive = async (scrip: readonly string[], catalog: string, name = 'live'): Promise<Subject> => {
  const dataDir = join(folder, name)
  const command = (...words: string[]): { username: string; password: string } => {
    const args = [...words, '--data-dir', dataDir, '--json']
    const { status, stdout, stderr } = spawnSync(scrip[0] ?? '', args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`scrip ${args.join(' ')}: ${stderr}`)
    return JSON.parse(stdout) as { username: string; password: string }
  }
  const { username, password } = command('client', 'add', 'bench')
  for (const currency of ['USD', 'EUR', 'INR']) command('wallet', 'add', username, currency)
  for (const wallet of [WALLET, RUPEES]) command('wallet', 'fund', String(wallet), String(FUNDS))
  command('catalog', 'import', catalog)
  command('rates', 'set', '--file', RATES)
  const served = await start([...scrip, '--mode', 'live', '--data-dir', dataDir])
  return { served, dataDir, username, password, sells: false }
}
