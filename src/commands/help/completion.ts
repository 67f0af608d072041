import type { Command, Option } from 'commander'
import { SHIPPED } from '../../sandbox/scenario/shipped.ts'
import { choiceArgument } from '../arguments.ts'
import { TOPICS } from './topics.ts'

/** `scrip completion`: what a shell needs to complete commands, flags and their values, made from the commands. */

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export const completionCommand = (completion: Command, program: Command): void => {
  completion
    .description('print a completion script for a shell')
    .addArgument(choiceArgument('<shell>', 'the shell', SHELLS))
    .action((shell: Shell) => void process.stdout.write(SCRIPTS[shell](placesIn(program))))
}

/** What can be typed after a command: its path without the program, `client add`. */
interface Place {
  path: string
  words: { word: string; about: string }[]
  flags: Flag[]
  /** Something else than a word or a flag can follow: a file, a name. */
  takesText: boolean
}

interface Flag {
  name: string
  about: string
  value: 'none' | 'choice' | 'file' | 'folder' | 'text'
  choices: readonly string[]
  /** Besides its choices. */
  takesFile: boolean
}

const placesIn = (command: Command, path = ''): Place[] => {
  const { commands, registeredArguments } = command
  // What the program takes, its default command takes: flags of `scrip` are those of `scrip serve`.
  const options = path === '' ? commands.flatMap((one) => (one.name() === 'serve' ? one.options : [])) : []
  const words = commands.map((one) => ({ word: one.name(), about: one.summary() || one.description() }))
  const others = command.parent?.commands.map((one) => one.name()) ?? []
  const chosen =
    path === 'help'
      ? [...others, ...Object.keys(TOPICS)]
      : registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const place: Place = {
    path,
    words: [...words, ...chosen.map((word) => ({ word, about: '' }))],
    flags: [...options, ...command.options]
      .filter(({ hidden }) => !hidden)
      .map(flagOf)
      .concat(HELP),
    takesText: registeredArguments.some(({ argChoices }) => argChoices === undefined),
  }
  return [place, ...commands.flatMap((one) => placesIn(one, `${path} ${one.name()}`.trim()))]
}

/** What is offered before a dash is typed: flags only where nothing else can follow. */
const firstOf = ({ words, flags, takesText }: Place) =>
  words.length > 0 || takesText ? words : flags.map(({ name, about }) => ({ word: name, about }))

const flagOf = ({ long, flags, description, argChoices }: Option): Flag => {
  const name = long ?? flags
  const choices = argChoices ?? NAMES[name] ?? []
  const value = VALUES[/<(.+)>/.exec(flags)?.[1] ?? ''] ?? (/</.test(flags) ? 'text' : 'none')
  return { name, about: description, choices, value: choices.length > 0 ? 'choice' : value, takesFile: name in NAMES }
}

/** Of flags that take a name or a file. */
const NAMES: Readonly<Record<string, readonly string[]>> = { '--scenario': [...SHIPPED.keys()] }

const VALUES: Readonly<Record<string, Flag['value']>> = { file: 'file', folder: 'folder' }
const HELP: Flag = { name: '--help', about: 'display help for command', value: 'none', choices: [], takesFile: false }

const stepsOf = (places: readonly Place[]): string[] => places.filter(({ path }) => path !== '').map(({ path }) => path)

const flagsOf = (places: readonly Place[], value: Flag['value']): Flag[] => [
  ...new Map(
    places.flatMap(({ flags }) => flags.filter((flag) => flag.value === value)).map((flag) => [flag.name, flag]),
  ).values(),
]

/** The flags with choices, as a shell pattern of a command and its flag: statuses differ between lists. */
const choicesOf = (places: readonly Place[]): (Pick<Flag, 'choices' | 'takesFile'> & { pattern: string })[] => {
  const all = places.flatMap(({ path, flags }) =>
    flags.filter(({ value }) => value === 'choice').map((flag) => ({ path, ...flag })),
  )
  return [...Map.groupBy(all, ({ name }) => name)].flatMap(([name, alike]) => {
    const variants = [...Map.groupBy(alike, ({ choices }) => choices.join(' ')).values()]
    return variants.map((flags) => ({
      pattern: variants.length === 1 ? `*' ${name}'` : flags.map(({ path }) => quoted(`${path} ${name}`)).join('|'),
      choices: flags[0]?.choices ?? [],
      takesFile: flags[0]?.takesFile ?? false,
    }))
  })
}

