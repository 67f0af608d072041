import { file } from 'bun'
import { GUIDES } from '../../../docs/guides.ts'
import { servedMarkdown } from '../../../docs/markdown.ts'
import { notAmong } from '../../../kernel/failure.ts'
import { WrongArguments } from './tool.ts'

const SECTIONS_MAX = 5

export const textOf = async (name: string): Promise<string> =>
  servedMarkdown(await file(GUIDES[name]?.file ?? '').text(), (href) => href)

const sectionsOf = (text: string): string[] => text.split(/^(?=## )/m)

/**
 * A guide as Markdown, or the sections of one or all guides that contain the words; without either, the list of guides.
 * @throws WrongArguments for a guide that there is not
 */
export const guideAbout = async (name: string | undefined, about: string | undefined): Promise<string> => {
  if (name === undefined && about === undefined) {
    const guides = Object.entries(GUIDES)
    return guides.map(([each, { title, about: what }]) => `${each}: ${title}, ${what}`).join('\n')
  }
  if (name !== undefined && !Object.hasOwn(GUIDES, name))
    throw new WrongArguments(`name: ${notAmong(Object.keys(GUIDES)).problem}`)
  const names = name === undefined ? Object.keys(GUIDES) : [name]
  const texts = await Promise.all(names.map(async (each) => ({ each, text: await textOf(each) })))
  if (about === undefined) return texts.map(({ text }) => text).join('\n')
  const words = about.toLowerCase().split(/\s+/).filter(Boolean)
  const found = texts
    .flatMap(({ each, text }) => sectionsOf(text).map((section) => `From ${each}:\n\n${section}`))
    .filter((section) => words.every((word) => section.toLowerCase().includes(word)))
  return found.slice(0, SECTIONS_MAX).join('\n\n') || 'No section contains all of these words.'
}
