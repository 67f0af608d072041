/** State machines of records, each a table of its module: `payouts/states.ts`, `orders/states.ts`. */

export interface Transition<Item extends { status: string }> {
  from: readonly Item['status'][]
  /** The next status; undefined if the record keeps its own. */
  to?: Item['status']
  /** The verb of the operator's act that leads here: `advance`. Without one, only the clock or the client takes it. */
  act?: string
  /** The time after the creation of the record at which the clock of a sandbox takes it (contracts C12, C13). */
  afterMs?: number
  /** A condition besides the status. */
  only?: (item: Item) => boolean
}

export const canHappen = <Item extends { status: string }>({ from, only }: Transition<Item>, item: Item): boolean =>
  from.includes(item.status) && (only?.(item) ?? true)

/** The verbs of the acts that a record allows, in the order of its table. */
export const verbsAllowed = <Item extends { status: string }>(
  transitions: Readonly<Record<string, Transition<Item>>>,
  item: Item,
): string[] => [
  ...new Set(
    Object.values(transitions).flatMap((transition) =>
      transition.act !== undefined && canHappen(transition, item) ? [transition.act] : [],
    ),
  ),
]

/** The statuses in which an act leads on. */
export const statusesWith = <Item extends { status: string }>(
  transitions: Readonly<Record<string, Transition<Item>>>,
  act: string,
): Item['status'][] => [
  ...new Set(Object.values(transitions).flatMap((transition) => (transition.act === act ? transition.from : []))),
]
