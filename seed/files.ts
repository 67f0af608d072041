import { join } from 'node:path'

const seedFolder = import.meta.dir

/** The rows that stand in a seed file, or none when the file is made for the first time. */
export async function readRows<Row>(name: string): Promise<Row[]> {
  const file = Bun.file(join(seedFolder, name))
  if (!(await file.exists())) return []
  return rowsOf<Row>(await file.json())
}

function rowsOf<Row>(content: Row[] | { products: Row[] }): Row[] {
  return Array.isArray(content) ? content : content.products
}

/** Writes a file and says whether that changed it. */
export async function writeIfChanged(name: string, text: string): Promise<boolean> {
  const file = Bun.file(join(seedFolder, name))
  if ((await file.exists()) && (await file.text()) === text) return false
  await Bun.write(file, text)
  return true
}

/** A JSON array with one record per line, so that a change of one record is a change of one line. */
export function oneRowPerLine(rows: readonly object[]): string {
  return `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`
}
