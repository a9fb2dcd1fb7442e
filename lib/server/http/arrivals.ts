// Requests that arrive together. One read from a connection can hold a thousand, and one turn of the event loop reads from every
// connection: the first requests of a turn begin at once, and the others some at a time, with a turn for everybody else between.

/** Even those that are refused cost some tenth of a millisecond each. */
const MOST_AT_ONCE = 64;

const waiting: (() => void)[] = [];
let begun = 0;

/** Calls `begin` in this turn of the event loop or a later one, in order of arrival. */
export function onArrival(begin: () => void): void {
  if (begun === 0) setImmediate(nextTurn);
  if (begun++ < MOST_AT_ONCE) begin();
  else waiting.push(begin);
}

function nextTurn(): void {
  const now = waiting.splice(0, MOST_AT_ONCE);
  begun = now.length;
  if (begun > 0) setImmediate(nextTurn);
  for (const begin of now) begin();
}
