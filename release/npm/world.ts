import { type Control, controlWith } from './control.ts'
import { askControl, type ControlBody, type ControlOptions, type ControlResponse } from './control-request.ts'
import { send } from './send.ts'

/** The time of a world, which stands still or runs. */
export type ClockState = ControlResponse<'moveClock'>

/** The clock of a world. It does not go back. */
export interface Clock {
  get(): Promise<ClockState>
  /** Sets it to an RFC 3339 time or a Date; it stands still afterwards, or goes on running. */
  set(now: string | Date, options?: { frozen?: boolean }): Promise<ClockState>
  /** Moves it on by an ISO 8601 duration such as `PT5M`. */
  advance(duration: string): Promise<ClockState>
  freeze(): Promise<ClockState>
  thaw(): Promise<ClockState>
}

/** What requests a fault affects, and how; `control.listErrors()` lists the errors by name. */
export type FaultRule = ControlBody<'addFault'>

/** A request of the request log, with its response, the rows that it wrote and the ids of its events. */
export type RecordedRequest = Omit<ControlResponse<'getRequest'>, 'deliveries'>

/** Data, clock, randomness and limits of their own, and a client that is logged in. */
export interface World {
  readonly name: string
  readonly username: string
  readonly password: string
  /** The base URL for your own client. */
  readonly url: string
  /** Good for an hour of the world's clock; `login()` gets another. */
  readonly accessToken: string
  /** Calls the API as the global `fetch` does, with a path and the access token. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Logs in again, for a fresh access token. */
  login(): Promise<void>

  readonly clock: Clock
  /** Makes requests fail, wait or break off. */
  fault(rule: FaultRule): Promise<ControlResponse<'addFault'>>
  /** Removes all fault rules. */
  clearFaults(): Promise<void>
  /** The requests of this world, with their responses and what they wrote. */
  requests(): Promise<RecordedRequest[]>
  /** Sends a request of the request log again, as the same client. */
  replay(id: number): Promise<ControlResponse<'replayRequest'>>
  /** Which documented outcomes the requests of this world have exercised. */
  coverage(): Promise<ControlResponse<'getCoverage'>>
  /** Adds money to a wallet, the first one unless another is given. */
  fund(amount: number, options?: { wallet?: number; remarks?: string }): Promise<ControlResponse<'fundWallet'>>
  openWallet(wallet: ControlBody<'openWallet'>): Promise<ControlResponse<'openWallet'>>
  /** Lets the clock move payouts and orders, or nobody but this client. */
  pace(pace: ControlBody<'setPace'>): Promise<ControlResponse<'setPace'>>
  readonly payouts: {
    /** Moves a payout on by one step, or as far as a status. */
    advance(id: string, to?: NonNullable<ControlBody<'advancePayout'>['to']>): Promise<ControlResponse<'advancePayout'>>
    fail(id: string, failure?: ControlBody<'failPayout'>): Promise<ControlResponse<'failPayout'>>
    /** Returns the money of a completed payout. */
    return(id: string): Promise<ControlResponse<'returnPayout'>>
  }
  readonly orders: {
    /** Delivers an order, or this many of its vouchers. */
    deliver(id: number, quantity?: number): Promise<ControlResponse<'deliverOrder'>>
    fail(id: number, reason?: string): Promise<ControlResponse<'failOrder'>>
    /** Refunds a delivered order, or some of its vouchers. */
    refund(id: number, refund?: ControlBody<'refundOrder'>): Promise<ControlResponse<'refundOrder'>>
  }

  readonly products: {
    /** Changes a product: `{ active: false }` withdraws it, `{ stock: 0 }` sells it out. */
    edit(id: number, changes: ControlBody<'editProduct'>): Promise<ControlResponse<'editProduct'>>
  }
  readonly rates: {
    get(): Promise<ControlResponse<'getRates'>>
    set(rates: ControlBody<'setRates'>): Promise<ControlResponse<'setRates'>>
  }
  readonly clients: {
    list(): Promise<ControlResponse<'listSandboxClients'>>
    add(client: ControlBody<'addSandboxClient'>): Promise<ControlResponse<'addSandboxClient'>>
    edit(id: number, changes: ControlBody<'editSandboxClient'>): Promise<ControlResponse<'editSandboxClient'>>
  }

  /** Every movement of money, as balanced double entries. */
  ledger(): Promise<ControlResponse<'listLedgerEntries'>>
  readonly webhooks: {
    /** Resolves when nothing is left to deliver at the world's present time. */
    settle(): Promise<ControlResponse<'settleWebhooks'>>
    /** Makes an event that changes no record. */
    event(event: ControlBody<'makeEvent'>): Promise<ControlResponse<'makeEvent'>>
    /** What the inboxes of this world have received. */
    inbox(): Promise<ControlResponse<'listInbox'>>
  }
  readonly scenario: {
    /** The world as one document. */
    get(): Promise<ControlResponse<'getScenario'>>
    /** Replaces the world by one document. */
    load(scenario: ControlBody<'loadScenario'>): Promise<ControlResponse<'loadScenario'>>
  }

