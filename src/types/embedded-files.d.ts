declare module '*.sql' {
  const text: string
  export default text
}
declare module '*.json' {
  const text: string
  export default text
}
declare module '*.txt' {
  const text: string
  export default text
}
declare module '*.md' {
  const text: string
  export default text
}
declare module '*.service' {
  const text: string
  export default text
}
declare module '*.yml' {
  const text: string
  export default text
}
declare module '*.yaml' {
  const text: string
  export default text
}
declare module '*/statement-worker.js' {
  const text: string
  export default text
}
declare module '*.sh' {
  const text: string
  export default text
}
declare module '*/assets/reference.js' {
  const path: string
  export default path
}
declare module '*/assets/reference.css' {
  const path: string
  export default path
}
declare module '*.css' {
  const text: string
  export default text
}
