import type { Command } from 'commander'
import type { Shown } from '../../acts/kind.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import type { WalletTransaction } from '../../wallets/queries.ts'
import { TRANSACTION_STATUSES, transactionsOf } from '../../wallets/statement-queries.ts'
import { wholeNumber } from '../arguments.ts'
import { list, listCommand } from './records.ts'

/** `scrip transactions`: every movement of the wallets (contract C11). */
export const transactionsCommand = (transactions: Command): void => {
  const narrowable = { client: true, times: 'made', statuses: TRANSACTION_STATUSES } as const
  listCommand(transactions, 'list the transactions of all wallets, newest first', narrowable)
    .option('--wallet <id>', 'only those of this wallet', wholeNumber)
    .action(
      list(TRANSACTION_COLUMNS, (query, narrowing, _, { wallet }: { wallet?: number }) =>
        transactionsOf(query, narrowing, wallet),
      ),
    )
}

export const TRANSACTION_COLUMNS: Shown<WalletTransaction> = {
  id: ({ id }) => id,
  client: ({ clientId }, { clientName }) => clientName(clientId),
  wallet_id: ({ walletId }) => walletId,
  currency: ({ walletId }, { walletCurrency }) => walletCurrency(walletId).currency,
  transaction_type: ({ transactionType }) => transactionType,
  amount: ({ amountMinor, walletId }, { walletAmount }) => walletAmount(amountMinor, walletId),
  balance_after: ({ balanceAfterMinor, walletId }, { walletAmount }) => walletAmount(balanceAfterMinor, walletId),
  status: ({ status }) => status,
  source_type: ({ sourceType }) => sourceType,
  source_id: ({ sourceId }) => sourceId,
  remarks: ({ remarks }) => remarks,
  created_at: ({ createdAtMs }) => toTimestamp(createdAtMs),
}
