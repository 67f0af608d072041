import type { Command, Option } from 'commander'
import { oneOf } from './arguments.ts'
import { TOPICS } from './topics.ts'

/** `scrip completion`: what a shell needs to complete commands, flags and their values, made from the commands. */

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export const completionCommand = (program: Command): void => {
  program
    .command('completion')
    .description(`print a completion script for a shell: ${SHELLS.join(', ')}`)
    .argument('<shell>', SHELLS.join(', '), oneOf(SHELLS))
    .action((shell: Shell) => void process.stdout.write(SCRIPTS[shell](placesIn(program))))
}

/** What can be typed after a command: its path without the program, `client add`. */
interface Place {
  path: string
  words: { word: string; about: string }[]
  flags: Flag[]
}

interface Flag {
  name: string
  about: string
  value: 'none' | 'choice' | 'file' | 'folder' | 'text'
  choices: readonly string[]
}

const placesIn = (command: Command, path = ''): Place[] => {
  const below = command.commands
  // What the program takes, its default command takes: flags of `scrip` are those of `scrip serve`.
  const options = path === '' ? below.flatMap((one) => (one.name() === 'serve' ? one.options : [])) : []
  const words = below.map((one) => ({ word: one.name(), about: one.description() }))
  const chosen = { completion: SHELLS, help: Object.keys(TOPICS) }[path] ?? []
  const place: Place = {
    path,
    words: [...words, ...chosen.map((word) => ({ word, about: '' }))],
    flags: [...options, ...command.options]
      .filter(({ hidden }) => !hidden)
      .map(flagOf)
      .concat(HELP),
  }
  return [place, ...below.flatMap((one) => placesIn(one, `${path} ${one.name()}`.trim()))]
}

const flagOf = ({ long, flags, description, argChoices = [] }: Option): Flag => ({
  name: long ?? flags,
  about: description,
  choices: argChoices,
  value:
    argChoices.length > 0 ? 'choice' : (VALUES[/<(.+)>/.exec(flags)?.[1] ?? ''] ?? (/</.test(flags) ? 'text' : 'none')),
})

const VALUES: Readonly<Record<string, Flag['value']>> = { file: 'file', folder: 'folder' }
const HELP: Flag = { name: '--help', about: 'display help for command', value: 'none', choices: [] }

const stepsOf = (places: readonly Place[]): string[] => places.filter(({ path }) => path !== '').map(({ path }) => path)

const flagsOf = (places: readonly Place[], value: Flag['value']): Flag[] => [
  ...new Map(
    places.flatMap(({ flags }) => flags.filter((flag) => flag.value === value)).map((flag) => [flag.name, flag]),
  ).values(),
]

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
  case "$prev" in
${flagsOf(places, 'choice')
  .map(
    ({ name, choices }) => `    ${name}) COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$cur")); return ;;`,
  )
  .join('\n')}
    ${alternatives(flagsOf(places, 'folder'))}) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    ${alternatives(flagsOf(places, 'file'))}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    ${alternatives(flagsOf(places, 'text'))}) COMPREPLY=(); return ;;
  esac
  local words=''
  case "$at" in
${places.map(({ path, words, flags }) => `    ${quoted(path)}) words=${quoted([...words.map(({ word }) => word), ...flags.map(({ name }) => name)].join(' '))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _scrip scrip
`

const described = (word: string, about: string): string => quoted(`${word.replace(/:/g, '\\:')}:${about}`)

const zsh = (places: readonly Place[]): string => `#compdef scrip
# zsh completion for scrip: scrip completion zsh > "\${fpath[1]}/_scrip"
_scrip() {
  local at='' word
  local -a items
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -- ]] && { _normal; return }
    case "\${at:+$at }$word" in
      (${stepsOf(places).map(quoted).join('|')}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$words[CURRENT-1]" in
${flagsOf(places, 'choice')
  .map(({ name, choices }) => `    (${name}) compadd -- ${choices.join(' ')}; return ;;`)
  .join('\n')}
    (${alternatives(flagsOf(places, 'folder'))}) _files -/; return ;;
    (${alternatives(flagsOf(places, 'file'))}) _files; return ;;
    (${alternatives(flagsOf(places, 'text'))}) return ;;
  esac
  case "$at" in
${places
  .map(({ path, words, flags }) => {
    const items = [
      ...words.map(({ word, about }) => described(word, about)),
      ...flags.map(({ name, about }) => described(name, about)),
    ]
    return `    (${quoted(path)}) items=(${items.join(' ')}) ;;`
  })
  .join('\n')}
  esac
  _describe scrip items || _files
}
if [[ $funcstack[1] == _scrip ]]; then _scrip "$@"; else compdef _scrip scrip; fi
`

const FISH_VALUES: Record<Flag['value'], (flag: Flag) => string> = {
  none: () => '',
  choice: ({ choices }) => ` -x -a ${quoted(choices.join(' '))}`,
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
  .flatMap(({ path, words, flags }) => {
    const here = `complete -c scrip -n ${quoted(`__scrip_at ${quoted(path)}`)}`
    return [
      ...words.map(({ word, about }) => `${here} -f -a ${word} -d ${quoted(about)}`),
      ...flags.map(
        (flag) => `${here} -l ${flag.name.slice(2)}${FISH_VALUES[flag.value](flag)} -d ${quoted(flag.about)}`,
      ),
    ]
  })
  .join('\n')}
`

const SCRIPTS: Record<Shell, (places: readonly Place[]) => string> = { bash, zsh, fish }
