import { hashOf, usePlaceIn } from '../../pages/ui/hooks.ts'

/** The place that the desk shows. The address keeps it: `#payouts?status=created`, `#payouts/pyt_1`. */
export interface Place {
  page: string
  id?: string | undefined
  query: Readonly<Record<string, string>>
}

export const hrefOf = (page: string, id?: string, query: Place['query'] = {}): string =>
  hashOf(id === undefined ? page : `${page}/${encodeURIComponent(id)}`, query)

export const go = (...where: Parameters<typeof hrefOf>): void => {
  location.hash = hrefOf(...where)
}

export const usePlace = (): Place =>
  usePlaceIn((path, query) => {
    const [page, id] = path.split('/')
    return { page: page || 'today', id: id === undefined ? undefined : decodeURIComponent(id), query }
  })
