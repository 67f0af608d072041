import type { Ask } from './connection.ts'
import { LAST_SEQ } from './schema.ts'

/** Changes are kept for this time (contract C18). */
const KEPT = "interval '24 hours'"
const KEPT_BYTES_MAX = 1_073_741_824

/** Deletes changes and followers that are no longer kept. The last change stays. */
export const prune = async (ask: Ask): Promise<void> => {
  await ask(`DELETE FROM scrip.changes WHERE at < clock_timestamp() - ${KEPT} AND seq < ${LAST_SEQ}`)
  await ask("DELETE FROM scrip.followers WHERE at < clock_timestamp() - interval '1 minute'")
  // Later rows reuse the space of deleted ones, so the size of the table alone is too large.
  await ask(
    `DELETE FROM scrip.changes WHERE pg_total_relation_size('scrip.changes') > $1
      AND seq < ${LAST_SEQ}
      AND seq <= (SELECT max(seq) FROM (
        SELECT seq, sum(pg_column_size(rows)) OVER (ORDER BY seq DESC) AS bytes FROM scrip.changes
      ) AS sizes WHERE bytes > $1)`,
    [KEPT_BYTES_MAX],
    60_000,
  )
}
