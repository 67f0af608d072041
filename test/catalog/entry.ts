import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One product of a catalog file: valid, with the changes of a test. */
export const catalogEntry = (change: Record<string, unknown> = {}) => ({
  id: 1,
  name: 'Test Card',
  category: 'Gaming',
  sub_category: 'Video Games',
  country: 'USA',
  currency: 'USD',
  delivery_mode: 'digital',
  delivery_time: 'instant',
  validity: '12 months',
  terms: '',
  details: '',
  how_to_use: '',
  active: true,
  stock: null,
  max_quantity: 10,
  gst_percent: 0,
  handling_fee: { fixed: 0, percent: 0 },
  denominations: [{ min_value: 10, max_value: 100, discount: 5 }],
  ...change,
})

/** Writes a file that a flag can name, in a folder of its own. */
export const fileOf = (content: unknown): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'scrip-test-')), 'file.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
