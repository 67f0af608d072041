import { SECOND_MS } from '../../kernel/clock.ts'
import type { Labelled, Metrics } from '../../observability/metrics.ts'
import type { RecordServer } from '../../record/server.ts'

const STATES = ['active', 'warm', 'pulling', 'waiting'] as const

/** The metrics of a server with a record (contract C18). */
export const watchRecord = (metrics: Metrics, record: RecordServer): void => {
  const watch = (name: string, help: string, read: () => number) => metrics.watch(name, help, [], () => [[{}, read()]])
  metrics.watch('scrip_record_role', 'What the server is; 1 for its role.', ['role'], () =>
    STATES.map((role): Labelled => [{ role }, record.state === role ? 1 : 0]),
  )
  watch('scrip_record_epoch', 'Epoch of the lease.', () => record.position.epoch)
  watch('scrip_record_seq', 'Last commit of the copy.', () => record.position.seq)
  watch('scrip_record_lag_commits', 'Commits that the copy is behind.', () => record.position.lagCommits)
  watch('scrip_record_lag_seconds', 'How long the copy has been behind.', () => record.position.lagSeconds)
  watch('scrip_record_commits', 'Commits to the record since the start.', () => record.totals.commits)
  watch('scrip_record_commit_seconds', 'Time of these commits.', () => record.totals.seconds)
  watch('scrip_record_commits_unknown', 'Commits that were not answered, and looked up.', () => record.totals.unknown)
  watch('scrip_record_commits_refused', 'Units of work that PostgreSQL refused.', () => record.totals.refused)
  watch('scrip_record_renewals_failed', 'Renewals of the lease that failed.', () => record.totals.failedRenewals)
  watch('scrip_record_takeovers', 'How often this server took the lease.', () => record.totals.takeovers)
  watch(
    'scrip_record_renewal_age_seconds',
    'Time since the last renewal of the lease.',
    () => record.sinceRenewalMs / SECOND_MS,
  )
}
