/**
 * A text as a search compares it (contract C7): in lower case, and with one small sigma. It is the one letter whose
 * lower-case form depends on what follows: at the end of a search, it may go on in a name.
 */
export const fold = (text: string): string => text.toLowerCase().replaceAll(FINAL_SIGMA, SIGMA)

/** The small sigma at the end of a word. */
export const FINAL_SIGMA = 'ς'
/** The small sigma everywhere else. */
export const SIGMA = 'σ'
