import type { Static } from '@sinclair/typebox'
import type { Json } from '../../../http/json.ts'
import type { Reader } from '../../../http/reader.ts'
import type { listEntries } from '../../control/ledger.ts'
import type { getPace } from '../../control/operator.ts'
import type { listClients } from '../../editing/operations.ts'
import type { listErrors, listFaults } from '../../faults/operations.ts'
import type { listDue } from '../../records/due.ts'
import type { listOrders, listPayouts, listWallets, listWebhooks } from '../../records/routes.ts'
import type { getCoverage } from '../../requests/coverage.ts'
import type { RequestDetail as Detail, RecordedHead, sendRequest } from '../../requests/operations.ts'
import type { getTestValues } from '../../test-values/routes.ts'
import type { listInbox } from '../../webhooks/operations.ts'
import type { getClock, listWorlds } from '../../worlds/operations.ts'

/** What the control API returns, as its operations declare it. */

type ResponseOf<Operation> = Operation extends { response: { 200: Reader<infer Value> } }
  ? Exclude<Value, Json<unknown>>
  : never
type Listed<Operation> = ResponseOf<Operation> extends readonly (infer Item)[] ? Item : never

export type RequestHead = RecordedHead
export type RequestDetail = Static<typeof Detail>
export type RowChange = RequestDetail['changes'][number]
export type RowValues = NonNullable<RowChange['now']>
export type ScripEvent = RequestDetail['caused'][number]
export type Sent = ResponseOf<typeof sendRequest>
export type Coverage = ResponseOf<typeof getCoverage>
export type DocumentedError = Listed<typeof listErrors>
export type Rule = Listed<typeof listFaults>
export type World = Listed<typeof listWorlds>
export type Clock = ResponseOf<typeof getClock>
export type Pace = ResponseOf<typeof getPace>
export type Due = Listed<typeof listDue>
export type SandboxClient = Listed<typeof listClients>
export type Order = Listed<typeof listOrders>
export type Payout = Listed<typeof listPayouts>
export type Wallet = Listed<typeof listWallets>
export type Webhook = Listed<typeof listWebhooks>
export type Delivery = Webhook['deliveries'][number]
export type LedgerEntry = Listed<typeof listEntries>
export type InboxMessage = Listed<typeof listInbox>
export type TestValueLists = ResponseOf<typeof getTestValues>
