import { catalogText, makeProducts, type Product } from './catalog.ts'
import { type Country, makeCountries } from './countries.ts'
import { type Currency, makeCurrencies } from './currencies.ts'
import { oneRowPerLine, readRows, writeIfChanged } from './files.ts'
import { type Numbered, withStableIds } from './ids.ts'
import { makeMotifs } from './pictures.ts'

interface Making<Row extends object> {
  file: string
  fresh: Row[]
  keyOf: (row: Row) => string
  write: (rows: readonly Numbered<Row>[]) => string
}

const make = async <Row extends object>({ file, fresh, keyOf, write }: Making<Row>): Promise<void> => {
  const standing = await readRows<Numbered<Row>>(file)
  const rows = withStableIds(standing, fresh, keyOf)
  const wasChanged = await writeIfChanged(file, write(rows))
  const added = rows.length - standing.length
  console.log(`${file}: ${rows.length} rows, ${wasChanged ? `rewritten, ${added} new` : 'unchanged'}`)
}

await make<Country>({
  file: 'countries.json',
  fresh: makeCountries(),
  keyOf: (country) => country.alpha_3,
  write: oneRowPerLine,
})

await make<Currency>({
  file: 'currencies.json',
  fresh: makeCurrencies(),
  keyOf: (currency) => currency.currency,
  write: oneRowPerLine,
})

await make<Product>({
  file: 'catalog.json',
  fresh: makeProducts(),
  keyOf: (product) => product.name,
  write: catalogText,
})

console.log(`motifs.json: ${(await writeIfChanged('motifs.json', makeMotifs())) ? 'rewritten' : 'unchanged'}`)
