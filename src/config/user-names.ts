import { CString, dlopen, type Pointer, read } from 'bun:ffi'
import { C_LIBRARIES } from '../http/listening-sockets.ts'

const LIBRARIES = [...C_LIBRARIES, 'libSystem.B.dylib']

/** As the user database of the system says: the runtime returns `$USER`. A container may run as a user without a name. */
export const nameOfUser = (userId: number): string => {
  for (const library of LIBRARIES) {
    try {
      const { getpwuid } = dlopen(library, { getpwuid: { args: ['u32'], returns: 'ptr' } }).symbols
      const entry = getpwuid(userId)
      // The first member of struct passwd points at the name.
      return entry === null ? String(userId) : String(new CString(read.ptr(entry) as Pointer))
    } catch {
      // Not the library of this system.
    }
  }
  return String(userId)
}
