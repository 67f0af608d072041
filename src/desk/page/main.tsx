import { render } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Button, Form, Input } from '../../pages/ui/forms.tsx'
import { useKeys, useLoaded } from '../../pages/ui/hooks.ts'
import { act } from '../../pages/ui/notices.tsx'
import { Card, Empty, Failed } from '../../pages/ui/pieces.tsx'
import { go, hrefOf, type Place, usePlace } from '../../pages/ui/place.ts'
import { Shell } from '../../pages/ui/shell.tsx'
import { Forms } from './acts.tsx'
import { keepKey, type ListPage, logOut, read, readForms } from './data.ts'
import { groupOf, Lists, nameOf, titleOf } from './lists.tsx'
import { Reconcile } from './reconcile.tsx'
import { RecordPage } from './record.tsx'
import { List } from './rows.tsx'
import { Today } from './today.tsx'

/** The menu. Related lists are on the page of each. */
const MENU = ['today', 'payouts', 'orders', 'clients', 'wallets', 'stock', 'webhooks', 'audit']

const Shown = ({ place }: { place: Place }) => {
  const { page, id } = place
  if (page === 'today') return <Today />
  if (page === 'search') return <Found place={place} />
  if (page === 'reconcile') return <Reconcile key={id} place={place} />
  return id === undefined ? <Lists place={place} /> : <RecordPage key={`${page} ${id}`} place={place} />
}

/** The results of a search. */
const Found = ({ place: { search = '' } }: { place: Place }) => {
  const { value, error } = useLoaded(() => read<(ListPage & { name: string })[]>(['search'], { search }), [search])
  return (
    <div class="stack">
      <Failed error={error} />
      {value?.length === 0 && (
        <Card title="Nothing found">
          <Empty>Search for an id, a reference, an e-mail address, an amount such as 12.50, or a part of a name.</Empty>
        </Card>
      )}
      {value?.map(({ name, ...list }) => (
        <List key={name} title={nameOf(name)} page={name} list={list} all={hrefOf({ page: name, search })} />
      ))}
    </div>
  )
}

const Search = () => {
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  useKeys({ '/': () => field.current?.focus() })
  return (
    <Form role="search" onSubmit={() => go({ page: 'search', search: typed.trim() })}>
      <Input
        ref={field}
        type="search"
        aria-label="Search for an id, a reference, an e-mail or an amount"
        placeholder="Id, reference, e-mail, amount  (/)"
        required
        value={typed}
        onText={setTyped}
      />
    </Form>
  )
}

const isReadOnly = (): boolean => document.querySelector('[data-read-only=true]') !== null

const Desk = () => {
  const place = usePlace('today')
  const { value: forms = [] } = useLoaded(async () => (isReadOnly() ? [] : await readForms()), [])
  const { page } = place
  const title = titleOf(place)
  return (
    <Shell
      name="Desk"
      home="#today"
      menu={MENU.map((name) => {
        return { title: nameOf(name), href: hrefOf({ page: name }), isCurrent: groupOf(page).includes(name) }
      })}
      title={title}
      aside={
        <>
          <Search />
          <Button text="Log out" onClick={() => act(logOut)} />
        </>
      }
    >
      <Forms.Provider value={forms}>
        <Shown place={place} />
      </Forms.Provider>
    </Shell>
  )
}

const root = document.getElementById('console')
if (root) {
  keepKey(root)
  render(<Desk />, root)
}
