import { describe, expect, test } from 'bun:test'
import { startReady } from '../program.ts'
import { Desk } from './desk.ts'
import { Operator } from './live.ts'
import { serving, withPostgres } from './postgres.ts'

/** The desk of a folder that is a copy of PostgreSQL (contract C18, C20). */

describe('the desk with PostgreSQL', () => {
  const { newFolder, newInstallation } = withPostgres()

  test('reads beside the active server, which performs its acts, and without one takes the lease for each act', async () => {
    const env = await newInstallation()
    const folder = newFolder()
    const operator = new Operator(folder, folder)
    const server = await startReady(serving(folder), { env })
    await using desk = await Desk.of(operator, env)
    const session = await desk.enter()
    const wallet = async () => (await session.read<{ rows: object[] }>('list/wallets')).rows
    const ask = async (command: string, input: Record<string, string>) => {
      const [done] = await session.ask([{ command, input }])
      expect(done?.refusal).toBeUndefined()
    }
    await ask('client add', { name: 'acme' })
    await ask('wallet add', { client: 'acme', currency: 'USD' })
    await ask('wallet fund', { id: '1', amount: '5' })
    expect(await wallet()).toEqual([expect.objectContaining({ amount: '5.00 USD' })])
    await server.stop()
    await ask('wallet fund', { id: '1', amount: '7' })
    expect(await wallet()).toEqual([expect.objectContaining({ amount: '12.00 USD' })])
  })
})
