import type { Entry } from '../../../../docs/document.ts'
import { Select } from '../../../../pages/ui/forms.tsx'
import { useLoaded } from '../../../../pages/ui/hooks.ts'
import { parsedOf } from '../../../../pages/ui/pieces.tsx'
import { get } from '../api.ts'
import { inboxUrl } from '../events/inbox.tsx'
import type { TestValueLists } from '../types.ts'
import { exampleOf } from './operations.ts'

interface Props {
  entry: Entry
  world: string
  body: string | undefined
  onBody: (body: string) => void
  onValue: (name: string, value: string) => void
}

interface Offer {
  title: string
  member: string
  value: string | number
}

/** Offers the test values that the request can take. */
export const TestValues = ({ entry, world, body, onBody, onValue }: Props) => {
  const { value: lists } = useLoaded(() => get<TestValueLists>('/test-values'), [])
  const example = exampleOf(entry)
  const isInPath = ({ member }: Offer) => member === 'product_id' && entry.path.startsWith('/api/v1/products/{id}')
  const inbox: Offer = { title: 'webhook: an inbox of this world', member: 'url', value: inboxUrl(world) }
  const offers = [...offersOf(lists), inbox].filter(
    (offer) => isInPath(offer) || example?.includes(`"${offer.member}"`),
  )
  if (offers.length === 0) return null
  const use = (offer: Offer): void => {
    const parsed = parsedOf(body ?? '{}')
    if (isInPath(offer)) onValue('id', String(offer.value))
    // A body that is not JSON has no member to change.
    else if (parsed) onBody(JSON.stringify({ ...(parsed.value as object), [offer.member]: offer.value }, null, 2))
  }
  return (
    <label>
      Test value
      <Select
        value=""
        options={[['', 'Choose what should happen…'], ...offers.map(({ title }) => [title, title] as const)]}
        onChoose={(chosen) => {
          const offer = offers.find(({ title }) => title === chosen)
          if (offer) use(offer)
        }}
      />
    </label>
  )
}

const offersOf = ({ products, payouts, amounts }: TestValueLists = { products: [], payouts: [], amounts: [] }) => {
  const offer = (member: string, name: string, value: string | number, shown = value): Offer => {
    return { title: `${name}: ${shown}`, member, value }
  }
  return [
    ...products.map(({ case: name, product_id: id }) => offer('product_id', name, id, `product ${id}`)),
    ...payouts.map(({ outcome, email }) => offer('beneficiary_email', outcome, email)),
    ...amounts.map(({ case: name, amount }) => offer('amount', name, amount)),
  ]
}
