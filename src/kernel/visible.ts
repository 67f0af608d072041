/** Controls, bidi marks, separators, lone surrogates: they control a terminal or reorder text. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

/** Escapes control characters, as `\u{1b}` or `\u{202e}`. */
export const visible = (text: string): string => text.replace(CONTROLS, escaped)

/** Escapes control characters but keeps line breaks and tabs. */
export const visibleLines = (text: string): string =>
  text.replace(CONTROLS, (character) => (/[\n\t]/.test(character) ? character : escaped(character)))

/** A text in quotes for a shell, which expands nothing in it. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