  /** Keeps the world as it is now, under a name that all worlds share. */
  snapshot(name: string): Promise<void>
  /** Puts the world back to a snapshot. The access token is good if the snapshot has it; otherwise `login()` again. */
  restore(snapshot: string): Promise<void>
  /** Makes another world that goes on from this one, and logs in to it. */
  copy(name: string): Promise<World>
  /** Puts the world back to its first state, and logs in again. */
  reset(): Promise<void>
  /** Deletes the world. */
  drop(): Promise<void>
  /** Every operation of `/_sandbox`, by its name in the OpenAPI document, for this world. */
  readonly control: Control
}

const PASSWORD = 'test'

/** Makes a world, as it is seeded or as a copy of a world or a snapshot, and logs in to it. @throws ScripError */
export const openWorld = async (options: ControlOptions & { world: string }, from?: string): Promise<World> => {
  const { world: name, url } = options
  const username = `sbx_${name}`
  const control = controlWith(askControl(options))
  let accessToken = ''
  const login = async (): Promise<void> => {
    const pair = await send(`${url}/auth/login`, 'POST', { username, password: PASSWORD })
    accessToken = (pair as { access_token: string }).access_token
  }
  await control.makeWorld({ path: { name }, body: from === undefined ? {} : { from } })
  await login()
  return {
    name,
    username,
    password: PASSWORD,
    url,
    get accessToken() {
      return accessToken
    },
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers)
      if (!headers.has('authorization')) headers.set('authorization', `Bearer ${accessToken}`)
      return fetch(new URL(path, url), { ...init, headers })
    },
    login,
    ...controlsOf(control),
    restore: async (snapshot) => {
      await control.restoreSnapshot({ path: { name: snapshot } })
    },
    copy: (copyName) => openWorld({ ...options, world: copyName }, name),
    reset: async () => {
      await control.resetWorld()
      await login()
    },
    drop: async () => {
      await control.dropWorld({ path: { name } })
    },
    control,
  }
}

const controlsOf = (control: Control) => ({
  clock: {
    get: () => control.getClock(),
    set: (now: string | Date, { frozen }: { frozen?: boolean } = {}) =>
      control.moveClock({
        body: { now: now instanceof Date ? now.toISOString() : now, ...(frozen !== undefined && { frozen }) },
      }),
    advance: (duration: string) => control.moveClock({ body: { advance: duration } }),
    freeze: () => control.moveClock({ body: { frozen: true } }),
    thaw: () => control.moveClock({ body: { frozen: false } }),
  },
  fault: (rule: FaultRule) => control.addFault({ body: rule }),
  clearFaults: async () => {
    await control.clearFaults()
  },
  requests: async () => {
    const requests = await control.listRequests()
    return Array.isArray(requests) ? requests : []
  },
  coverage: () => control.getCoverage(),
  fund: (amount: number, { wallet = 1, remarks }: { wallet?: number; remarks?: string } = {}) =>
    control.fundWallet({ path: { id: wallet }, body: { amount, ...(remarks !== undefined && { remarks }) } }),
  openWallet: (wallet: ControlBody<'openWallet'>) => control.openWallet({ body: wallet }),
  pace: (pace: ControlBody<'setPace'>) => control.setPace({ body: pace }),
  payouts: {
    advance: (id: string, to?: NonNullable<ControlBody<'advancePayout'>['to']>) =>
      control.advancePayout({ path: { id }, body: to === undefined ? {} : { to } }),
    fail: (id: string, failure: ControlBody<'failPayout'> = {}) => control.failPayout({ path: { id }, body: failure }),
    return: (id: string) => control.returnPayout({ path: { id } }),
  },
  orders: {
    deliver: (id: number, quantity?: number) =>
      control.deliverOrder({ path: { id }, body: quantity === undefined ? {} : { quantity } }),
    fail: (id: number, reason?: string) =>
      control.failOrder({ path: { id }, body: reason === undefined ? {} : { failure_reason: reason } }),
    refund: (id: number, refund: ControlBody<'refundOrder'> = {}) =>
      control.refundOrder({ path: { id }, body: refund }),
  },
  replay: (id: number) => control.replayRequest({ path: { id } }),
  products: {
    edit: (id: number, changes: ControlBody<'editProduct'>) => control.editProduct({ path: { id }, body: changes }),
  },
  rates: {
    get: () => control.getRates(),
    set: (rates: ControlBody<'setRates'>) => control.setRates({ body: rates }),
  },
  clients: {
    list: () => control.listSandboxClients(),
    add: (client: ControlBody<'addSandboxClient'>) => control.addSandboxClient({ body: client }),
    edit: (id: number, changes: ControlBody<'editSandboxClient'>) =>
      control.editSandboxClient({ path: { id }, body: changes }),
  },
  ledger: () => control.listLedgerEntries(),
  webhooks: {
    settle: () => control.settleWebhooks(),
    event: (event: ControlBody<'makeEvent'>) => control.makeEvent({ body: event }),
    inbox: () => control.listInbox(),
  },
  scenario: {
    get: () => control.getScenario(),
    load: (scenario: ControlBody<'loadScenario'>) => control.loadScenario({ body: scenario }),
  },
  snapshot: async (name: string) => {
    await control.keepSnapshot({ path: { name } })
  },
})
