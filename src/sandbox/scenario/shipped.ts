import busyMonth from '../../../seed/scenarios/busy-month.json' with { type: 'text' }

/** The scenarios that come with the program, as JSON, by name. */
export const SHIPPED: ReadonlyMap<string, string> = new Map([['busy-month', busyMonth]])
