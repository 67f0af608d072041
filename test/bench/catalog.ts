import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** Catalogs of any size: the shipped one, all of it on sale, repeated under ids and names of its own. */

/** What of a product is changed; the rest is copied. */
type Entry = { id: number; name: string; active: boolean; stock: number | null } & Record<string, unknown>

const SHIPPED = resolve(import.meta.dir, '../../seed/catalog.json')

/** Writes a catalog file of so many products. */
export const writeCatalogOf = (path: string, count: number): void => {
  const { products: shipped } = JSON.parse(readFileSync(SHIPPED, 'utf8')) as { products: Entry[] }
  const products = Array.from({ length: count }, (_, index) => {
    const entry = shipped[index % shipped.length] as Entry
    const edition = Math.floor(index / shipped.length)
    const name = edition === 0 ? entry.name : `${entry.name} ${edition + 1}`
    return { ...entry, id: index + 1, name, active: true, stock: null }
  })
  writeFileSync(path, JSON.stringify({ products }))
}
