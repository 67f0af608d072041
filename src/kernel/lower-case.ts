/** The form by which texts are ordered (contract C7): letters that are written in two ways, such as é, are one. */
export const lowerCase = (text: string): string => text.normalize('NFC').toLowerCase()

const FINAL_SIGMA = 'ς'
const SIGMA = 'σ'

/** The form by which texts are found. Only sigma has two forms: the end of a search term can be the middle of a name. */
export const searchForm = (text: string): string => lowerCase(text).replaceAll(FINAL_SIGMA, SIGMA)
