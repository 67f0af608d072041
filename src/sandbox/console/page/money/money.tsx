import { Button } from '../../../../pages/ui/forms.tsx'
import { useLoaded, usePointedAt } from '../../../../pages/ui/hooks.ts'
import { LedgerTable } from '../../../../pages/ui/ledger.tsx'
import { Card, Empty, Failed } from '../../../../pages/ui/pieces.tsx'
import { ask, get, readClients } from '../api.ts'
import { hrefOf, type Place, worldOf } from '../place.ts'
import { MadeBy } from '../requests/made-by.tsx'
import { useNews } from '../store.ts'
import type { LedgerEntry, Order, Payout, Wallet } from '../types.ts'
import { type ChangeRecord, OrderView, PayoutView, WalletView } from './records.tsx'

const ENTRIES_SHOWN = '500'

/** Wallets, the ledger, and orders and payouts with their next steps. */
export const Money = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const news = useNews()
  const { value, error, reload, change } = useLoaded(async () => {
    const [clients, wallets, entries, orders, payouts] = await Promise.all([
      readClients(world),
      get<Wallet[]>('/wallets', { world }),
      get<LedgerEntry[]>('/ledger', { world, query: { limit: ENTRIES_SHOWN } }),
      get<Order[]>('/orders', { world }),
      get<Payout[]>('/payouts', { world }),
    ])
    return { clients, wallets, entries, orders, payouts }
  }, [world, news])
  const { clients = [], wallets = [], entries = [], orders = [], payouts = [] } = value ?? {}
  usePointedAt(place.record, value !== undefined)
  const onChange: ChangeRecord = (path, body, done) => change(() => ask('POST', path, { world, body }), done)
  return (
    <div class="cards">
      <Failed error={error} />
      <div class="wide">
        <Card title={`Wallets of ${world}`} aside={<Button text="Refresh" onClick={reload} />}>
          <div class="wallets">
            {wallets.map((wallet) => (
              <WalletView
                key={wallet.id}
                wallet={wallet}
                owner={clients.find((client) => client.client_id === wallet.client_id)?.username}
                onChange={onChange}
              />
            ))}
          </div>
        </Card>
      </div>
      <Card title="Orders" aside={<span class="soft">{orders.length}</span>}>
        {value && orders.length === 0 && (
          <Empty>
            No orders in {world} yet. <a href={hrefOf({ page: 'send', world, operation: 'placeOrder' })}>Place one</a>
          </Empty>
        )}
        <ul class="items tall">
          {orders.map((order) => (
            <OrderView
              key={order.id}
              order={order}
              currency={wallets.find(({ id }) => id === order.wallet_id)?.currency_code ?? order.currency_code}
              world={world}
              onChange={onChange}
            />
          ))}
        </ul>
      </Card>
      <Card title="Payouts" aside={<span class="soft">{payouts.length}</span>}>
        {value && payouts.length === 0 && (
          <Empty>
            No payouts in {world} yet. <a href={hrefOf({ page: 'send', world, operation: 'createPayout' })}>Make one</a>
          </Empty>
        )}
        <ul class="items tall">
          {payouts.map((payout) => (
            <PayoutView key={payout.id} payout={payout} world={world} onChange={onChange} />
          ))}
        </ul>
      </Card>
      <div class="wide">
        <Card title="Ledger" aside={<span class="soft">every entry sums to zero in each currency</span>}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
          <section class="scroll" aria-label="Ledger entries, the newest first" tabIndex={0}>
            <LedgerTable
              entries={entries}
              about={({ id }) => <MadeBy world={world} made={{ table: 'journal_entries', key: String(id) }} />}
            />
          </section>
        </Card>
      </div>
    </div>
  )
}
