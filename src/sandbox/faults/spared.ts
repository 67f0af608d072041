const PROBES = new Set(['/livez', '/readyz'])

/** Whether a path is asked by supervisors, who are told the truth. */
export const isProbe = (path: string): boolean => PROBES.has(path)

/** Paths that no fault strikes: those of the control surface and of supervisors. */
export const isSpared = (path: string): boolean => path.startsWith('/_sandbox') || isProbe(path)
