import { get } from '../api.ts'
import { useLoaded } from '../ui.tsx'
import type { Operation } from './operations.ts'

interface TestValueLists {
  products: { case: string; product_id: number; about: string }[]
  payouts: { outcome: string; email: string; about: string }[]
  amounts: { case: string; amount: number; about: string }[]
}

interface Props {
  operation: Operation
  body: string | undefined
  onBody: (body: string) => void
  onValue: (name: string, value: string) => void
}

interface Offer {
  title: string
  member: string
  value: string | number
}

/** Offers the values that behave specially, where the request has a place for them. */
export const TestValues = ({ operation, body, onBody, onValue }: Props) => {
  const { value: lists } = useLoaded(() => get<TestValueLists>('/test-values'), [])
  const isOfProduct = operation.path.startsWith('/api/v1/products/{id}')
  const offers = offersOf(lists).filter(({ member }) =>
    member === 'product_id' && isOfProduct ? true : operation.body?.includes(`"${member}"`),
  )
  if (offers.length === 0) return null
  const use = ({ member, value }: Offer): void => {
    if (member === 'product_id' && isOfProduct) {
      onValue('id', String(value))
      return
    }
    try {
      onBody(JSON.stringify({ ...(JSON.parse(body ?? '{}') as object), [member]: value }, null, 2))
    } catch {
      // What is not JSON has no member to change.
    }
  }
  return (
    <label>
      Test value
      <select
        value=""
        onChange={({ currentTarget }) => {
          const offer = offers[Number(currentTarget.value)]
          if (offer) use(offer)
        }}
      >
        <option value="">Choose what should happen…</option>
        {offers.map(({ title }, index) => (
          <option key={title} value={index}>
            {title}
          </option>
        ))}
      </select>
    </label>
  )
}

const offersOf = (lists: TestValueLists | undefined): Offer[] => [
  ...(lists?.products ?? []).map((each) => ({
    title: `${each.case}: product ${each.product_id}`,
    member: 'product_id',
    value: each.product_id,
  })),
  ...(lists?.payouts ?? []).map((each) => ({
    title: `${each.outcome}: ${each.email}`,
    member: 'beneficiary_email',
    value: each.email,
  })),
  ...(lists?.amounts ?? []).map((each) => ({
    title: `${each.case}: ${each.amount}`,
    member: 'amount',
    value: each.amount,
  })),
]
