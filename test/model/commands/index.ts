import { beneficiaryCommands } from './beneficiaries.ts'
import { catalogCommands } from './catalog.ts'
import { chargeCommands } from './charges.ts'
import type { Command } from './command.ts'
import { editingCommands } from './editing.ts'
import { faultCommands } from './faults.ts'
import { heldCommands } from './held.ts'
import { operatorCommands } from './operator.ts'
import { orderCommands } from './orders.ts'
import { payoutCommands } from './payouts.ts'
import { recordCommands } from './records.ts'
import { referenceCommands } from './reference.ts'
import { requestLogCommands } from './request-log.ts'
import { restartCommands } from './restarts.ts'
import { scenarioCommands } from './scenarios.ts'
import { sessionCommands } from './sessions.ts'
import { sundryCommands } from './sundry.ts'
import { togetherCommands } from './together.ts'
import { walletCommands } from './wallets.ts'
import { webhookCommands } from './webhooks.ts'
import { worldCommands } from './worlds.ts'

/** Everything that a script can do, one file for each module. */
export const COMMANDS: readonly Command[] = [
  ...sessionCommands,
  ...beneficiaryCommands,
  ...catalogCommands,
  ...chargeCommands,
  ...referenceCommands,
  ...walletCommands,
  ...orderCommands,
  ...payoutCommands,
  ...worldCommands,
  ...operatorCommands,
  ...editingCommands,
  ...webhookCommands,
  ...scenarioCommands,
  ...recordCommands,
  ...faultCommands,
  ...requestLogCommands,
  ...togetherCommands,
  ...heldCommands,
  ...sundryCommands,
  ...restartCommands,
]
