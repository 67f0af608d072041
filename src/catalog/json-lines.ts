/** Finds the line of a value in valid JSON, for messages about it. */
export class JsonLines {
  readonly #text: string
  /** The offset of each line but the first. */
  readonly #starts: number[] = []
  /** The offsets of the elements of a list, by its path. */
  readonly #elements = new Map<string, number[]>()

  constructor(text: string) {
    this.#text = text
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
  }

  /** The line of an element of a list, or of the innermost existing value on a path in it. */
  lineOf(list: readonly string[], index: number, path: readonly string[]): number {
    const element = this.#elementsOf(list)[index]
    return this.#lineAt(element === undefined ? 0 : this.#find(element, path))
  }

  #elementsOf(list: readonly string[]): number[] {
    const known = this.#elements.get(list.join('/'))
    if (known) return known
    const elements = [...this.#members(this.#find(this.#skipSpace(0), list))].map(({ at }) => at)
    this.#elements.set(list.join('/'), elements)
    return elements
  }

  #lineAt(offset: number): number {
    let [low, high] = [0, this.#starts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#starts[middle] ?? 0) <= offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }

  #find(offset: number, path: readonly string[]): number {
    let found = offset
    for (const name of path) {
      const member = [...this.#members(found)].find((candidate) => candidate.name === name)
      if (!member) return found
      found = member.at
    }
    return found
  }

  /** The members of an object or the elements of a list; none for other values. */
  *#members(offset: number): Generator<{ name: string; at: number }> {
    const opening = this.#text[offset]
    if (opening !== '{' && opening !== '[') return
    let at = this.#skipSpace(offset + 1)
    for (let index = 0; this.#text[at] !== '}' && this.#text[at] !== ']'; index += 1) {
      let name = String(index)
      if (opening === '{') {
        const end = this.#skipValue(at)
        name = JSON.parse(this.#text.slice(at, end)) as string
        at = this.#skipSpace(this.#skipSpace(end) + 1)
      }
      yield { name, at }
      at = this.#skipSpace(this.#skipValue(at))
      if (this.#text[at] === ',') at = this.#skipSpace(at + 1)
    }
  }

  #skipSpace(offset: number): number {
    let at = offset
    while (/\s/.test(this.#text[at] ?? '')) at += 1
    return at
  }

  #skipValue(offset: number): number {
    let depth = 0
    for (let at = offset; ; ) {
      const character = this.#text[at]
      if (character === '"') at = this.#skipString(at)
      else if (character === '{' || character === '[') {
        depth += 1
        at += 1
      } else if (character === '}' || character === ']') {
        depth -= 1
        at += 1
      } else if (depth === 0) return this.#skipWord(at)
      else at += 1
      if (depth === 0) return at
    }
  }

  #skipString(offset: number): number {
    let at = offset + 1
    while (this.#text[at] !== '"') at += this.#text[at] === '\\' ? 2 : 1
    return at + 1
  }

  #skipWord(offset: number): number {
    let at = offset
    while (/[\w.+-]/.test(this.#text[at] ?? '')) at += 1
    return at
  }
}
