/** A category on cards: a hue in degrees, and a line drawing in a box of 200 by 200. */
export interface Motif {
  hue: number
  path: string
}

const GIFT =
  'M32 88h136v80H32zM22 60h156v28H22zM100 60v108M100 60C58 60 48 24 70 20q22-2 30 40C142 60 152 24 130 20q-22-2-30 40'

/** By category name. Other categories show a gift, each in its own hue. */
export const MOTIFS: Readonly<Record<string, Motif>> = {
  'Food & Dining': {
    hue: 48,
    path: 'M36 92h116v36a58 52 0 0 1-116 0zM152 100h12a22 22 0 0 1 0 44h-16M64 68q-12-18 0-38M94 68q-12-18 0-38M124 68q-12-18 0-38',
  },
  Groceries: {
    hue: 132,
    path: 'M18 88h164l-18 84H36zM58 88l30-58M142 88l-30-58M72 110v40M100 110v40M128 110v40',
  },
  'Fashion & Apparel': {
    hue: 355,
    path: 'M100 78q0-14 10-18a17 17 0 1 0-27-14M100 78l82 62q8 14-8 14H26q-16 0-8-14z',
  },
  'Books & Learning': {
    hue: 306,
    path: 'M100 56q-40-24-82-12v110q42-12 82 12 40-24 82-12V44q-42-12-82 12zv110M40 78q20-2 38 6M40 108q20-2 38 6M122 84q18-8 38-6M122 114q18-8 38-6',
  },
  Gaming: {
    hue: 284,
    path: 'M62 62h76a42 42 0 0 1 41 34l9 44a22 22 0 0 1-40 16l-16-22H68l-16 22a22 22 0 0 1-40-16l9-44a42 42 0 0 1 41-34zM64 82v34M47 99h34M132 88v.1M148 106v.1',
  },
  Electronics: {
    hue: 262,
    path: 'M48 48h104v104H48zM80 80h40v40H80zM74 48V22M100 48V22M126 48V22M74 178v-26M100 178v-26M126 178v-26M48 74H22M48 100H22M48 126H22M178 74h-26M178 100h-26M178 126h-26',
  },
  'Home & Garden': {
    hue: 158,
    path: 'M20 104l80-72 80 72M44 88v84h112V88M82 172v-48h36v48',
  },
  'Health & Beauty': {
    hue: 186,
    path: 'M100 172C36 128 20 102 20 76a40 40 0 0 1 80-12 40 40 0 0 1 80 12c0 26-16 52-80 96zM20 100h46l14-24 22 46 14-22h64',
  },
  'Travel & Transport': {
    hue: 240,
    path: 'M16 100L184 28l-44 144-44-54zM96 118l88-90M96 118v52l24-30',
  },
  Entertainment: {
    hue: 332,
    path: 'M20 56h160v26a18 18 0 0 0 0 36v26H20v-26a18 18 0 0 0 0-36zM132 66v12M132 94v12M132 122v12M72 76l7 16 17 1-13 11 4 17-15-9-15 9 4-17-13-11 17-1z',
  },
  'Sports & Outdoors': {
    hue: 214,
    path: 'M12 168l62-104 34 56 20-30 60 78zM54 98l20 14 18-16M164 50a18 18 0 1 1-36 0 18 18 0 0 1 36 0z',
  },
  'Gifts & Charity': { hue: 20, path: GIFT },
}

export const OTHER_PATH = GIFT
