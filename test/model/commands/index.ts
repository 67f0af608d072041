import { beneficiaryCommands } from './beneficiaries.ts'
import { catalogCommands } from './catalog.ts'
import { chargeCommands } from './charges.ts'
import type { Command } from './command.ts'
import { editingCommands } from './editing.ts'
import { eventCommands } from './events.ts'
import { operatorCommands } from './operator.ts'
import { orderCommands } from './orders.ts'
import { payoutCommands } from './payouts.ts'
import { restartCommands } from './restarts.ts'
import { sessionCommands } from './sessions.ts'
import { togetherCommands } from './together.ts'
import { walletCommands } from './wallets.ts'
import { worldCommands } from './worlds.ts'

/** All commands of scripts, one file for each module. */
export const COMMANDS: readonly Command[] = [
  ...sessionCommands,
  ...beneficiaryCommands,
  ...catalogCommands,
  ...chargeCommands,
  ...walletCommands,
  ...orderCommands,
  ...payoutCommands,
  ...worldCommands,
  ...operatorCommands,
  ...editingCommands,
  ...eventCommands,
  ...togetherCommands,
  ...restartCommands,
]
