/** A row as it stands in a file: its content and the id that it keeps for ever. */
export type Numbered<Row> = { id: number } & Row

/**
 * Gives every row its id: the one it already has, or the next free one in the order in which new rows come.
 *
 * Clients store ids, so a row may neither change its id nor leave: were the last row to leave, the next newcomer would get its id.
 */
export const withStableIds = <Row extends object>(
  standing: readonly Numbered<Row>[],
  fresh: readonly Row[],
  keyOf: (row: Row) => string,
): Numbered<Row>[] => {
  refuseRepeatedKeys(fresh, keyOf)
  refuseLostRows(standing, fresh, keyOf)
  const idOf = new Map(standing.map((row) => [keyOf(row), row.id]))
  let lastId = standing.reduce((highest, row) => Math.max(highest, row.id), 0)
  return fresh.map((row) => ({ id: idOf.get(keyOf(row)) ?? ++lastId, ...row })).sort((a, b) => a.id - b.id)
}

const refuseRepeatedKeys = <Row>(rows: readonly Row[], keyOf: (row: Row) => string): void => {
  const seen = new Set<string>()
  for (const row of rows) {
    if (seen.has(keyOf(row))) throw new Error(`${keyOf(row)} is there twice`)
    seen.add(keyOf(row))
  }
}

const refuseLostRows = <Row>(standing: readonly Row[], fresh: readonly Row[], keyOf: (row: Row) => string): void => {
  const kept = new Set(fresh.map(keyOf))
  const lost = standing.map(keyOf).filter((key) => !kept.has(key))
  if (lost.length > 0) throw new Error(`A new making would drop ${lost.join(', ')}, whose ids must not become free`)
}
