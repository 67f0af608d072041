import type { Log } from '../../observability/log.ts'

/**
 * Tells systemd that this process serves, and is the main process of its unit from now on. The runtime has no datagram
 * sockets in the file system; wherever systemd runs, there is a command for them.
 */
export const notifyReady = async (log: Log): Promise<void> => {
  try {
    const child = Bun.spawn(['systemd-notify', '--ready', `--pid=${process.pid}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    if ((await child.exited) !== 0) throw new Error(await child.stderr.text())
  } catch (error) {
    log.warn('systemd was not notified', { cause: String(error) })
  }
}