const alternatives = (flags: readonly Flag[]): string => flags.map(({ name }) => name).join('|')
const quoted = (text: string): string => `'${text.replace(/'/g, `'\\''`)}'`

const bash = (places: readonly Place[]): string => `# bash completion for scrip: source <(scrip completion bash)
_scrip() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" = -- ] && { COMPREPLY=(); return; }
    case "\${at:+$at }$word" in
      ${stepsOf(places).map(quoted).join('|')}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at $prev" in
${choicesOf(places)
  .map(({ pattern, choices, takesFile }) => {
    const files = takesFile ? ' $(compgen -f -- "$cur")' : ''
    return `    ${pattern}) COMPREPLY=($(compgen -W ${wordList(choices)} -- "$cur")${files}); return ;;`
  })
  .join('\n')}
  esac
  case "$prev" in
    ${alternatives(flagsOf(places, 'folder'))}) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    ${alternatives(flagsOf(places, 'file'))}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    ${alternatives(flagsOf(places, 'text'))}) COMPREPLY=(); return ;;
  esac
  local words='' flags=''
  case "$at" in
${places
  .map(
    (place) =>
      `    ${quoted(place.path)}) words=${wordList(firstOf(place).map(({ word }) => word))} flags=${wordList(place.flags.map(({ name }) => name))} ;;`,
  )
  .join('\n')}
  esac
  case "$cur" in -*) words=$flags ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _scrip scrip
`

const wordList = (words: readonly string[]): string => quoted(words.join(' '))

/** Lists that are longer have no descriptions, so that shells show them in columns: on a screen of 24 lines. */
const DESCRIBED_MAX = 20

const described = (items: readonly { word: string; about: string }[]): string =>
  items
    .map(({ word, about }) => ({ word: word.replace(/:/g, '\\:'), about: items.length > DESCRIBED_MAX ? '' : about }))
    .map(({ word, about }) => quoted(about === '' ? word : `${word}:${about}`))
    .join(' ')

const zsh = (places: readonly Place[]): string => `#compdef scrip
# zsh completion for scrip: scrip completion zsh > "\${fpath[1]}/_scrip"
_scrip() {
  local at='' word
  local -a items flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -- ]] && { _normal; return }
    case "\${at:+$at }$word" in
      (${stepsOf(places).map(quoted).join('|')}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at $words[CURRENT-1]" in
${choicesOf(places)
  .map(({ pattern, choices, takesFile }) => {
    const files = takesFile ? '_files; ' : ''
    return `    (${pattern}) compadd -- ${choices.join(' ')}; ${files}return ;;`
  })
  .join('\n')}
  esac
  case "$words[CURRENT-1]" in
    (${alternatives(flagsOf(places, 'folder'))}) _files -/; return ;;
    (${alternatives(flagsOf(places, 'file'))}) _files; return ;;
    (${alternatives(flagsOf(places, 'text'))}) return ;;
  esac
  case "$at" in
${places
  .map((place) => {
    const flags = place.flags.map(({ name, about }) => ({ word: name, about }))
    return `    (${quoted(place.path)}) items=(${described(firstOf(place))}) flags=(${described(flags)}) ;;`
  })
  .join('\n')}
  esac
  [[ $words[CURRENT] == -* ]] && items=($flags)
  _describe scrip items || _files
}
if [[ $funcstack[1] == _scrip ]]; then _scrip "$@"; else compdef _scrip scrip; fi
`

const FISH_VALUES: Record<Flag['value'], (flag: Flag) => string> = {
  none: () => '',
  choice: ({ choices, takesFile }) => ` ${takesFile ? '-r -F' : '-x'} -a ${quoted(choices.join(' '))}`,
  file: () => ' -r -F',
  folder: () => " -x -a '(__fish_complete_directories)'",
  text: () => ' -x',
}

const fish = (places: readonly Place[]): string => `# fish completion for scrip: scrip completion fish | source
function __scrip_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch (string trim -- "$at $word")
      case ${stepsOf(places).map(quoted).join(' ')}
        set at (string trim -- "$at $word")
    end
  end
  test "$at" = "$argv[1]"
end
${places
  .flatMap(({ path, words, flags, takesText }) => {
    const here = `complete -c scrip -n ${quoted(`__scrip_at ${quoted(path)}`)}`
    const isLong = words.length > DESCRIBED_MAX
    return [
      ...(takesText ? [] : [`${here} -f`]),
      ...words.map(({ word, about }) => `${here} -f -a ${word}${isLong || about === '' ? '' : ` -d ${quoted(about)}`}`),
      ...flags.map(
        (flag) => `${here} -l ${flag.name.slice(2)}${FISH_VALUES[flag.value](flag)} -d ${quoted(flag.about)}`,
      ),
    ]
  })
  .join('\n')}
`

const SCRIPTS: Record<Shell, (places: readonly Place[]) => string> = { bash, zsh, fish }
