/**
 * Bundles the page (decision 80). Called as a macro: while the program is built, and from the sources when the console is
 * first opened. Another process bundles, because a macro runs inside of a bundler, which waits for it.
 */
export const bundledPage = (): string => {
  const page = `${import.meta.dir}/page/main.tsx`
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, 'build', page, '--minify', '--target=browser'])
  if (exitCode !== 0) throw new Error(`the console cannot be bundled: ${stderr}`)
  return stdout.toString()
}
