import COLOURS from '../../http/colours.css' with { type: 'text' }
import BASE from './page/styles/base.css' with { type: 'text' }
import CARDS from './page/styles/cards.css' with { type: 'text' }
import DIALOGS from './page/styles/dialogs.css' with { type: 'text' }
import FRAME from './page/styles/frame.css' with { type: 'text' }
import NARROW from './page/styles/narrow.css' with { type: 'text' }
import RECORDS from './page/styles/records.css' with { type: 'text' }
import REQUEST from './page/styles/request.css' with { type: 'text' }
import REQUESTS from './page/styles/requests.css' with { type: 'text' }

/** The styles of the page. Those of narrow windows come last, as they change the others. */
export const STYLE = [COLOURS, BASE, FRAME, REQUESTS, REQUEST, CARDS, RECORDS, DIALOGS, NARROW].join('')
