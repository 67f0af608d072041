import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Button } from './forms.tsx'
import { Notices } from './notices.tsx'
import { Theme } from './theme.tsx'

interface Props {
  /** The name of the program, for its menu and its window. */
  name: 'Console' | 'Desk'
  /** The address of its first page. */
  home: string
  menu: readonly { title: string; href: string; isCurrent: boolean }[]
  /** The title of the page that is shown. */
  title: string
  /** The contents beside the menu. */
  aside: ComponentChildren
  children: ComponentChildren
}

/** Everything around the pages of the console and of the desk. */
export const Shell = ({ name, home, menu, title, aside, children }: Props) => {
  useEffect(() => {
    document.title = `${title} · Scrip ${name.toLowerCase()}`
  }, [title])
  const nav = useRef<HTMLElement>(null)
  const current = menu.find(({ isCurrent }) => isCurrent)?.title
  // A narrow window shows only a part of the menu.
  useEffect(() => {
    if (current) nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current])
  return (
    <>
      <Button text="Skip to content" class="skip" onClick={() => document.getElementById('main')?.focus()} />
      <header class="top">
        <a class="brand" href={home}>
          Scrip
        </a>
        <nav ref={nav} aria-label={name}>
          {menu.map(({ title, href, isCurrent }) => (
            <a key={title} href={href} aria-current={isCurrent ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <div class="line side">
          {aside}
          <Theme />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <h1 class="hidden">{title}</h1>
        {children}
      </main>
      <Notices />
    </>
  )
}
