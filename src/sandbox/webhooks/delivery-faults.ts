/** The effect of a rule on the first attempt of a delivery (contract C16). */
export const DELIVERY_FAULTS = ['lose', 'duplicate', 'reorder', 'bad_signature'] as const
