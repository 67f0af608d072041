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

/** A value that makes something happen, and the member of a body that takes it. */
interface Offer {
  title: string
  member: string
  value: string | number
}

/** Offers the test values that the request can take. */
export const TestValues = ({ entry, world, body, onBody, onValue }: Props) => {
  const { value: lists } = useLoaded(() => get<TestValueLists>('/test-values'), [])
  const isInPath = ({ member }: Offer) => member === 'product_id' && entry.path.startsWith('/api/v1/products/{id}')
  const offers = offersOf(lists, world).filter(
    (offer) => isInPath(offer) || exampleOf(entry)?.includes(`"${offer.member}"`),
  )
  if (offers.length === 0) return null
  const choose = (chosen: string): void => {
    const offer = offers.find(({ title }) => title === chosen)
    if (!offer) return
    const parsed = parsedOf(body ?? '{}')
    if (isInPath(offer)) onValue('id', String(offer.value))
    // A body that is not JSON has no member to change.
    else if (parsed) onBody(JSON.stringify({ ...(parsed.value as object), [offer.member]: offer.value }, null, 2))
  }
  const options = offers.map(({ title }) => [title, title] as const)
  return (
    <label>
      Test value
      <Select value="" options={[['', 'Choose what should happen…'], ...options]} onChoose={choose} />
    </label>
  )
}

const offersOf = (lists: TestValueLists | undefined, world: string): Offer[] => {
  const offer = (member: string, name: string, value: string | number): Offer => {
    return { title: `${name}: ${value}`, member, value }
  }
  const { products = [], payouts = [], amounts = [] } = lists ?? {}
  return [
    ...products.map(({ case: name, product_id: id }) => offer('product_id', name, id)),
    ...payouts.map(({ outcome, email }) => offer('beneficiary_email', outcome, email)),
    ...amounts.map(({ case: name, amount }) => offer('amount', name, amount)),
    { ...offer('url', 'webhook', inboxUrl(world)), title: 'webhook: an inbox of this world' },
  ]
}
