import { useEffect, useState } from 'preact/hooks'
import { visibleLines } from '../../kernel/visible.ts'
import { Button } from '../../pages/ui/forms.tsx'
import { useLoaded } from '../../pages/ui/hooks.ts'
import type { Filters } from '../../pages/ui/list.tsx'
import { act } from '../../pages/ui/notices.tsx'
import { Failed } from '../../pages/ui/pieces.tsx'
import { go, hrefOf, type Place } from '../../pages/ui/place.ts'
import { Acts } from './acts.tsx'
import { download, type ListPage, read } from './data.ts'
import { List } from './rows.tsx'

/** The groups of related lists. */
const GROUPS: readonly (readonly string[])[] = [
  ['clients', 'beneficiaries', 'statement'],
  ['wallets', 'transactions'],
  ['stock', 'products', 'rates'],
  ['webhooks', 'events'],
]
export const groupOf = (page: string): readonly string[] => GROUPS.find((group) => group.includes(page)) ?? [page]

/** The acts that make rows of a list. */
const MAKING: Readonly<Record<string, readonly string[]>> = {
  clients: ['client add'],
  wallets: ['wallet add'],
  stock: ['vouchers import'],
  products: ['catalog import'],
  rates: ['rates set'],
  beneficiaries: ['beneficiary erase'],
}

/** The text of an empty list, in the words of the guides. */
const EMPTY: Readonly<Record<string, string>> = {
  clients: 'Add a client: it gets a username and a password, shown once.',
  wallets: "Open a wallet: a client's first wallet is its default wallet. Then add money.",
  payouts: 'A client makes a payout with POST /api/v1/payouts. All payouts wait for an operator.',
  orders: 'A client orders with POST /api/v1/orders. Orders that are not delivered immediately wait for an operator.',
  transactions: 'Add money to a wallet: every movement of money is here.',
  stock: 'Import codes: until its codes are there, an order for a product is refused with "Insufficient stock".',
  products: 'Import a catalog. scrip catalog init writes a sample.',
  rates: 'Set exchange rates, such as USD/EUR=0.92: one USD buys 0.92 EUR.',
  webhooks: 'A client registers a webhook with POST /api/v1/webhooks.',
  events: 'Every change of an order, a payout or a wallet is an event.',
  beneficiaries: 'A client saves a beneficiary with POST /api/v1/beneficiaries.',
  statement: 'Choose a client and a month: 2026-11.',
  audit: 'Every act of an operator is a row of the audit.',
}

export const nameOf = (page: string): string => page.charAt(0).toUpperCase() + page.slice(1)

/** The title of a place: a statement names its client and its month, on paper too. */
export const titleOf = ({ page, id, client, month }: Filters & { page: string }): string => {
  if (page === 'statement' && client && month) return `Statement of ${client}, ${month}`
  return id ?? nameOf(page)
}

/** The lists beside this one. */
export const Tabs = ({ page }: { page: string }) => {
  const group = groupOf(page)
  if (group.length === 1) return null
  return (
    <nav class="line" aria-label="Lists">
      {group.map((name) => (
        <a key={name} class="button" href={hrefOf({ page: name })} aria-current={name === page ? 'page' : undefined}>
          {nameOf(name)}
        </a>
      ))}
    </nav>
  )
}

/** The name and address of the operator, which only paper shows. */
const Issuer = () => {
  const issuer = document.querySelector<HTMLElement>('[data-issuer]')?.dataset.issuer
  return issuer ? <address>{visibleLines(issuer)}</address> : null
}

/** A list with its search, its filters and its pages. */
export const Lists = ({ place: { page, id: _, ...query } }: { place: Place }) => (
  <div class="stack">
    <Tabs page={page} />
    {page === 'statement' && <Issuer />}
    <Listed key={page} page={page} query={query} isMain />
  </div>
)

interface ListedProps {
  page: string
  query: Filters
  /** True if the filters of the list change the address. */
  isMain?: boolean
}

export const Listed = ({ page, query, isMain = false }: ListedProps) => {
  const { value, error, reload } = useLoaded(
    async () => ({ list: await read<ListPage>(['list', page], query) }),
    [page, JSON.stringify(query)],
  )
  const [whole, setWhole] = useState<ListPage>()
  useEffect(() => {
    if (!whole) return
    print()
    setWhole(undefined)
  }, [whole])
  const list = whole ?? value?.list
  const isNarrowed = Object.keys(query).some((name) => name !== 'of')
  const isStatement = page === 'statement'
  const save = () => act(() => download(page, ['list', page], query), 'Saved as CSV')
  const toPaper = () => act(async () => setWhole(await read<ListPage>(['list', page], { ...query, whole: '1' })))
  return (
    <List
      title={titleOf({ ...query, page })}
      page={page}
      list={list}
      empty={isNarrowed && !isStatement ? 'Nothing matches.' : EMPTY[page]}
      query={query}
      {...(isMain ? !whole && { onQuery: (query) => go({ ...query, page }) } : { all: hrefOf({ ...query, page }) })}
      aside={
        <>
          {isStatement && list?.sums && <Button text="Print" onClick={toPaper} />}
          {list && list.rows.length > 0 && <Button text="CSV" aria-label={`Save ${page} as CSV`} onClick={save} />}
        </>
      }
    >
      <Failed error={error} />
      {isMain && <Acts acts={MAKING[page] ?? []} onDone={reload} />}
    </List>
  )
}
