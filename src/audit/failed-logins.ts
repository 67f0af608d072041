import type { Tx } from '../db/database.ts'
import { MINUTE_MS } from '../kernel/clock.ts'
import { type AuditSeal, recordAct } from './audit.ts'

/** Strangers cannot fill the disk: further names and addresses of a minute are counted together. */
const ROWS_PER_MINUTE_MAX = 100
const OTHERS = { subject: '(others)', address: null }

interface Counted {
  subject: string
  address: string | null
  count: number
}

/** Failed logins of one name, address and minute are one row (contract C17), written when the minute is over. */
export class FailedLogins {
  #minute = 0
  readonly #counts = new Map<string, Counted>()

  add(username: string, address: string): void {
    const key = JSON.stringify([username, address])
    const known = this.#counts.get(key)
    if (known) known.count += 1
    else if (this.#counts.size < ROWS_PER_MINUTE_MAX) this.#counts.set(key, { subject: username, address, count: 1 })
    else this.#addOther()
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0
  }

  #addOther(): void {
    const others = this.#counts.get('') ?? { ...OTHERS, count: 0 }
    others.count += 1
    this.#counts.set('', others)
  }

  /** Whether a minute with failed logins is over. */
  isDue(nowMs: number): boolean {
    const minute = Math.floor(nowMs / MINUTE_MS)
    if (minute === this.#minute) return false
    this.#minute = minute
    return this.#counts.size > 0
  }

  /** Returns the unit of work that records them. */
  take(nowMs: number, seals: (tx: Tx) => AuditSeal): (tx: Tx) => void {
    const counted = [...this.#counts.values()]
    this.#counts.clear()
    return (tx) => {
      for (const { subject, address, count } of counted) {
        const act = { atMs: nowMs, user: '', command: 'login', subject, address, after: { count } } as const
        recordAct(tx, seals(tx), { ...act, outcome: 'refused' })
      }
    }
  }
}
