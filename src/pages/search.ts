/** One search for the reference, the palette of the console and agents. */

/** A searched entry. A match in the title counts more than one in the words, and that more than one in the text. */
export interface Searched {
  title: string
  /** Further names that find the entry. */
  words: string
  text: string
}

/** Synonyms: a word also finds the matches of the others in its line, ranked below its own. */
const SYNONYMS = [
  ['lose', 'losing', 'lost', 'drop', 'disconnect', 'cut', 'network'],
  ['refund', 'money back', 'returned', 'reverse', 'chargeback'],
  ['create', 'make', 'add', 'new', 'register', 'place'],
  ['voucher', 'gift card', 'code', 'redeem'],
  ['pay', 'payout', 'transfer', 'send'],
  ['fund', 'top up', 'topup', 'deposit', 'credit', 'balance', 'money'],
]

/** Words of a question without meaning for the search. */
const STOP_WORDS = new Set(
  'a an and are can do does for how i in is it me my of on or some the there to what which with'.split(' '),
)

/** A typed word with its synonyms. */
interface Term {
  word: string
  names: readonly string[]
}

export const termsIn = (typed: string): Term[] => {
  const words = typed
    .toLowerCase()
    .split(/[\s,?!]+/)
    .filter(Boolean)
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  return (telling.length > 0 ? telling : words).map((word) => ({ word, names: namesOf(word) }))
}

const namesOf = (word: string): string[] =>
  SYNONYMS.filter((line) => line.some((name) => name === word || (word.length > 3 && name.startsWith(word)))).flat()

const WEIGHTS = [9, 4, 2]
/** A typed word counts more than a synonym. */
const TYPED = 5

/** The words of a text, and of the names in it: `placeOrder`, `rate_limited`, `/api/v1/orders`. */
const spaced = (text: string): string =>
  ` ${text
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase()} `

/**
 * The entries in which most of the words occur, synonyms included, the best first. A typed word may be the beginning of
 * another.
 */
export const search = <Entry extends Searched>(entries: readonly Entry[], terms: readonly Term[]): Entry[] => {
  const spacedTerms = terms.map(({ word, names }) => ({ word: spaced(word).trimEnd(), names: names.map(spaced) }))
  const scored = entries.map((entry) => {
    const parts = [entry.title, entry.words, entry.text].map(spaced)
    const weightOf = (name: string): number => WEIGHTS[parts.findIndex((part) => part.includes(name))] ?? 0
    const weights = spacedTerms.map(({ word, names }) => Math.max(TYPED * weightOf(word), ...names.map(weightOf)))
    const met = weights.filter((weight) => weight > 0).length
    return { entry, met, score: weights.reduce((sum, weight) => sum + weight, 0) }
  })
  const most = Math.max(0, ...scored.map(({ met }) => met))
  return scored
    .filter(({ met }) => met === most && (met > 0 || terms.length === 0))
    .sort((one, other) => other.score - one.score)
    .map(({ entry }) => entry)
}
