import type { Acts } from '../../acts/act.ts'
import { backupActs } from '../data/backup.ts'
import { beneficiaryActs } from '../records/beneficiary.ts'
import { catalogActs } from '../records/catalog.ts'
import { clientActs } from '../records/client.ts'
import { orderActs } from '../records/orders.ts'
import { payoutActs } from '../records/payouts.ts'
import { rateActs } from '../records/rates.ts'
import { voucherActs as ofVouchers } from '../records/vouchers.ts'
import { walletActs } from '../records/wallet.ts'
import { webhookActs } from '../records/webhooks.ts'

/** A new key needs the folder for itself. */
const { 'vouchers rekey': _, ...voucherActs } = ofVouchers

/** What a server performs for commands. */
export const ACTS: Acts = {
  ...backupActs,
  ...beneficiaryActs,
  ...catalogActs,
  ...clientActs,
  ...orderActs,
  ...payoutActs,
  ...rateActs,
  ...voucherActs,
  ...walletActs,
  ...webhookActs,
}
