#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { findExecutable } from './executable.ts'

/** `node_modules/.bin/scrip` runs the executable with the same arguments, and ends as it does. */

/** A terminal sends these signals to all its processes. */
const FROM_KEYBOARD: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']
const PASSED_ON: readonly NodeJS.Signals[] = [...FROM_KEYBOARD, 'SIGTERM', 'SIGHUP', 'SIGUSR2']
const FAILED = 1
/** Shells add this to the number of the signal. */
const SIGNALLED = 128

const isInTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY

const fail = (error: unknown): never => {
  process.stderr.write(`scrip: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(FAILED)
}

const executable = ((): string => {
  try {
    return findExecutable()
  } catch (error) {
    return fail(error)
  }
})()

const child = spawn(executable, process.argv.slice(2), { stdio: 'inherit' })
child.on('error', fail)
for (const signal of PASSED_ON) {
  process.on(signal, () => {
    if (!(isInTerminal && FROM_KEYBOARD.includes(signal))) child.kill(signal)
  })
}
child.on('exit', (code, signal) => {
  process.exit(code ?? SIGNALLED + (signal === null ? 0 : constants.signals[signal]))
})
