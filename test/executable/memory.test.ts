import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { login, type Pair, type Running, start } from '../program.ts'

/** What worlds take of the machine, as it sees the process (contract C15, decision 34). */

const BUDGET_MIB = 96
/** What the program takes besides its worlds. */
const PROGRAM_MIB = 150
const WORLDS = 3_200
const AT_ONCE = 16

const peakMib = ({ pid }: Running): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

test.skipIf(process.platform !== 'linux')(
  'a process whose worlds fill their budget, and that goes on refusing new ones, keeps to it and 150 MiB',
  async () => {
    const program = await start(['--memory', `${BUDGET_MIB}MiB`])
    let [next, refused] = [0, 0]
    const work = async () => {
      while (next < WORLDS) {
        const response = await login(program, `sbx_w${next++}`, 'secret')
        if (response.status === 429) refused += 1
        const { access_token } = (await response.json()) as Partial<Pair>
        const headers = { authorization: `Bearer ${access_token}` }
        if (response.status === 200) await (await program.request('/api/v1/products', { headers })).arrayBuffer()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    expect(refused).toBeGreaterThan(500)
    expect(peakMib(program)).toBeLessThan(BUDGET_MIB + PROGRAM_MIB)
    await program.stop()
  },
)
