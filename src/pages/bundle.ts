/**
 * Bundles a program for browsers, which is carried as text (decision 80). Called as a macro: while Scrip is built, and from
 * the sources when the program is first needed. Another process bundles, because a macro runs inside of a bundler, which
 * waits for it.
 */
export const bundled = (file: string): string => {
  const args = ['build', `${import.meta.dir}/../${file}`, '--minify', '--target=browser']
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...args])
  if (exitCode !== 0) throw new Error(`${file} cannot be bundled: ${stderr}`)
  return stdout.toString()
}
