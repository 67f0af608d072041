import type { Act, Acts } from '../../acts/act.ts'
import type { Noun } from '../../acts/kind.ts'

/** The nouns by the groups of their commands. Each loads its modules, because loading all of them takes longer than most commands. */
export const NOUNS = {
  audit: async () => (await import('../../acts/audit.ts')).auditLists,
  beneficiary: async () => (await import('../../acts/beneficiaries.ts')).beneficiaryActs,
  catalog: async () => (await import('../records/catalog.ts')).catalogActs,
  client: async () => (await import('../../acts/clients.ts')).clientActs,
  orders: async () => (await import('../../acts/orders.ts')).orderActs,
  payouts: async () => (await import('../../acts/payouts.ts')).payoutActs,
  rates: async () => (await import('../../acts/rates.ts')).rateActs,
  vouchers: async () => (await import('../../acts/vouchers.ts')).voucherActs,
  wallet: async () => (await import('../../acts/wallets.ts')).walletActs,
  webhooks: async () => (await import('../../acts/webhooks.ts')).webhookActs,
} satisfies Record<string, () => Promise<Noun>>

/** The acts that a server performs for commands. One that needs the folder alone runs without a server. */
export const loadActs = async (): Promise<Acts> => {
  const acts: Record<string, Act> = { backup: (await import('../data/backup.ts')).backupAct }
  for (const [group, load] of Object.entries<() => Promise<Noun>>(NOUNS))
    for (const [verb, entry] of Object.entries(await load()))
      if ('perform' in entry && !entry.alone) acts[`${group} ${verb}`] = entry
  return acts
}
