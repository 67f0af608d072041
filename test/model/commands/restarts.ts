import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import fc from 'fast-check'
import { DEFAULT } from '../model.ts'
import { command, pick, which } from './command.ts'

/** Events of the whole program: it ends, it crashes, and its disk fails. */

export const restartCommands = [
  command('restart the program', [], 1, {
    args: fc.record({ how: fc.constantFrom('stop' as const, 'kill' as const) }),
    run: async (play, { how }) => {
      play.lines.push(
        how === 'stop' ? '(the program is ended and started again)' : '(the program is killed and started again)',
      )
      await play.program.restart(how)
      play.model.restart(play.program.setup.keeps)
    },
  }),
  command('damage a voucher on the disk', [], 1, {
    args: fc.record({ nth: which }),
    run: async (play, { nth }) => {
      const { folder } = play.program
      const delivered = play.model.world(DEFAULT).state.orders.filter((order) => order.delivered > 0)
      const order = pick(delivered, nth)
      if (folder === undefined || !order) return
      play.lines.push(`(a voucher of order ${order.id} is damaged on the disk)`)
      const sqlite = new Database(join(folder, 'scrip.sqlite'))
      sqlite.run(
        'UPDATE vouchers SET sealed = zeroblob(64) WHERE id = (SELECT min(id) FROM vouchers WHERE order_id = ?)',
        [order.id],
      )
      sqlite.close()
      order.damaged = true
    },
  }),
]
