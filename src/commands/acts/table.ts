import type { Act, Acts } from '../../acts/act.ts'
import { beneficiaryActs } from '../../acts/beneficiaries.ts'
import { clientActs } from '../../acts/clients.ts'
import type { Noun } from '../../acts/kind.ts'
import { orderActs } from '../../acts/orders.ts'
import { payoutActs } from '../../acts/payouts.ts'
import { rateActs } from '../../acts/rates.ts'
import { voucherActs } from '../../acts/vouchers.ts'
import { walletActs } from '../../acts/wallets.ts'
import { webhookActs } from '../../acts/webhooks.ts'
import { backupAct } from '../data/backup.ts'
import { catalogActs } from '../records/catalog.ts'

/** By the groups of their commands. */
export const NOUNS: Readonly<Record<string, Noun>> = {
  beneficiary: beneficiaryActs,
  catalog: catalogActs,
  client: clientActs,
  orders: orderActs,
  payouts: payoutActs,
  rates: rateActs,
  vouchers: voucherActs,
  wallet: walletActs,
  webhooks: webhookActs,
}

/** The acts that a server can perform: one that needs the folder alone runs without a server. */
const actsOf = ([group, noun]: [string, Noun]): [string, Act][] =>
  Object.entries(noun).flatMap(([verb, said]) => ('perform' in said && !said.alone ? [[`${group} ${verb}`, said]] : []))

/** The acts that a server performs for commands. */
export const ACTS: Acts = { ...Object.fromEntries(Object.entries(NOUNS).flatMap(actsOf)), backup: backupAct }
