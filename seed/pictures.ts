import { icons } from 'lucide'

/** The line drawings of card pictures, as the markup of an SVG in a box of 24 by 24. */

/** By subcategory and by category, as Lucide names them. Where there are several, the brand decides. */
const MOTIFS: Readonly<Record<string, readonly (keyof typeof icons)[]>> = {
  'Cafes & Bakeries': ['Coffee', 'Croissant', 'CakeSlice', 'Donut'],
  Restaurants: ['Utensils', 'ChefHat', 'Soup', 'Wine', 'Salad'],
  'Fast Food': ['Hamburger', 'Sandwich', 'CupSoda', 'Drumstick'],
  'Food Delivery': ['Pizza', 'ShoppingBag', 'Motorbike'],
  Supermarkets: ['ShoppingCart', 'ShoppingBasket', 'Milk'],
  'Farm & Organic': ['Carrot', 'Apple', 'Wheat'],
  'Household Supplies': ['SprayCan', 'SoapDispenserDroplet'],
  Clothing: ['Shirt', 'ShoppingBag', 'Tag'],
  Footwear: ['Footprints'],
  'Jewellery & Watches': ['Gem', 'Watch'],
  "Kids' Wear": ['Baby', 'ToyBrick'],
  'Books & Magazines': ['BookOpen', 'Library', 'BookMarked'],
  'Online Courses': ['GraduationCap', 'MonitorPlay', 'School'],
  'Stationery & Art Supplies': ['Palette', 'PencilRuler'],
  'Video Games': ['Gamepad2', 'Joystick', 'Swords'],
  'Mobile Games': ['TabletSmartphone', 'Ghost'],
  'Board Games & Hobbies': ['Dices', 'Puzzle'],
  'Computers & Tablets': ['Laptop', 'Cpu', 'Keyboard'],
  'Phones & Accessories': ['Smartphone', 'BatteryCharging'],
  'Audio & Cameras': ['Headphones', 'Camera'],
  'Home Appliances': ['WashingMachine', 'Refrigerator'],
  Furniture: ['Armchair', 'Sofa', 'LampDesk'],
  'Kitchen & Tableware': ['CookingPot', 'CupSoda'],
  'Garden & DIY': ['Sprout', 'Hammer'],
  'Decor & Lighting': ['LampFloor', 'Lightbulb'],
  Pharmacies: ['Pill', 'BriefcaseMedical'],
  'Cosmetics & Skincare': ['Sparkles', 'Brush', 'Droplets'],
  'Spas & Salons': ['Scissors', 'Bath'],
  'Fitness & Gyms': ['Dumbbell', 'HeartPulse'],
  Airlines: ['Plane', 'PlaneTakeoff'],
  Hotels: ['BedDouble', 'Hotel', 'ConciergeBell'],
  'Tours & Experiences': ['Map', 'Compass', 'Binoculars'],
  'Rail & Ride Hailing': ['TrainFront', 'CarTaxiFront', 'Bus'],
  Cinema: ['Clapperboard', 'Popcorn'],
  'Music & Streaming': ['Music', 'AudioLines', 'Disc3'],
  'Concerts & Events': ['Ticket', 'MicVocal'],
  'Outdoor & Camping': ['Tent', 'MountainSnow', 'Caravan'],
  Sportswear: ['Medal', 'Trophy', 'Volleyball'],
  Cycling: ['Bike'],
  'Flowers & Hampers': ['Flower2', 'Gift'],
  'Charity Donations': ['HandHeart', 'HeartHandshake'],
  'Multi-Brand Cards': ['Gift', 'WalletCards', 'Store'],
  'Newspaper Subscriptions': ['Newspaper'],
  'DVD Rental': ['Disc3'],
  'Prepaid Airtime': ['Signal'],
  'Festive Bundles': ['PartyPopper'],
  'Food & Dining': ['Utensils'],
  Groceries: ['ShoppingBasket'],
  'Fashion & Apparel': ['ShoppingBag'],
  'Books & Learning': ['Library'],
  Gaming: ['Gamepad2'],
  Electronics: ['Cpu'],
  'Home & Garden': ['House'],
  'Health & Beauty': ['HeartPulse'],
  'Travel & Transport': ['Luggage'],
  Entertainment: ['Clapperboard'],
  'Sports & Outdoors': ['Trophy'],
  'Gifts & Charity': ['Gift'],
}

const markupOf = (name: keyof typeof icons): string =>
  icons[name]
    .map(([shape, attributes]) => {
      const written = Object.entries(attributes).map(([attribute, value]) => ` ${attribute}="${value}"`)
      return `<${shape}${written.join('')}/>`
    })
    .join('')

export const makeMotifs = (): string => {
  const names = [...new Set(Object.values(MOTIFS).flat())].sort()
  const lines = (entries: [string, unknown][]): string =>
    entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',\n')
  return `{"kinds":{\n${lines(Object.entries(MOTIFS))}\n},\n"drawings":{\n${lines(names.map((name) => [name, markupOf(name)]))}\n}}\n`
}
