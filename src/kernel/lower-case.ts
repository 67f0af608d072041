const FINAL_SIGMA = 'ς'
const SIGMA = 'σ'

/** For searching (contract C7). Only sigma has two forms: the end of a search term can be the middle of a name. */
export const lowerCase = (text: string): string => text.toLowerCase().replaceAll(FINAL_SIGMA, SIGMA)
