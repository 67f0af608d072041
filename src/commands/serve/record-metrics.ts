import { SECOND_MS } from '../../kernel/clock.ts'
import type { Labelled, Metrics } from '../../observability/metrics.ts'
import type { RecordServer } from '../../record/server.ts'

const STATES = ['active', 'warm', 'pulling', 'waiting'] as const

/** The metrics of a server with a record (contract C18). */
export const watchRecord = ({ gauge }: Metrics, record: RecordServer): void => {
  const roles = () => STATES.map((role): Labelled => [{ role }, record.state === role ? 1 : 0])
  gauge('scrip_record_role', 'What the server is; 1 for its role.', roles, ['role'])
  gauge('scrip_record_epoch', 'Epoch of the lease.', () => record.position.epoch)
  gauge('scrip_record_seq', 'Last commit of the copy.', () => record.position.seq)
  gauge('scrip_record_lag_commits', 'Commits that the copy is behind.', () => record.position.lagCommits)
  gauge('scrip_record_lag_seconds', 'How long the copy has been behind.', () => record.position.lagSeconds)
  gauge('scrip_record_commits', 'Commits to the record since the start.', () => record.totals.commits)
  gauge('scrip_record_commit_seconds', 'Time of these commits.', () => record.totals.seconds)
  gauge('scrip_record_commits_unknown', 'Commits that were not answered, and looked up.', () => record.totals.unknown)
  gauge('scrip_record_commits_refused', 'Units of work that PostgreSQL refused.', () => record.totals.refused)
  gauge('scrip_record_renewals_failed', 'Renewals of the lease that failed.', () => record.totals.failedRenewals)
  gauge('scrip_record_takeovers', 'How often this server took the lease.', () => record.totals.takeovers)
  gauge(
    'scrip_record_renewal_age_seconds',
    'Time since the last renewal of the lease.',
    () => record.sinceRenewalMs / SECOND_MS,
  )
}
