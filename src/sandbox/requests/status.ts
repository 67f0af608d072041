/** 4xx stands for all statuses from 400 to 499. */
export const hasStatus = (status: number, pattern: string): boolean =>
  pattern.endsWith('xx') ? Math.floor(status / 100) === Number(pattern[0]) : status === Number(pattern)
