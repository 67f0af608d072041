/** A message that lists problems below its first line: `the catalog has 2 problems:`. */
export const problemList = (beginning: string, problems: readonly string[]): string =>
  [`${beginning} ${problems.length} problem${problems.length === 1 ? '' : 's'}:`, ...problems].join('\n')
