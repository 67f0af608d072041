/** Characters that control a terminal or reorder text: controls, bidi marks, separators, lone surrogates. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Escapes control characters of a stored text, as `\u{1b}` or `\u{202e}`. */
export const visible = (text: string): string =>
  text.replace(CONTROLS, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

/** Escapes control characters but keeps line breaks. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n')
