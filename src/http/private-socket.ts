import type { Server } from 'bun'

const OTHERS = 0o077

/** A response may stay open until one of the two processes ends. The runtime's types have this for ports only. */
const NEVER_IDLE: object = { idleTimeout: 0 }

interface Responding {
  fetch: (request: Request, server: Server<undefined>) => Response | Promise<Response>
  error?: (error: Error) => Response
}

/** Listens at a socket in the file system that only the user of this process can reach. @throws an error of the file system */
export const listenPrivately = (path: string, responding: Responding): Server<undefined> => {
  const umask = process.umask(OTHERS)
  try {
    return Bun.serve({
      unix: path,
      ...NEVER_IDLE,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      ...responding,
    })
  } finally {
    process.umask(umask)
  }
}
