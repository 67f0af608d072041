/** What the control API answers, as far as the console reads it. */

export interface RequestHead {
  id: number
  world: string
  request_id: string
  at: string
  method: string
  path: string
  route: string | null
  client: string | null
  request: { headers: Record<string, string> }
  response: { status: number; headers: Record<string, string> }
  duration_ms: number
  fault: string | null
  outcome: string | null
  message: string | null
  changes: { table: string; operation: string; key: string }[]
  events: string[]
}

export interface Delivery {
  id: string
  webhook_id: string
  event_id: string
  event_type: string
  attempt: number
  status: 'delivered' | 'retrying' | 'failed'
  response_status: number | null
  duration_ms: number
  response_body: string | null
  error: string | null
  next_attempt_at: string | null
  created_at: string
}

export type RowValues = Record<string, string | number | null>

export interface RowChange {
  table: string
  operation: 'insert' | 'update' | 'delete'
  key: string
  /** Both null when nobody looked while it happened. */
  before: RowValues | null
  after: RowValues | null
  /** Null when the row is gone. */
  now: RowValues | null
}

export interface RequestDetail extends Omit<RequestHead, 'changes'> {
  request: RequestHead['request'] & { body: string | null }
  response: RequestHead['response'] & { body: string | null }
  changes: RowChange[]
  ledger: LedgerEntry[]
  caused: ScripEvent[]
  deliveries: Delivery[]
}

export interface DocumentedError {
  name: string
  status: number
  method: string
  path: string
}

export interface World {
  name: string
  username: string
  now: string
}

export interface ScripEvent {
  id: string
  type: string
  created_at: string
  data: Record<string, unknown>
}

export interface Clock {
  now: string
  frozen: boolean
  happened: ScripEvent[]
}

/** What the clock does next. */
export interface Due {
  at: string
  kind: 'order' | 'payout' | 'delivery'
  id: string
  /** The type of the event that happens, or is delivered. */
  next: string
  webhook: string | null
  attempt: number | null
}

export interface Rule {
  id: number
  error: string | null
  status: number | null
  delay_ms: number
  drop: boolean
  when: string
  webhook?: string
  match: { method: string | null; path: string | null; type?: string }
  cut_after_bytes: number | null
  bytes_per_second: number | null
  times_left: number | null
  probability: number
}

/** The response to a request that the control API has sent. */
export interface Sent {
  status: number
  headers: Record<string, string>
  body: string
}

export interface SandboxClient {
  client_id: number
  username: string
}

export interface LedgerEntry {
  id: number
  source_type: string
  source_id: string | null
  created_at: string
  lines: { account: string; wallet_id: number | null; currency: string; amount: number }[]
}

export interface Coverage {
  summary: string
  documented: number
  exercised: number
  percent: number
  outcomes: { operation: string; method: string; path: string; status: number; name: string; count: number }[]
  events: { type: string; count: number; delivered: number }[]
}

export interface InboxMessage {
  id: number | string
  name: string
  received_at: string
  method: string
  headers: Record<string, string>
  body: string
}
