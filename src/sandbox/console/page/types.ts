import type { Static } from '@sinclair/typebox'
import type { EntrySchema } from '../../../wallets/ledger-entry.ts'
import type { Pace as PaceSchema } from '../../control/pace.ts'
import type { ClientState } from '../../editing/contract.ts'
import type { WorldOrder, WorldPayout, WorldWallet, WorldWebhook } from '../../records/routes.ts'
import type { RequestDetail as Detail, RecordedHead, Replay } from '../../requests/contract.ts'
import type { ClockState, WorldSummary } from '../../worlds/contract.ts'

/** The types that the operations of the control API return. */

export type { DocumentedError, Rule } from '../../faults/contract.ts'
export type { Due } from '../../records/due.ts'
export type { CoverageReport as Coverage } from '../../requests/contract.ts'
export type { TestValues as TestValueLists } from '../../test-values/routes.ts'
export type { InboxEntry as InboxMessage } from '../../webhooks/inbox.ts'
export type RequestHead = RecordedHead
export type RequestDetail = Static<typeof Detail>
export type RowChange = RequestDetail['changes'][number]
export type RowValues = NonNullable<RowChange['after']>
export type ScripEvent = RequestDetail['caused'][number]
export type Sent = Static<typeof Replay>
export type World = Static<typeof WorldSummary>
export type Clock = Static<typeof ClockState>
export type Pace = Static<typeof PaceSchema>
export type SandboxClient = Static<typeof ClientState>
export type Order = Static<typeof WorldOrder>
export type Payout = Static<typeof WorldPayout>
export type Wallet = Static<typeof WorldWallet>
export type Webhook = Static<typeof WorldWebhook>
export type Delivery = Webhook['deliveries'][number]
export type LedgerEntry = Static<typeof EntrySchema>
