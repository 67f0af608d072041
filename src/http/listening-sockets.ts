import { dlopen, ptr } from 'bun:ffi'
import { readdirSync, statSync } from 'node:fs'

/** An option of listening sockets that the runtime does not offer. It is Linux's; elsewhere nothing is set (decision 76). */

const OPEN_FILES = '/proc/self/fd'
const SOL_SOCKET = 1
const SO_ATTACH_REUSEPORT_CBPF = 51
/** BPF_RET | BPF_K: returns a constant. */
const RETURN_CONSTANT = 0x06
/** `struct sock_filter` and `struct sock_fprog` of linux/filter.h. */
const INSTRUCTION_BYTES = 8
const PROGRAM_BYTES = 16
const PROGRAM_POINTER_AT = 8
/** The C libraries of Linux: glibc, and musl. */
export const C_LIBRARIES = ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`]

/** The file descriptors of the sockets that a function opens; none where they cannot be listed. */
export const socketsOpenedBy = <T>(open: () => T): [opened: T, sockets: number[]] => {
  const before = new Set(openSockets())
  const opened = open()
  return [opened, openSockets().filter((socket) => !before.has(socket))]
}

const openSockets = (): number[] => {
  if (process.platform !== 'linux') return []
  return readdirSync(OPEN_FILES).filter(isSocket).map(Number)
}

/** The folder that was listed is closed meanwhile. */
const isSocket = (descriptor: string): boolean =>
  statSync(`${OPEN_FILES}/${descriptor}`, { throwIfNoEntry: false })?.isSocket() === true

/**
 * Sends all new connections of a shared port (SO_REUSEPORT) to the socket with an index, in the order in which the sockets
 * began to listen. Otherwise Linux spreads new connections over them, and resets those that a socket has not accepted when
 * it closes. An index without a socket spreads them again.
 */
export const sendConnectionsTo = (index: number, socket: number): void => {
  const instruction = new DataView(new ArrayBuffer(INSTRUCTION_BYTES))
  instruction.setUint16(0, RETURN_CONSTANT, true)
  instruction.setUint32(4, index, true)
  const program = new DataView(new ArrayBuffer(PROGRAM_BYTES))
  program.setUint16(0, 1, true)
  program.setBigUint64(PROGRAM_POINTER_AT, BigInt(ptr(instruction)), true)
  setOption(socket, SO_ATTACH_REUSEPORT_CBPF, program)
}

/** Sets nothing where the system does not offer the option. */
const setOption = (socket: number, option: number, value: DataView): void => {
  for (const library of C_LIBRARIES) {
    try {
      const { symbols, close } = dlopen(library, {
        setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
      })
      symbols.setsockopt(socket, SOL_SOCKET, option, ptr(value), value.byteLength)
      close()
      return
    } catch {
      // Not the library of this system.
    }
  }
}
