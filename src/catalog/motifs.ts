import motifs from '../../seed/motifs.json' with { type: 'text' }

/** The line drawings of cards, in a box of 200 by 200: by subcategory, else by category, else a gift. */

interface Motifs {
  kinds: Record<string, string[]>
  paths: Record<string, string>
}

let known: Motifs | undefined

/** The same number always chooses the same one of the drawings that fit. */
export const motifPath = (subcategory: string, category: string, choice: number): string => {
  known ??= JSON.parse(motifs) as Motifs
  const { kinds, paths } = known
  const names = [subcategory, category].flatMap((name) => (Object.hasOwn(kinds, name) ? [kinds[name] ?? []] : []))[0]
  const name = names?.[choice % names.length] ?? 'Gift'
  return paths[name] ?? ''
}

/** In degrees. Other categories have a hue of their own, which their name decides. */
const HUES: ReadonlyMap<string, number> = new Map([
  ['Food & Dining', 48],
  ['Groceries', 132],
  ['Fashion & Apparel', 355],
  ['Books & Learning', 306],
  ['Gaming', 284],
  ['Electronics', 262],
  ['Home & Garden', 158],
  ['Health & Beauty', 186],
  ['Travel & Transport', 240],
  ['Entertainment', 332],
  ['Sports & Outdoors', 214],
  ['Gifts & Charity', 20],
])

export const hueOf = (category: string): number => HUES.get(category) ?? Bun.hash.xxHash32(category) % 360
