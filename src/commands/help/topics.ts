import errors from './topics/errors.txt' with { type: 'text' }
import live from './topics/live.txt' with { type: 'text' }
import money from './topics/money.txt' with { type: 'text' }
import testValues from './topics/test-values.txt' with { type: 'text' }
import worlds from './topics/worlds.txt' with { type: 'text' }

/** What `scrip help TOPIC` prints. */
export const TOPICS: Readonly<Record<string, string>> = { worlds, 'test-values': testValues, money, live, errors }
