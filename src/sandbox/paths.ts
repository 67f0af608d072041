/** Where the control API is (contract C15). */
const CONTROL_PATH = '/_sandbox'
/** Supervisors ask these, and get the truth. */
const PROBES = new Set(['/livez', '/readyz'])

export const isControl = (path: string): boolean => path.startsWith(CONTROL_PATH)

export const isProbe = (path: string): boolean => PROBES.has(path)

/** Whether faults leave a path alone. */
export const isExempt = (path: string): boolean => isControl(path) || isProbe(path)

/** Whether a request is about the sandbox itself, the front page included; such requests belong to no client. */
export const isAboutSandbox = (path: string): boolean => isControl(path) || path === '/'
