/** Files that the program carries as text: migrations, seeds, its own package.json. */
declare module '*.sql' {
  const text: string
  export default text
}
declare module '*.json' {
  const text: string
  export default text
}
declare module '*/check-worker.js' {
  const text: string
  export default text
}
/** Files that the program carries as they are: the path of each. */
declare module 'swagger-ui-dist/*' {
  const path: string
  export default path
}
