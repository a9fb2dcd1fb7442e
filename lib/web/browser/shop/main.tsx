// The page of an order, and the merchant's list of orders. The server has written them whole; this keeps the page of an order up to date,
// counts down, shows times in the reader's zone and adds buttons that copy.

import './shop.css';
import { render } from 'preact';
import { CopyButton } from '../parts/copy-button';
import { countDown } from './countdown';
import { keepUpToDate } from './live';

const SECOND_MS = 1_000;

/** In the reader's zone and language, to the minute. */
const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Adds what only scripts can, to a part that the server has written. */
function enrich(part: ParentNode): void {
  for (const time of part.querySelectorAll<HTMLTimeElement>('time[data-local]')) {
    time.textContent = TIMES.format(Date.parse(time.dateTime));
  }
  for (const place of part.querySelectorAll<HTMLElement>('[data-copy]')) {
    render(<CopyButton text={place.dataset['copy'] ?? ''} what={place.dataset['what'] ?? ''} />, place);
  }
  countDown(part);
}

if (document.querySelector('[data-part]') !== null) keepUpToDate(enrich);
enrich(document);
setInterval(() => {
  countDown(document);
}, SECOND_MS);
