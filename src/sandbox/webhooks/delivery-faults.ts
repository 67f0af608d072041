/** The effect of a rule on the first attempt of a delivery (contract C16). */
export const DELIVERY_FAULTS = ['lose', 'duplicate', 'reorder', 'bad_signature'] as const

/** A late delivery delays the following ones of its record, as a slow network does. */
export type DeliveryFault = (typeof DELIVERY_FAULTS)[number] | 'late'
