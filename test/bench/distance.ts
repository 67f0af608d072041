import { Network } from '../postgres.ts'

/** A network between a server and PostgreSQL, in a process of its own: `distance.ts PORT DELAY_MS`, to and fro each. */

const [target, delayMs] = process.argv.slice(2).map(Number)
const network = await Network.to(target ?? 0)
network.delayMs = delayMs ?? 0
console.log(network.port)
