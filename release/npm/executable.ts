import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** By operating system and processor. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'darwin arm64': ['scrip-sandbox-darwin-arm64'],
  'darwin x64': ['scrip-sandbox-darwin-x64'],
  'linux arm64': ['scrip-sandbox-linux-arm64'],
  'linux x64': ['scrip-sandbox-linux-x64', 'scrip-sandbox-linux-x64-musl'],
  'win32 x64': ['scrip-sandbox-windows-x64'],
}

const isMusl = (): boolean => existsSync('/lib/ld-musl-x86_64.so.1') && !existsSync('/lib64/ld-linux-x86-64.so.2')

/** @throws Error that names the package to install, or the supported platforms */
export const findExecutable = (): string => {
  const machine = `${process.platform} ${process.arch}`
  const packages = PACKAGES[machine]
  if (!packages) {
    throw new Error(`Scrip has no executable for ${machine}. It runs on ${Object.keys(PACKAGES).join(', ')}.`)
  }
  const preferred = machine === 'linux x64' && isMusl() ? packages.toReversed() : packages
  const found = preferred.map(executableIn).find((path) => path !== undefined)
  if (found !== undefined) return found
  const { version } = require('./package.json') as { version: string }
  throw new Error(
    `Scrip's executable for ${machine} is not installed. It is the package ${preferred[0]}, version ${version}: ` +
      'install its file beside that of scrip-sandbox.',
  )
}

const executableIn = (name: string): string | undefined => {
  try {
    // Some installers hide other packages from a package, but not from the project.
    const manifest = require.resolve(`${name}/package.json`, { paths: [__dirname, process.cwd()] })
    const path = join(dirname(manifest), `scrip${name.includes('windows') ? '.exe' : ''}`)
    return existsSync(path) ? path : undefined
  } catch {
    return undefined
  }
}
