/** How many entries are sorted at once, and merged at once: each takes a millisecond or two. */
const RUN = 4_000
const STEP = 2_000

/** Sorts as `Array.prototype.sort` does, which is stable, but yields between steps, so that others can work. */
export function* sortedInSteps<Entry extends object>(
  entries: readonly Entry[],
  compare: (one: Entry, other: Entry) => number,
): Generator<undefined, readonly Entry[]> {
  let runs: Entry[][] = []
  for (let start = 0; start < entries.length; start += RUN) {
    runs.push(entries.slice(start, start + RUN).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const longer: Entry[][] = []
    for (let index = 0; index < runs.length; index += 2) {
      longer.push(yield* merged(runs[index] ?? [], runs[index + 1] ?? [], compare))
    }
    runs = longer
  }
  return runs[0] ?? []
}

/** Of equal entries, those of the first list come first. */
function* merged<Entry extends object>(
  first: readonly Entry[],
  second: readonly Entry[],
  compare: (one: Entry, other: Entry) => number,
): Generator<undefined, Entry[]> {
  const both: Entry[] = []
  const add = (entry: Entry): boolean => both.push(entry) % STEP === 0
  let taken = 0
  for (const entry of first) {
    for (let next = second[taken]; next && compare(next, entry) < 0; next = second[++taken]) if (add(next)) yield
    if (add(entry)) yield
  }
  return both.concat(second.slice(taken))
}
