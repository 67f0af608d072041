import { PROJECT } from './compile.ts'
import { archiveName, type Target } from './targets.ts'

/** RELEASE-NOTES.md: what the changelog says of this version, and of which archives there is something to say. */
export const notesOf = (changelog: string, made: readonly Target[]): string => {
  const sections = changelog.split(/^(?=## )/m)
  const named = (name: string) => sections.find((section) => section.startsWith(`## [${name}]`))
  const changes = (named(PROJECT.version) ?? named('Unreleased') ?? '').replace(/^## .*\n/, '').trim()
  const notes = made.flatMap((target) => (target.note ? [`- \`${archiveName(target)}\`: ${target.note}`] : []))
  return `${[`# ${PROJECT.name} ${PROJECT.version}`, changes, ...(notes.length > 0 ? [notes.join('\n')] : [])].join('\n\n')}\n`
}
