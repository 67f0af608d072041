import type { Command } from 'commander'

/** The manual page of all commands, in the macros of man(7). */
export const manualOf = (program: Command): string =>
  [
    '.TH SCRIP 1',
    '.SH NAME',
    `scrip \\- ${roff(program.description())}`,
    '.SH SYNOPSIS',
    '.B scrip',
    '[\\fICOMMAND\\fR] [\\fIFLAGS\\fR]',
    '.SH COMMANDS',
    ...program.commands.flatMap((command) => sectionOf(command, 'scrip')),
    '.SH SEE ALSO',
    'scrip docs',
    '',
  ].join('\n')

const sectionOf = (command: Command, above: string): string[] => {
  const path = `${above} ${command.name()}`
  return [
    `.SS ${roff(path)}`,
    `.B ${roff(`${path} ${command.usage()}`)}`,
    '.PP',
    roff(command.description()),
    ...command.registeredArguments
      .filter(({ description }) => description !== '')
      .flatMap((argument) => ['.TP', `.I ${roff(argument.name())}`, roff(argument.description)]),
    ...command.options.flatMap(({ flags, description, envVar }) => [
      '.TP',
      `.B ${roff(flags)}`,
      roff(envVar ? `${description} (${envVar})` : description),
    ]),
    ...command.commands.flatMap((below) => sectionOf(below, path)),
  ]
}

/** A dot or an apostrophe would begin a macro at the start of a line. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&')
