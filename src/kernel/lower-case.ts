const FINAL_SIGMA = 'ς'
const SIGMA = 'σ'

/**
 * The lower-case form for searching (contract C7), with only one kind of sigma: sigma is the one letter whose lower-case
 * form depends on its position, and the end of a search term can be the middle of a name.
 */
export const lowerCase = (text: string): string => text.toLowerCase().replaceAll(FINAL_SIGMA, SIGMA)
