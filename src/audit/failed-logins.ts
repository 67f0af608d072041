import type { Tx } from '../db/database.ts'
import { MINUTE_MS } from '../kernel/clock.ts'
import type { World } from '../work/world.ts'
import { type AuditSeal, recordAct } from './audit.ts'

/** Further names and addresses of a minute are counted together, so that strangers cannot fill the disk. */
const ROWS_PER_MINUTE_MAX = 100
const OTHERS = { subject: '(others)', address: null }

interface Counted {
  subject: string
  address: string | null
}

/** Failed logins of one name, address and minute are one row (contract C17), written when the minute is over. */
export class FailedLogins {
  #minute = 0
  readonly #counts = new Map<string, Counted & { count: number }>()

  add(username: string, address: string): void {
    this.#count({ subject: username, address }, 1)
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0
  }

  #count(who: Counted, count: number): void {
    const key = JSON.stringify([who.subject, who.address])
    const known = this.#counts.get(key)
    if (known) known.count += count
    else if (who === OTHERS || this.#counts.size < ROWS_PER_MINUTE_MAX) this.#counts.set(key, { ...who, count })
    else this.#count(OTHERS, count)
  }

  /** True if a minute with failed logins is over. */
  isDue(nowMs: number): boolean {
    const minute = Math.floor(nowMs / MINUTE_MS)
    if (minute === this.#minute) return false
    this.#minute = minute
    return this.#counts.size > 0
  }

  /** Records them; those that cannot be written are counted again. */
  async record({ db, clock }: World, ciphers: (tx: Tx) => AuditSeal): Promise<void> {
    const counted = [...this.#counts.values()]
    this.#counts.clear()
    try {
      await db.writePatiently((tx) => {
        for (const { subject, address, count } of counted) {
          const act = { atMs: clock.nowMs(), user: '', command: 'login', subject, address, after: { count } } as const
          recordAct(tx, ciphers(tx), { ...act, outcome: 'refused' })
        }
      })
    } catch (error) {
      for (const { subject, address, count } of counted)
        this.#count(address === null ? OTHERS : { subject, address }, count)
      throw error
    }
  }
}
