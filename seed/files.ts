import { join } from 'node:path'

const SEED_FOLDER = import.meta.dir

/** The rows that stand in a seed file, or none when the file is made for the first time. */
export const readRows = async <Row>(name: string): Promise<Row[]> => {
  const file = Bun.file(join(SEED_FOLDER, name))
  if (!(await file.exists())) return []
  return rowsOf<Row>(await file.json())
}

const rowsOf = <Row>(content: Row[] | { products: Row[] }): Row[] =>
  Array.isArray(content) ? content : content.products

/** Writes a file and says whether that changed it. */
export const writeIfChanged = async (name: string, text: string): Promise<boolean> => {
  const file = Bun.file(join(SEED_FOLDER, name))
  if ((await file.exists()) && (await file.text()) === text) return false
  await Bun.write(file, text)
  return true
}

/** A JSON array with one record per line, so that a change of one record is a change of one line. */
export const oneRowPerLine = (rows: readonly object[]): string =>
  `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`
