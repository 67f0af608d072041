/** Characters that a terminal obeys or that reorder what is shown: controls, bidi marks, separators, lone surrogates. */
const OBEYED = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A stored text as one line that shows what is in it: `\u{1b}` for an escape, `\u{202e}` for a right-to-left override. */
export const visible = (text: string): string =>
  text.replace(OBEYED, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

/** The same of a text whose lines are ours. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n')
