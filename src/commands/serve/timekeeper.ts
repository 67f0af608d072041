import { SECOND_MS } from '../../kernel/clock.ts'
import { isUnavailable } from '../../kernel/failure.ts'
import { Outage } from '../../kernel/outage.ts'
import type { Log } from '../../observability/log.ts'
import type { DueWork } from '../../worlds/due.ts'
import type { Worlds } from '../../worlds/worlds.ts'

/** Does due work when no request does, and suspends idle worlds. A failure is logged, and the work is tried again. */
export const timekeeperOf = (due: DueWork, worlds: Worlds, log: Log, tick: () => void) => {
  const outage = new Outage(log, { on: 'writes are refused', over: 'writes work again' })
  const look = (): void => {
    worlds.rest()
    const world = worlds.default
    world.db.lookAfter()
    if (world.db.trouble) outage.seen(world.db.trouble.message)
    else outage.over()
    tick()
    if (!due.isDue(world)) return
    due.catchUp(world).catch((error: unknown) => {
      if (!isUnavailable(error)) log.error('due work failed', { cause: String(error) })
    })
  }
  let timer: ReturnType<typeof setInterval> | undefined
  return {
    start: () => {
      timer = setInterval(look, SECOND_MS)
    },
    stop: () => clearInterval(timer),
  }
}
