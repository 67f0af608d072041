import { Card } from '../../pages/ui/pieces.tsx'
import { Acts } from './acts.tsx'

/** What to do first, in the words of the guide to live mode. */
export const Beginning = ({ onDone }: { onDone: () => void }) => (
  <Card title="Set up">
    <p>There is no client yet. Add one: this creates the database, and shows the password once.</p>
    <Acts acts={['client add']} onDone={onDone} />
    <p>
      Then give it a wallet on its page; its first wallet is its default wallet. Import the catalog, exchange rates and
      the codes: until its codes are there, an order for a product is refused.
    </p>
    <Acts acts={['catalog import', 'rates set', 'vouchers import']} onDone={onDone} />
  </Card>
)
