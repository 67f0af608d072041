import { rateMissing } from '../../charges/contract.ts'
import type { Pricing } from '../../charges/quote.ts'
import { readText } from '../../http/body.ts'
import { STRUCTURED } from '../../http/errors.ts'
import type { Incoming } from '../../http/incoming.ts'
import { parseObject } from '../../http/json.ts'
import type { Session } from '../../sessions/sessions.ts'
import { findPayingWallet, findWallet } from '../../wallets/queries.ts'
import type { World } from '../../work/world.ts'
import { isExempt } from '../control/access.ts'
import type { Exploration } from '../explore/exploration.ts'
import type { Parts } from '../parts.ts'
import type { Injected, ObservedRequest } from '../requests/request-log.ts'
import { type Fault, findFault, inject, lostResponse } from './faults.ts'
import { impaired, responseOf, substituteFor } from './response.ts'

/** Injects faults into requests: before the work, or in place of the response. */
export class Injection {
  readonly #faulty = new WeakMap<Request, Incoming>()

  constructor(private readonly options: Pick<Parts, 'catalog' | 'reference'>) {}

  /** Undefined if no fault comes before the work. @throws DomainError the fault, or validation */
  before(observed: ObservedRequest, world: World, incoming: Incoming, session?: Session): Promise<void> | undefined {
    observed.route = incoming.route || null
    if (isExempt(incoming.route)) return undefined
    const fault = findFault(world, incoming)
    return fault && this.#apply(observed, { fault, incoming, session })
  }

  /** Loses the response to a write if the log says so, before the work or after its commit. @throws DomainError */
  async losing(
    observed: ObservedRequest,
    exploration: Exploration,
    incoming: Incoming,
    session: Session,
  ): Promise<void> {
    const when = await exploration.admitted(incoming, session)
    if (when) await this.#apply(observed, { fault: lostResponse(when), incoming, session })
  }

  /** A request that has a fault. The framework makes another response for HEAD, so faults are applied to what it returns. */
  faulty(request: Request): Incoming | undefined {
    return this.#faulty.get(request)
  }

  /** The response that the client gets instead. Calls `onSettled` as soon as it is known. */
  async replace(
    observed: ObservedRequest,
    injected: Injected,
    response: Response,
    onSettled: () => void,
  ): Promise<Response> {
    const { operation, request } = injected.incoming
    const fault = await this.#withCurrencies(injected)
    if (fault.when === 'after' && fault.delay_ms > 0) await Bun.sleep(fault.delay_ms)
    const substitute = substituteFor(fault, response, operation ?? STRUCTURED)
    if (substitute) {
      observed.failure = fault.failure
      observed.response = substitute
    }
    onSettled()
    return impaired(fault, request, substitute ? responseOf(substitute) : response)
  }

  #apply(observed: ObservedRequest, injected: Injected): Promise<void> | undefined {
    observed.injected = injected
    this.#faulty.set(injected.incoming.request, injected.incoming)
    return injected.fault.when === 'before' ? this.#inject(injected) : undefined
  }

  async #inject(injected: Injected): Promise<void> {
    // For the log: nobody reads the body of a request that fails before its work.
    if (injected.fault.failure) await readText(injected.incoming).catch(() => undefined)
    await inject(await this.#withCurrencies(injected))
  }

  /** A missing rate names the currencies of the request, if it names them itself. */
  async #withCurrencies({ fault, incoming, session }: Injected): Promise<Fault> {
    if (fault.failure?.code !== 'rate_missing' || !session) return fault
    const currencies = await currenciesOf(this.options, incoming, session)
    return currencies ? { ...fault, failure: rateMissing(currencies.from, currencies.to) } : fault
  }
}

/** The currencies of the product or the payout, and of the wallet that pays, if the request names them. */
const currenciesOf = async (
  { catalog, reference }: Pick<Pricing, 'catalog' | 'reference'>,
  incoming: Incoming,
  { world, client }: Session,
): Promise<{ from: string; to: string } | undefined> => {
  try {
    const { product_id: productId, wallet_id: walletId, currency } = parseObject(await readText(incoming))
    const product = catalog.in(world).find(Number(/\/products\/(\d+)\//.exec(incoming.path)?.[1] ?? productId))
    const from = product?.currency ?? reference.findCurrencyByCode(String(currency))
    if (!from) return undefined
    const wallet =
      typeof walletId === 'number'
        ? findWallet(world.db.query, client.id, walletId)
        : findPayingWallet(world.db.query, client.id, from.id)
    return wallet && { from: from.currency, to: reference.getCurrency(wallet.currencyId).currency }
  } catch {
    return undefined // an unreadable body names none
  }
}
