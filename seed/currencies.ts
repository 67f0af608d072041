import { data as isoList } from 'currency-codes'

/** Without its id. */
export interface Currency {
  name: string
  currency: string
  precision: number
}

const NOT_MONEY: ReadonlySet<string> = new Set([
  ...['XAG', 'XAU', 'XPD', 'XPT'], // metals
  ...['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI', 'UYW'], // funds and units of account
  ...['XBA', 'XBB', 'XBC', 'XBD'], // bond-market units
  ...['XDR', 'XSU', 'XUA'], // units of account between central banks
  ...['XTS', 'XXX'], // for tests, and for no currency
])

/** In the package's list, but out of circulation. */
const WITHDRAWN: ReadonlySet<string> = new Set([
  'ANG', // XCG took its place on 2025-03-31
  'BGN', // Bulgaria took the euro on 2026-01-01
  'CUC', // Cuba has had one peso since 2021
])

/** In circulation, but not in the package's list. */
const INTRODUCED: readonly Currency[] = [{ currency: 'XCG', name: 'Caribbean Guilder', precision: 2 }]

/** ISO often gives the bare unit ("Won", "Som"), or its own word order. */
const DISPLAY_NAMES: Readonly<Record<string, string>> = {
  AFN: 'Afghan Afghani',
  ALL: 'Albanian Lek',
  AOA: 'Angolan Kwanza',
  AZN: 'Azerbaijani Manat',
  BAM: 'Bosnia and Herzegovina Convertible Mark',
  BBD: 'Barbadian Dollar',
  BDT: 'Bangladeshi Taka',
  BIF: 'Burundian Franc',
  BOB: 'Bolivian Boliviano',
  BTN: 'Bhutanese Ngultrum',
  BWP: 'Botswana Pula',
  CNY: 'Chinese Yuan',
  CRC: 'Costa Rican Colón',
  CVE: 'Cabo Verdean Escudo',
  DJF: 'Djiboutian Franc',
  ERN: 'Eritrean Nakfa',
  FJD: 'Fijian Dollar',
  GBP: 'British Pound',
  GEL: 'Georgian Lari',
  GHS: 'Ghanaian Cedi',
  GMD: 'Gambian Dalasi',
  GTQ: 'Guatemalan Quetzal',
  GYD: 'Guyanese Dollar',
  HNL: 'Honduran Lempira',
  HTG: 'Haitian Gourde',
  HUF: 'Hungarian Forint',
  IDR: 'Indonesian Rupiah',
  ILS: 'Israeli New Shekel',
  ISK: 'Icelandic Króna',
  JPY: 'Japanese Yen',
  KGS: 'Kyrgyzstani Som',
  KHR: 'Cambodian Riel',
  KRW: 'South Korean Won',
  KZT: 'Kazakhstani Tenge',
  LKR: 'Sri Lankan Rupee',
  LSL: 'Lesotho Loti',
  MKD: 'Macedonian Denar',
  MMK: 'Myanmar Kyat',
  MNT: 'Mongolian Tögrög',
  MOP: 'Macanese Pataca',
  MRU: 'Mauritanian Ouguiya',
  MUR: 'Mauritian Rupee',
  MVR: 'Maldivian Rufiyaa',
  MWK: 'Malawian Kwacha',
  MZN: 'Mozambican Metical',
  NAD: 'Namibian Dollar',
  NGN: 'Nigerian Naira',
  NIO: 'Nicaraguan Córdoba',
  OMR: 'Omani Rial',
  PAB: 'Panamanian Balboa',
  PEN: 'Peruvian Sol',
  PGK: 'Papua New Guinean Kina',
  PKR: 'Pakistani Rupee',
  PLN: 'Polish Złoty',
  PYG: 'Paraguayan Guaraní',
  RWF: 'Rwandan Franc',
  SCR: 'Seychellois Rupee',
  SLE: 'Sierra Leonean Leone',
  SRD: 'Surinamese Dollar',
  STN: 'São Tomé and Príncipe Dobra',
  SVC: 'Salvadoran Colón',
  SZL: 'Eswatini Lilangeni',
  THB: 'Thai Baht',
  TJS: 'Tajikistani Somoni',
  TMT: 'Turkmenistani Manat',
  TOP: "Tongan Pa'anga",
  UAH: 'Ukrainian Hryvnia',
  UGX: 'Ugandan Shilling',
  UYU: 'Uruguayan Peso',
  UZS: 'Uzbekistani Som',
  VED: 'Venezuelan Digital Bolívar',
  VES: 'Venezuelan Bolívar',
  VND: 'Vietnamese Dong',
  VUV: 'Vanuatu Vatu',
  WST: 'Samoan Tala',
  XAF: 'Central African CFA Franc',
  XOF: 'West African CFA Franc',
  ZAR: 'South African Rand',
}

/** In the order of their codes. */
export const makeCurrencies = (): Currency[] =>
  isoList
    .filter(({ code }) => !NOT_MONEY.has(code) && !WITHDRAWN.has(code))
    .map(({ code, currency, digits }) => ({
      name: DISPLAY_NAMES[code] ?? currency.trim(),
      currency: code,
      precision: digits,
    }))
    .concat(INTRODUCED)
    .sort((a, b) => (a.currency < b.currency ? -1 : 1))
