import codeMappings from 'cldr-core/supplemental/codeMappings.json'
import territoryNames from 'cldr-localenames-full/main/en/territories.json'
import { getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js'
import formalNames from './formal-names.json'

/** Without its id. */
export interface Country {
  name: string
  official_name: string
  alpha_2: string
  alpha_3: string
  numeric_code: string
  dialing_prefix: string
}

interface Codes {
  alpha2: string
  alpha3: string
  numeric: string
}

/** Names whose form in CLDR is for menus, ambiguous out of context, or narrower than the ISO entry. */
const COMMON_NAMES: Readonly<Record<string, string>> = {
  CD: 'Democratic Republic of the Congo',
  CG: 'Republic of the Congo',
  CV: 'Cabo Verde',
  GS: 'South Georgia and the South Sandwich Islands',
  HK: 'Hong Kong',
  HM: 'Heard Island and McDonald Islands',
  MF: 'Saint Martin (French part)',
  MM: 'Myanmar',
  MO: 'Macao',
  PS: 'Palestine',
  SH: 'Saint Helena, Ascension and Tristan da Cunha',
  SX: 'Sint Maarten (Dutch part)',
  UM: 'United States Minor Outlying Islands',
  VC: 'Saint Vincent and the Grenadines',
}

/** Territories without a numbering plan use another one. */
const BORROWED_CALLING_CODES: Readonly<Record<string, string>> = {
  AQ: '672', // Australian external territories, which the Australian bases share
  BV: '47', // Norway
  GS: '500', // the Falkland Islands
  HM: '672', // Australian external territories
  PN: '64', // New Zealand
  TF: '262', // Réunion
  UM: '1', // the United States
}

/** Codes for private use: CLDR has Kosovo and placeholders there. */
const PRIVATE_NUMERIC_CODE_MIN = 900

/** In the order of alpha-3 codes. */
export const makeCountries = (): Country[] =>
  isoCodes()
    .map((codes) => ({
      name: commonName(codes.alpha2),
      official_name: formalName(codes.alpha2),
      alpha_2: codes.alpha2,
      alpha_3: codes.alpha3,
      numeric_code: codes.numeric,
      dialing_prefix: `+${callingCode(codes.alpha2)}`,
    }))
    .sort((a, b) => (a.alpha_3 < b.alpha_3 ? -1 : 1))

const isoCodes = (): Codes[] => {
  const found: Codes[] = []
  for (const [alpha2, codes] of Object.entries(codeMappings.supplemental.codeMappings)) {
    if (!('_alpha3' in codes) || !('_numeric' in codes)) continue
    // Withdrawn codes (YU, ZR, ...) stay in the mapping for old data but have lost their English name.
    if (Number(codes._numeric) >= PRIVATE_NUMERIC_CODE_MIN || cldrName(alpha2) === undefined) continue
    found.push({ alpha2, alpha3: codes._alpha3, numeric: codes._numeric })
  }
  return found
}

const cldrName = (alpha2: string): string | undefined => {
  const names: Readonly<Record<string, string>> = territoryNames.main.en.localeDisplayNames.territories
  return names[alpha2]
}

/** CLDR abbreviates and uses typographic apostrophes. People search for the plain spelling. */
const commonName = (alpha2: string): string => {
  const name = COMMON_NAMES[alpha2] ?? cldrName(alpha2)
  if (name === undefined) throw new Error(`No English name for ${alpha2}`)
  return name
    .replace(/^St\. /, 'Saint ')
    .replace(' & ', ' and ')
    .replace('’', "'")
}

const formalName = (alpha2: string): string => {
  const names: Readonly<Record<string, string>> = formalNames
  return names[alpha2] ?? commonName(alpha2)
}

const callingCode = (alpha2: string): string => {
  const code = isSupportedCountry(alpha2) ? getCountryCallingCode(alpha2) : BORROWED_CALLING_CODES[alpha2]
  if (code === undefined) throw new Error(`No calling code for ${alpha2}`)
  return code
}
