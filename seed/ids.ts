export type Numbered<Row> = { id: number } & Row

/** Existing rows keep their ids, and none may leave: clients store ids, and a free one would get another meaning. */
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
