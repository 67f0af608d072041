/** The longest result of a tool, about 25,000 tokens: all of it goes into the context of an agent (decision 115). */
const LENGTH_MAX = 100_000

interface Fit {
  text: string
  /** Says which part was left out, and how to get it; undefined if the data is complete. */
  rest?: string
}

/** The data as JSON. Of a list that is too long, the first items; of anything else, the beginning of its text. */
export const fitting = (data: unknown): Fit => {
  const text = JSON.stringify(data, null, 2)
  if (text.length <= LENGTH_MAX) return { text }
  const items: readonly unknown[] = Array.isArray(data) ? data : []
  const count = countFitting(items)
  if (count > 0) {
    return {
      text: JSON.stringify(items.slice(0, count), null, 2),
      rest: `Only the first ${count} of ${items.length} items are here. Page through them with limit and page in the path, or filter them.`,
    }
  }
  return {
    text: text.slice(0, LENGTH_MAX),
    rest: `Only the first ${LENGTH_MAX} of ${text.length} characters are here. Ask for one record, or with a filter.`,
  }
}

const countFitting = (items: readonly unknown[]): number => {
  let length = 0
  const next = items.findIndex((item) => {
    length += JSON.stringify([item], null, 2).length
    return length > LENGTH_MAX
  })
  return next < 0 ? items.length : next
}

export const cut = (words: string): string =>
  words.length <= LENGTH_MAX
    ? words
    : `${words.slice(0, LENGTH_MAX)}\nOnly the first ${LENGTH_MAX} of ${words.length} characters are here.`
