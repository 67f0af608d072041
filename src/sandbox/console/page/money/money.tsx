import { ask, get } from '../api.ts'
import { type Place, worldOf } from '../place.ts'
import { useNews } from '../store.ts'
import type { LedgerEntry } from '../types.ts'
import { act, Card, Empty, Failed, useLoaded, usePointedAt } from '../ui.tsx'
import type { Change } from './change.ts'
import { LedgerTable } from './ledger.tsx'
import { type Order, OrderView } from './order.tsx'
import { type Payout, PayoutView } from './payout.tsx'
import { type Wallet, WalletView } from './wallet.tsx'

const ENTRIES_SHOWN = '500'

/** Wallets, the ledger, and what was bought and paid, with what may happen next. */
export const Money = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const news = useNews()
  const money = useLoaded(async () => {
    const [wallets, entries, orders, payouts] = await Promise.all([
      get<Wallet[]>('/wallets', { world }),
      get<LedgerEntry[]>('/ledger', { world, query: { limit: ENTRIES_SHOWN } }),
      get<Order[]>('/orders', { world }),
      get<Payout[]>('/payouts', { world }),
    ])
    return { wallets, entries, orders, payouts }
  }, [world, news])
  const { wallets = [], entries = [], orders = [], payouts = [] } = money.value ?? {}
  usePointedAt(place.record, money.value !== undefined)
  const change: Change = async (path, body, done) => {
    if (await act(() => ask('POST', path, { world, body }), done)) money.reload()
  }
  return (
    <div class="cards">
      <Failed error={money.error} />
      <div class="wide">
        <Card
          title={`Wallets of ${world}`}
          aside={
            <button type="button" onClick={money.reload}>
              Refresh
            </button>
          }
        >
          <div class="wallets">
            {wallets.map((wallet) => (
              <WalletView
                key={wallet.id}
                wallet={wallet}
                entries={entries}
                onFund={(value) =>
                  change(`/wallets/${wallet.id}/fund`, { amount: value }, `Funded wallet ${wallet.id}`)
                }
              />
            ))}
          </div>
        </Card>
      </div>
      <Card title="Orders" aside={<span class="soft">{orders.length}</span>}>
        {money.value && orders.length === 0 && <Empty>No orders yet.</Empty>}
        <ul class="items tall">
          {orders.map((order) => (
            <OrderView key={order.id} order={order} world={world} onChange={change} />
          ))}
        </ul>
      </Card>
      <Card title="Payouts" aside={<span class="soft">{payouts.length}</span>}>
        {money.value && payouts.length === 0 && <Empty>No payouts yet.</Empty>}
        <ul class="items tall">
          {payouts.map((payout) => (
            <PayoutView key={payout.id} payout={payout} world={world} onChange={change} />
          ))}
        </ul>
      </Card>
      <div class="wide">
        <Card title="Ledger" aside={<span class="soft">every entry sums to zero in each currency</span>}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
          <section class="scroll" aria-label="Ledger entries, the newest first" tabIndex={0}>
            <LedgerTable entries={entries} world={world} />
          </section>
        </Card>
      </div>
    </div>
  )
}
