import { join } from 'node:path'

const SEED_FOLDER = import.meta.dir

/** Empty if there is no file yet. */
export const readRows = async <Row>(name: string): Promise<Row[]> => {
  const file = Bun.file(join(SEED_FOLDER, name))
  if (!(await file.exists())) return []
  return rowsOf<Row>(await file.json())
}

const rowsOf = <Row>(content: Row[] | { products: Row[] }): Row[] =>
  Array.isArray(content) ? content : content.products

/** Returns whether the file was changed. */
export const writeIfChanged = async (name: string, text: string): Promise<boolean> => {
  const file = Bun.file(join(SEED_FOLDER, name))
  if ((await file.exists()) && (await file.text()) === text) return false
  await Bun.write(file, text)
  return true
}

/** One record per line, so that a change of a record is a change of a line. */
export const oneRowPerLine = (rows: readonly object[]): string =>
  `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`
