/**
 * The form by which texts are sorted (contract C7). Two ways to write a letter, such as é, are one. A letter in lower case can
 * compose with a mark where the one in upper case cannot: ẖ.
 */
export const lowerCase = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC')

const FINAL_SIGMA = 'ς'
const SIGMA = 'σ'

/** The form by which texts are searched. Only sigma has two forms: the end of a search term can be the middle of a name. */
export const searchForm = (text: string): string => lowerCase(text).replaceAll(FINAL_SIGMA, SIGMA)
