import type { Command, Option } from 'commander'
import { SHIPPED } from '../../sandbox/scenario/shipped.ts'
import { choiceArgument } from '../arguments.ts'
import { print } from '../terminal/output.ts'

/** `scrip completion`: a function of a few lines for each shell, which asks the program for the next words (decision 45). */

/** A function calls the program with the name of its shell and the typed words, the last one unfinished. */
const FUNCTIONS = {
  bash: `# bash completion for scrip: source <(scrip completion bash)
_scrip() {
  local cur=\${COMP_WORDS[COMP_CWORD]} word
  COMPREPLY=()
  while IFS= read -r word; do
    case "$word" in
      :files) COMPREPLY+=($(compgen -f -- "$cur")) ;;
      :folders) COMPREPLY+=($(compgen -d -- "$cur")) ;;
      *) COMPREPLY+=($(compgen -W "$word" -- "$cur")) ;;
    esac
  done < <("\${COMP_WORDS[0]}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _scrip scrip
`,
  zsh: `#compdef scrip
# zsh completion for scrip: scrip completion zsh > "\${fpath[1]}/_scrip"
_scrip() {
  local word
  local -a items
  for word in "\${(@f)$("$words[1]" completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case "$word" in
      :files) _files ;;
      :folders) _files -/ ;;
      ?*) items+=("$word") ;;
    esac
  done
  (( $#items )) && compadd -- $items
}
if [[ $funcstack[1] == _scrip ]]; then _scrip "$@"; else compdef _scrip scrip; fi
`,
  fish: `# fish completion for scrip: scrip completion fish | source
function __scrip
  set -l typed (commandline -opc)
  for word in ($typed[1] completion fish -- $typed[2..-1] (commandline -ct) 2>/dev/null)
    switch $word
      case :files
        __fish_complete_path (commandline -ct)
      case :folders
        __fish_complete_directories (commandline -ct)
      case '*'
        echo $word
    end
  end
end
complete -c scrip -f -a '(__scrip)'
`,
} as const
type Shell = keyof typeof FUNCTIONS

export const completionCommand = (completion: Command, program: Command): void => {
  completion
    .description('print a completion script for a shell')
    .addArgument(choiceArgument('<shell>', 'the shell', Object.keys(FUNCTIONS)))
    .allowExcessArguments()
    .action(async (shell: Shell, _, { args: [, ...words] }: Command) => {
      await print(words.length === 0 ? FUNCTIONS[shell] : `${offersFor(program, words).join('\n')}\n`)
    })
}

const [FILES, FOLDERS] = [':files', ':folders']

/** The words that can follow the typed ones, of which the last is unfinished. */
export const offersFor = (program: Command, words: readonly string[]): string[] => {
  const [typed, unfinished = ''] = [words.slice(0, -1), words.at(-1)]
  if (typed.includes('--')) return [FILES] // the command of scrip run
  let command = program
  for (const word of typed) command = command.commands.find((one) => one.name() === word) ?? command
  // The program takes the flags of its default command: those of `scrip` are those of `scrip serve`.
  const inherited = command === program ? program.commands.find((one) => one.name() === 'serve')?.options : []
  const visible = [...(inherited ?? []), ...command.options].filter(({ hidden }) => !hidden)
  const valued = visible.find(({ long, flags }) => long === typed.at(-1) && flags.includes('<'))
  if (valued) return valuesOf(valued)
  const following = unfinished.startsWith('-') ? [] : wordsAfter(command)
  return following.length > 0 ? following : [...visible.map(({ long, flags }) => long ?? flags), '--help']
}

const valuesOf = ({ long, flags, argChoices }: Option): string[] => {
  if (long === '--scenario') return [...SHIPPED.keys(), FILES]
  if (argChoices) return [...argChoices]
  return flags.endsWith('<folder>') ? [FOLDERS] : flags.endsWith('<file>') ? [FILES] : []
}

const wordsAfter = (command: Command): string[] => {
  const { registeredArguments } = command
  const commands = command.createHelp().visibleCommands(command)
  return [
    ...commands.map((below) => below.name()),
    ...registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    ...(registeredArguments.some(({ argChoices }) => argChoices === undefined) ? [FILES] : []),
  ]
}
