declare module '*.sql' {
  const text: string
  export default text
}
declare module '*.json' {
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
declare module '*/statement-worker.js' {
  const text: string
  export default text
}
declare module '*.py' {
  const text: string
  export default text
}
declare module '*.java' {
  const text: string
  export default text
}
declare module '*.sh' {
  const text: string
  export default text
}
declare module '*.webp' {
  const text: string
  export default text
}
declare module '*.css' {
  const text: string
  export default text
}
declare module '*.conf' {
  const text: string
  export default text
}
declare module '*.cfg' {
  const text: string
  export default text
}
declare module '*.vcl' {
  const text: string
  export default text
}
declare module '*.caddyfile' {
  const text: string
  export default text
}
