/** A text that no spreadsheet takes for a formula: an apostrophe goes before the signs that begin one. */
export const disarmed = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)
