import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import fc from 'fast-check'
import { edgesWithdrawn } from '../goods.ts'
import { DEFAULT } from '../model.ts'
import { catalogFile } from '../program.ts'
import { charged } from './charges.ts'
import { command, pick, which } from './command.ts'
import { once } from './once.ts'
import { placed } from './orders.ts'
import { ask } from './sessions.ts'

/** What happens to the whole program: it ends, it crashes, and what its operator or its disk does beside it. */

const withdrawnFile = catalogFile(edgesWithdrawn)
const WHO = { world: DEFAULT, client: 'sandbox' } as const

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
  command('withdraw products beside the program, and buy at an old price', ['calculateCharges', 'placeOrder'], 1, {
    args: fc.record({ rarely: fc.nat(2), product_id: fc.constantFrom(1, 2, 4) }),
    run: async (play, { rarely, product_id }) => {
      const { catalog, keeps } = play.program.setup
      // A command is a process of its own: too slow to come often.
      if (rarely > 0 || catalog !== 'edges' || !keeps) return
      const purchase = { product: product_id, denomination: 10, quantity: 3, wallet: undefined }
      const { product: id, ...body } = purchase
      await ask(play, WHO, { operation: 'calculateCharges', id, body }, (at) => charged(at, purchase))
      play.lines.push('(scrip catalog import: every other product is withdrawn, of the others 2 may be bought at once)')
      const { exitCode, stderr } = await play.program.administer('catalog', 'import', withdrawnFile)
      if (exitCode !== 0) play.fail(`catalog import ended with ${exitCode}: ${stderr}`)
      play.model.products = edgesWithdrawn
      const order = { product_id, denomination: 10, quantity: 3 }
      await once(play, WHO, { operation: 'placeOrder', body: order }, undefined, placed(order))
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
